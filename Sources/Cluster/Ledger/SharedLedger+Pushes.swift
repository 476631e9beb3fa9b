package import Base
import Postgres
package import Runs
import Synchronization

/// The recipients: read from the store's blocks, a claim's at a time.
extension SharedLedger {
    /// The blocks of recipients, by their numbers; they are at hand for the next reader.
    @discardableResult
    func readBlocks(of ids: Range<Int>) throws -> [Int: [UInt8]] {
        guard !ids.isEmpty else { return [:] }
        let numbers = RecipientBlock.number(of: ids.lowerBound)..<RecipientBlock.number(of: ids.upperBound - 1) + 1
        let known = blocks.known(numbers), missing = numbers.filter { known[$0] == nil }
        guard !missing.isEmpty else { return known }
        var found: [Int: [UInt8]] = [:]
        let storeConnection = claiming.storeConnection
        try StoreError.explaining {
            try storeConnection.retrying(until: { state.withLock { $0.isFenced } }) { connection in
                try connection.run(
                    "SELECT number, data FROM volley_block WHERE run = $1 AND number = ANY ($2::bigint[])",
                    [.int(run), .ints(missing)],
                    isKept: true, within: storeConnection.answerSeconds
                ) { found[$0.int(0)] = Array($0.bytes(1)) }
            }
        }
        if let gone = missing.first(where: { found[$0] == nil }) {
            throw broken("block \(gone) of its recipients is missing")
        }
        blocks.add(found)
        return known.merging(found) { $1 }
    }

    package func forEachPush(in range: Range<Int>, _ selection: PushSelection, _ body: (StoredPush) throws -> Void)
        throws
    {
        if let open = selection.open {
            return try forEachUnsettledPush(in: range, open, withTraits: selection.withTraits, body)
        }
        try forEachPush(among: range.clamped(to: 0..<plan.audience), withTraits: selection.withTraits, body)
    }

    private func forEachUnsettledPush(
        in range: Range<Int>, _ open: OpenOutcomes, withTraits: Bool, _ body: (StoredPush) throws -> Void
    ) throws {
        var again: [Int: RepeatedRecipient] = [:]
        for push in try sentAgain(in: range, open) { again[push.id] = push }
        guard let first = again.keys.min(), let last = again.keys.max() else { return }
        try forEachPush(among: first..<last + 1, wanted: { again[$0] != nil }, withTraits: withTraits) { push in
            guard let known = again[push.id] else { return }
            var push = push
            (push.mayHaveArrived, push.attempts) = (known.mayHaveArrived, known.attempts)
            try body(push)
        }
    }

    /// Recipients of a range that are to be sent to again: those that this worker was given for
    /// that. What others have claimed in between, they have in hand.
    private func sentAgain(in range: Range<Int>, _ open: OpenOutcomes) throws -> [RepeatedRecipient] {
        let own = state.withLock { state in range.compactMap { state.leasedRanges.again[$0] } }
        // Only a process that sends alone, without beats, finds them by itself.
        guard own.isEmpty, !takesPart else { return own }
        try refresh()
        return try replica.unsettledPushes(in: range, open).map {
            RepeatedRecipient(id: $0.id, attempts: $0.attempts, mayHaveArrived: $0.mayHaveArrived)
        }
    }

    /// Whether this process takes part in a run with others: it has beaten.
    var takesPart: Bool { state.withLock { $0.beat > 0 } }

