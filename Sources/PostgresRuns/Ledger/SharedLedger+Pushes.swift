package import Base
import Postgres
package import Runs
import Synchronization

/// The recipients: read from the store's blocks, a claim's at a time.
extension SharedLedger {
    /// The blocks of recipients, by their numbers; they are at hand for the next who reads them.
    @discardableResult
    func readBlocks(of ids: Range<Int>) throws -> [Int: [UInt8]] {
        guard !ids.isEmpty else { return [:] }
        let numbers = RecipientBlock.number(of: ids.lowerBound)..<RecipientBlock.number(of: ids.upperBound - 1) + 1
        let known = blocks.known(numbers), missing = numbers.filter { known[$0] == nil }
        guard !missing.isEmpty else { return known }
        var found: [Int: [UInt8]] = [:]
        let lane = claiming.lane
        try StoreError.explaining {
            try lane.patiently(until: { state.withLock { $0.isFenced } }) { connection in
                try connection.run(
                    "SELECT number, data FROM volley_block WHERE run = $1 AND number = ANY ($2::bigint[])", [.int(run), .ints(missing)],
                    isKept: true, within: lane.answerSeconds
                ) { found[$0.int(0)] = Array($0.bytes(1)) }
            }
        }
        if let gone = missing.first(where: { found[$0] == nil }) { throw broken("block \(gone) of its recipients is missing") }
        blocks.add(found)
        return known.merging(found) { $1 }
    }

    package func forEachPush(in range: Range<Int>, _ selection: PushSelection, _ body: (StoredPush) throws -> Void) throws {
        if let open = selection.open { return try forEachUnsettledPush(in: range, open, withTraits: selection.withTraits, body) }
        try forEachPush(among: range.clamped(to: 0..<plan.audience), withTraits: selection.withTraits, body)
    }

    private func forEachUnsettledPush(
        in range: Range<Int>, _ open: OpenOutcomes, withTraits: Bool, _ body: (StoredPush) throws -> Void
    ) throws {
        var again: [Int: SentAgain] = [:]
        for push in try sentAgain(in: range, open) { again[push.id] = push }
        guard let first = again.keys.min(), let last = again.keys.max() else { return }
        try forEachPush(among: first..<last + 1, wanted: { again[$0] != nil }, withTraits: withTraits) { push in
            guard let known = again[push.id] else { return }
            var push = push
            (push.mayHaveArrived, push.attempts) = (known.mayHaveArrived, known.attempts)
            try body(push)
        }
    }

    /// Who of a range is to be sent to again: those that this member was given for that. What others have claimed in between, they have in hand.
    private func sentAgain(in range: Range<Int>, _ open: OpenOutcomes) throws -> [SentAgain] {
        let own = state.withLock { state in range.compactMap { state.stretches.again[$0] } }
        // Only who sends alone, without beats, finds them by itself.
        guard own.isEmpty, !takesPart else { return own }
        try refresh()
        return try replica.unsettledPushes(in: range, open).map {
            SentAgain(id: $0.id, attempts: $0.attempts, mayHaveArrived: $0.mayHaveArrived)
        }
    }

    /// Whether this process takes part in a run with others: it has beaten.
    var takesPart: Bool { state.withLock { $0.beat > 0 } }

    private func forEachPush(
        among range: Range<Int>, wanted: (Int) -> Bool = { _ in true }, withTraits: Bool, _ body: (StoredPush) throws -> Void
    ) throws {
        guard !range.isEmpty else { return }
        var targets = RunTargets(plan), cells = EscapedCells()
        let blocks = try readBlocks(of: range)
        for number in RecipientBlock.number(of: range.lowerBound)...RecipientBlock.number(of: range.upperBound - 1) {
            let ids = RecipientBlock.ids(of: number, audience: plan.audience)
            guard let block = blocks[number] else { throw broken("block \(number) of its recipients is missing") }
            try block.withUnsafeBytes { bytes in
                var reader = RecipientBlockReader(bytes)
                for id in ids {
                    guard range.contains(id), wanted(id) else {
                        reader.skip()
                        continue
                    }
                    try reader.next { recipient in
                        guard targets.contains(recipient.token, of: id), cells.locate(in: recipient.fields) else {
                            throw broken("recipient \(id) cannot be read")
                        }
                        try body(push(id, recipient, cells, service: targets.service, withTraits: withTraits))
                    }
                }
                guard reader.isIntact else { throw broken("block \(number) of its recipients cannot be read") }
            }
        }
    }

    @inline(__always)
    private func push(_ id: Int, _ recipient: StoredRecipient, _ cells: EscapedCells, service: Int, withTraits: Bool) -> StoredPush {
        let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        return StoredPush(
            id: id, token: recipient.token, cells: cells, language: withTraits ? recipient.language : none,
            variant: withTraits ? recipient.variant : none, service: service)
    }

    package func forEachResult(_ body: (_ id: Int, _ recipient: Recipient, _ outcome: Settlement?, _ isClaimed: Bool) throws -> Void) throws
    {
        try refresh()
        if isAtHome { return try replica.forEachResult(body) }
        let claims = try replica.claims().claimed
        for number in 0..<(plan.audience + RecipientBlock.recipients - 1) / RecipientBlock.recipients {
            let ids = RecipientBlock.ids(of: number, audience: plan.audience)
            let outcomes = try replica.settlements(of: ids)
            guard let block = try readBlocks(of: ids)[number] else { throw broken("block \(number) of its recipients is missing") }
            try block.withUnsafeBytes { bytes in
                var reader = RecipientBlockReader(bytes)
                for id in ids {
                    let recipient = reader.next { Recipient(stored: $0) }
                    guard let recipient else { throw broken("recipient \(id) cannot be read") }
                    try body(id, recipient, outcomes[id], claims.contains(id))
                }
            }
        }
    }
}

extension Recipient {
    /// nil if its cells cannot be read.
    fileprivate init?(stored: StoredRecipient) {
        guard case .array(let cells)? = try? JSONValue(parsing: String(decoding: stored.fields, as: UTF8.self)) else { return nil }
        self.init(
            token: Target(normalized: String(decoding: stored.token, as: UTF8.self)),
            registrationID: String(decoding: stored.registrationID, as: UTF8.self), alias: String(decoding: stored.alias, as: UTF8.self),
            language: String(decoding: stored.language, as: UTF8.self), variant: String(decoding: stored.variant, as: UTF8.self),
            fields: cells.compactMap(\.stringValue))
    }
}