    private func forEachPush(
        among range: Range<Int>, wanted: (Int) -> Bool = { _ in true }, withTraits: Bool,
        _ body: (StoredPush) throws -> Void
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
    private func push(_ id: Int, _ recipient: StoredRecipient, _ cells: EscapedCells, service: Int, withTraits: Bool)
        -> StoredPush
    {
        let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        return StoredPush(
            id: id, token: recipient.token, cells: cells, language: withTraits ? recipient.language : none,
            variant: withTraits ? recipient.variant : none, service: service)
    }

    package func forEachResult(
        _ body: (_ id: Int, _ recipient: Recipient, _ outcome: Settlement?, _ isClaimed: Bool) throws -> Void
    ) throws {
        try refresh()
        if hasRunFile { return try replica.forEachResult(body) }
        let claims = try replica.claims().claimed
        for number in 0..<(plan.audience + RecipientBlock.recipients - 1) / RecipientBlock.recipients {
            let ids = RecipientBlock.ids(of: number, audience: plan.audience)
            let outcomes = try replica.settlements(of: ids)
            guard let block = try readBlocks(of: ids)[number] else {
                throw broken("block \(number) of its recipients is missing")
            }
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
        guard case .array(let cells)? = try? JSONValue(parsing: String(decoding: stored.fields, as: UTF8.self)) else {
            return nil
        }
        self.init(
            token: Target(normalized: String(decoding: stored.token, as: UTF8.self)),
            registrationID: String(decoding: stored.registrationID, as: UTF8.self),
            alias: String(decoding: stored.alias, as: UTF8.self),
            language: String(decoding: stored.language, as: UTF8.self),
            variant: String(decoding: stored.variant, as: UTF8.self),
            fields: cells.compactMap(\.stringValue))
    }
}

/// Outcomes of pushes, and what services said of them.
extension SharedLedger {
    func record(_ parts: [[Settlement]]) throws {
        guard let last = parts.last(where: { !$0.isEmpty })?.last else { return }
        let settlements = parts.count == 1 ? parts[0] : parts.flatMap(\.self)
        if !state.withLock({ $0.own.settleAll(settlements) }) {
            // Of pushes that are not its own, the journal says whether they may be settled.
            try refresh()
            try replica.checkRecordable([settlements])
        }
        try write(.settled([settlements]), at: last.settledAt)
    }

    func note(receipts: [String], ofService service: Int) throws {
        guard !receipts.isEmpty else { return }
        try write(.receipts(receipts, service: service), at: .now())
    }

    func reopen(_ ids: [Int], resendsUnknown: Bool, at now: Timestamp) throws -> [Int: Int] {
        guard !ids.isEmpty else { return [:] }
        var known = state.withLock { state in ids.compactMap { state.leasedRanges.again[$0] } }
        if known.count < ids.count {
            guard !takesPart else { throw broken("recipients were to be sent to again that this member was not given") }
            try refresh()
            let wanted = Set(ids)
            let open = OpenOutcomes(resendsUnknown: resendsUnknown)
            known = try replica.unsettledPushes(in: ids[0]..<ids[ids.count - 1] + 1, open).compactMap {
                wanted.contains($0.id)
                    ? RepeatedRecipient(id: $0.id, attempts: $0.attempts, mayHaveArrived: $0.mayHaveArrived) : nil
            }
        }
        try write(
            JournalEntry(.reopened(ids, resendsUnknown: resendsUnknown, at: now), at: now), through: claiming,
            .isSending)
        state.withLock { state in
            state.own.open(known.map(\.id))
            state.leasedRanges.removeAgain(ids)
        }
        return Dictionary(known.lazy.filter { $0.attempts > 0 }.map { ($0.id, $0.attempts) }) { first, _ in first }
    }

    func `defer`(_ ids: Range<Int>, reason: OwnReason, isTooLate: Bool, at now: Timestamp) throws -> Int {
        if isTooLate {
            try claimForGood(ids, reason: reason, at: now)
            // No worker takes any of the recipients still offered.
            try ask { connection in
                try connection.run(
                    "DELETE FROM volley_returned WHERE run = $1 AND first >= $2 AND last <= $3",
                    [.int(run), .int(ids.lowerBound), .int(ids.upperBound)], within: asking.answerSeconds)
            }
        }
        try write(.deferred(ids, reason, isTooLate: isTooLate, at: now), at: now)
        try refresh()
        return try replica.count(unsent: reason, in: ids)
    }

    /// Claims those of a wave that are not claimed yet, as unsent, so that no other worker does.
    private func claimForGood(_ ids: Range<Int>, reason: OwnReason, at now: Timestamp) throws {
        while true {
            let gaps = try claims().claimed.gaps(in: ids)
            guard let part = gaps.first.map({ $0.prefix(10_000) }) else { return }
            let unsent = part.map { Settlement(recipient: $0, outcome: .unsent, own: reason, settledAt: now) }
            // Another worker may just claim some of them, from a leased range that it had leased
            // before it was too late.
            do { try claim(part, unsent: unsent, at: now) } catch StoreRefusal.claimedAlready { continue }
        }
    }

    package func figures(withGroups: Bool = false) throws -> RunFigures {
        try refresh()
        return try replica.figures(withGroups: withGroups)
    }

    // MARK: - Calls

    func name(_ calls: [NamedCall]) throws {
        let calls = calls.filter { !$0.recipients.isEmpty }
        guard !calls.isEmpty else { return }
        let unclaimed = calls.flatMap(\.recipients).map {
            Settlement(recipient: $0, outcome: .unsent, settledAt: calls[0].namedAt)
        }
        if !state.withLock({ $0.own.contain(unclaimed) }) {
            try refresh()
            let claims = try replica.claims().claimed
            if let unclaimed = unclaimed.first(where: { !claims.contains($0.recipient) }) {
                throw broken("recipient \(unclaimed.recipient) is in a call but was never claimed")
            }
        }
        for start in stride(from: 0, to: calls.count, by: JournalEntry.mostCalls) {
            let part = Array(calls[start..<min(start + JournalEntry.mostCalls, calls.count)])
            try write(JournalEntry(.callsNamed(part), at: calls[0].namedAt), through: claiming, .isSending)
        }
    }

    package func calls(ofService service: Int) throws -> [NamedCall] {
        try refresh()
        return try replica.calls(ofService: service)
    }

    func forgetCalls(_ numbers: [Int]) throws {
        guard !numbers.isEmpty else { return }
        try write(.callsForgotten(numbers), at: .now())
    }
}

/// Frequency caps of a run that several machines send. Only the machine that has the run's file has
/// the record of its other runs: it says which devices get nothing (as of each round, as for a run
/// that it sends alone), and the others leave exactly those out. Until they are told, they send
/// nothing.
///
/// What was said is forgotten with each new epoch, each pause and each end of a pause
/// (`change(to:…)`): other runs may have sent in between.
extension SharedLedger {
    /// Finds recipients that may get no more pushes, and says so to all workers. For the machine
    /// that has the run's file.
    /// - Parameter isCapped: whether a device may get no more, by its target; nil without caps.
    /// - Returns: their ids.
    /// - Throws: `SendingRevoked`: this worker was declared dead, or the run has another epoch.
    ///   `Diagnostic`: the store or the file cannot be used.
    package func shareCapped(_ isCapped: ((_ target: UnsafeBufferPointer<UInt8>) -> Bool)?) throws -> BitSet {
        var capped = BitSet()
        if let isCapped {
            try replica.forEachStoredRecipient(in: 0..<plan.audience) { id, recipient in
                if isCapped(recipient.token) { capped.insert(id) }
            }
        }
        let (me, epoch) = state.withLock { ($0.sender, $0.epoch) }
        guard let me else { throw SendingRevoked(isCancelled: false) }
        let bytes = CappedIDs.bytes(of: capped)
        let count = try ask { connection in
            try connection.run(
                """
                UPDATE volley_run SET capped = $2 WHERE number = $1 AND life = $3
                    AND EXISTS (SELECT 1 FROM volley_sender WHERE number = $4 AND dead_at IS NULL FOR SHARE)
                """, [.int(run), .bytes(bytes), .text(epoch ?? ""), .int(me)], within: asking.answerSeconds)
        }
        guard count == 1 else { throw SendingRevoked(isCancelled: false) }
        return capped
    }

    /// Recipients that may get no more pushes, by their ids; nil while the machine that has the
    /// run's file has not said.
    package func cappedIDs() throws -> BitSet? {
        var bytes: [UInt8]?
        try ask { connection in
            try connection.run(
                "SELECT capped FROM volley_run WHERE number = $1", [.int(run)], within: asking.answerSeconds
            ) {
                bytes = $0.isNull(0) ? nil : Array($0.bytes(0))
            }
        }
        guard let bytes else { return nil }
        guard let ids = CappedIDs.read(bytes, below: plan.audience) else {
            throw broken("the set of those who may get no more pushes cannot be read")
        }
        return ids
    }
}

/// Ids as the store keeps them: of each the distance from the one before, ascending.
enum CappedIDs {
    static func bytes(of ids: BitSet) -> [UInt8] {
        var writer = ByteWriter(), last = 0
        writer.reserve(ids.count)
        ids.forEach { id in
            writer.put(id - last)
            last = id
        }
        return writer.bytes
    }

    /// nil if they cannot be read.
    static func read(_ bytes: [UInt8], below audience: Int) -> BitSet? {
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes), ids = BitSet(), last = 0
            while !reader.isAtEnd {
                let (id, isTooLarge) = last.addingReportingOverflow(reader.number())
                guard reader.isIntact, !isTooLarge, id >= last, id < audience else { return nil }
                ids.insert(id)
                last = id
            }
            return ids
        }
    }
}
