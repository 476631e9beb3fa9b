public import Base
import GRDB
import PushServices

/// Reading recipients, pushes and results, in the order of ids. Nothing is allocated for each
/// recipient, except where one is returned.
extension RunFile {
    /// Recipients with ids in `range`, in order; ids beyond the audience are left out.
    /// - Throws: `Diagnostic` when one is missing or invalid: the file is damaged.
    public func recipients(_ range: Range<Int>) throws -> [Recipient] {
        let range = range.clamped(to: 0..<plan.audience)
        guard !range.isEmpty else { return [] }
        try requireRecipients()
        return try read { db in
            var recipients: [Recipient] = []
            recipients.reserveCapacity(range.count)
            try forEachRecipient(db, in: range) { id, recipient in
                guard id == range.lowerBound + recipients.count else { return false }
                recipients.append(recipient)
                return true
            }
            guard recipients.count == range.count else { throw missingRecipient(range.lowerBound + recipients.count) }
            return recipients
        }
    }

    /// Calls `body` with what sending needs of each recipient of a range, in order; ids beyond the
    /// audience are left out. Nothing is allocated per recipient.
    ///
    /// `body` must not use this store.
    /// - Throws: `Diagnostic` when one is missing or invalid: the file is damaged. Whatever `body`
    ///   throws.
    public func forEachPush(
        in range: Range<Int>, _ selection: PushSelection = PushSelection(), _ body: (StoredPush) throws -> Void
    ) throws {
        if let open = selection.open {
            try forEachUnsettledPush(in: range, open, withTraits: selection.withTraits, body)
        } else {
            try forEachPush(in: range, withTraits: selection.withTraits, body)
        }
    }

    private func forEachPush(in range: Range<Int>, withTraits: Bool, _ body: (StoredPush) throws -> Void) throws {
        let range = range.clamped(to: 0..<plan.audience)
        guard !range.isEmpty else { return }
        try requireRecipients()
        try read { db in
            let select = try PreparedStatement(db, sql: RunSchema.selectPushes(traits(withTraits)))
            try select.bind(range.lowerBound, at: 1)
            try select.bind(range.upperBound, at: 2)
            var next = range.lowerBound
            try forEachPush(of: select, withTraits: withTraits) { push in
                guard push.id == next else { return false }
                try body(push)
                next += 1
                return true
            }
            guard next == range.upperBound else { throw missingRecipient(next) }
        }
    }

    /// Calls `body` with what sending needs of each recipient of a range that is not settled.
    func forEachUnsettledPush(
        in range: Range<Int>, _ selected: OpenOutcomes, withTraits: Bool, _ body: (StoredPush) throws -> Void
    ) throws {
        try requireRecipients()
        try read { db in
            let open = try openSlots(db, in: range, selected)
            guard let first = open.first?.id, let last = open.last?.id else { return }
            let select = try PreparedStatement(db, sql: RunSchema.selectPushes(traits(withTraits)))
            try select.bind(first, at: 1)
            try select.bind(last + 1, at: 2)
            var rest = open[...]
            try forEachPush(of: select, withTraits: withTraits) { push in
                if push.id == rest.first?.id {
                    let slot = rest.removeFirst().slot
                    var push = push
                    (push.mayHaveArrived, push.attempts) = (slot?.outcome != .unsent, slot?.attempts ?? 0)
                    try body(push)
                }
                return true
            }
            if let missing = rest.first { throw missingRecipient(missing.id) }
        }
    }

    /// The recipients of a range that are not settled, with what is recorded of them.
    func openSlots(_ db: Database, in range: Range<Int>, _ selected: OpenOutcomes) throws -> [(
        id: Int, slot: OutcomeSlot?
    )] {
        var outcomes = try OutcomeReader(db, self)
        let closed = try OutcomeReasons.numbers(of: selected.closed, db)
        var open: [(id: Int, slot: OutcomeSlot?)] = []
        for id in range.clamped(to: 0..<plan.audience) {
            let slot = try outcomes.slot(of: id)
            if slot.map({ Self.isOpen($0, resendsUnknown: selected.resendsUnknown, closed) }) ?? true {
                open.append((id, slot))
            }
        }
        return open
    }

    func traits(_ areWanted: Bool) -> PushTraits { areWanted ? .languageAndVariant : .none }

    /// Calls `body` with every row of a select of pushes until it returns false.
    func forEachPush(of select: PreparedStatement, withTraits: Bool, _ body: (StoredPush) throws -> Bool) throws {
        var cells = EscapedCells()
        var targets = targets
        let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        try select.forEachRow { row in
            let (id, token, fields) = (row.number(0), row.text(1), row.text(2))
            guard targets.contains(token, of: id) else { throw noToken(id) }
            let service = targets.service
            // Takes the cells as an argument: captured variables would be checked for overlapping
            // access with every push.
            func push(_ cells: EscapedCells) -> StoredPush {
                StoredPush(
                    id: id, token: token, cells: cells, language: withTraits ? row.text(3) : none,
                    variant: withTraits ? row.text(4) : none,
                    service: service)
            }
            if cells.locate(in: fields) { return try body(push(cells)) }
            return try withNormalForm(of: fields, recipient: id) { fields in
                var cells = EscapedCells()
                guard cells.locate(in: fields) else { throw noFields(id) }
                return try body(push(cells))
            }
        }
    }

    /// The file was edited, or another program wrote it: any valid JSON is read, and rewritten the
    /// way Volley does.
    private func withNormalForm(
        of fields: UnsafeBufferPointer<UInt8>, recipient: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Bool
    ) throws -> Bool {
        // Up to a NUL, because every other reader of the file stops there.
        guard let cells = FieldsCell.decode(String(decoding: fields.prefix { $0 != 0 }, as: UTF8.self)) else {
            throw noFields(recipient)
        }
        var buffer: [UInt8] = []
        var text = FieldsCell.encode(cells, buffer: &buffer)
        return try text.withUTF8(body)
    }

    /// Calls `body` for every recipient in id order with its bytes as in the file: nothing is
    /// allocated per recipient.
    ///
    /// What `body` sees is the file at one moment, whatever a sender records in between. `body`
    /// must not use this store.
    /// - Throws: `Diagnostic` when a recipient is missing or invalid: the file is damaged, or its
    ///   recipients were pruned. Whatever `body` throws.
    public func forEachStoredResult(_ body: (StoredResult) throws -> Void) throws {
        try requireRecipients()
        try read { db in
            var claims = try claims(db).ranges[...]
            var outcomes = try OutcomeReader(db, self)
            var expected = 0
            var targets = targets
            try PreparedStatement(db, sql: RunSchema.selectResults).forEachRow { row in
                let id = row.number(0)
                guard id == expected else { throw missingRecipient(expected) }
                expected += 1
                while let claim = claims.first, claim.upperBound <= id { claims.removeFirst() }
                let (slot, token) = (try outcomes.slot(of: id), row.text(1))
                guard targets.contains(token, of: id) else { throw noToken(id) }
                if let slot, slot.outcome == nil { throw unreadableOutcome(of: id) }
                try body(
                    StoredResult(
                        id: id, token: token, registrationID: row.text(2), alias: row.text(3), language: row.text(4),
                        variant: row.text(5),
                        service: targets.service, isClaimed: claims.first?.contains(id) ?? false, slot: slot,
                        reason: try slot.map { try outcomes.reason($0, of: id) } ?? ""))
                return true
            }
            guard expected == plan.audience else { throw missingRecipient(expected) }
        }
    }

    /// Calls `body` for every recipient in id order, in constant memory; passes nil where no
    /// outcome is recorded, and whether it was claimed.
    ///
    /// What `body` sees is the file at one moment, whatever a sender records in between. `body`
    /// must not use this store.
    public func forEachResult(
        _ body: (_ id: Int, _ recipient: Recipient, _ outcome: Settlement?, _ isClaimed: Bool) throws -> Void
    ) throws {
        try requireRecipients()
        try read { db in
            var claims = try claims(db).ranges[...]
            var outcomes = try OutcomeReader(db, self)
            var expected = 0
            try forEachRecipient(db, in: 0..<plan.audience) { id, recipient in
                guard id == expected else { throw missingRecipient(expected) }
                expected += 1
                while let claim = claims.first, claim.upperBound <= id { claims.removeFirst() }
                let isClaimed = claims.first?.contains(id) ?? false
                try body(id, recipient, try outcomes.settlement(of: id), isClaimed)
                return true
            }
            guard expected == plan.audience else { throw missingRecipient(expected) }
        }
    }

    /// Calls `body` with recipients in the order of ids until it returns false.
    private func forEachRecipient(_ db: Database, in range: Range<Int>, _ body: (_ id: Int, Recipient) throws -> Bool)
        throws
    {
        var targets = targets
        let select = try PreparedStatement(db, sql: RunSchema.selectRecipients, [range.lowerBound, range.upperBound])
        try select.forEachRow { row in
            let id = row.number(0)
            guard let token = try? row.string(1), targets.contains(row.text(1), of: id) else { throw noToken(id) }
            // Another program may have written a cell that is not quite UTF-8: sending reads it in
            // the same way.
            let cells = String(decoding: row.text(5).prefix { $0 != 0 }, as: UTF8.self)
            guard let fields = FieldsCell.decode(cells) else { throw noFields(id) }
            let recipient = Recipient(
                token: Target(normalized: token), registrationID: try row.string(2), alias: try row.string(3),
                language: try row.string(4),
                variant: try row.string(6), fields: fields)
            return try body(id, recipient)
        }
    }

    /// What the targets of the run's recipients must be.
    var targets: RunTargets { RunTargets(plan) }

    func noToken(_ id: Int) -> Diagnostic { RunDiagnostics.damaged(path, what: "recipient \(id) has no device token") }

    private func noFields(_ id: Int) -> Diagnostic {
        RunDiagnostics.damaged(path, what: "the fields of recipient \(id) cannot be read")
    }

    func missingRecipient(_ id: Int) -> Diagnostic {
        RunDiagnostics.damaged(path, what: "recipient \(id) of \(plan.audience) is missing")
    }
}

/// Which devices a run has pushed to: the history that frequency caps look at.
extension RunFile {
    /// Whether it may have pushed to a device since a moment, or is about to.
    public func mayHaveReached(since moment: Timestamp) throws -> Bool {
        if sendingSince != nil { return true }
        let status = try status()
        guard status.startedAt != nil, status.state != .paused else { return status.state == .paused }
        // A run that was cut off has no end; its claims do not say when it pushed.
        return status.finishedAt.map { $0 >= moment } ?? true
    }

    /// Calls `body` with the token (lower-case hex digits, lent) of every device that this run
    /// reaches: when it got the push, or may have, whether it is still to be sent to it, as a
    /// process sends the run or will go on with it (paused), and the number of the service that
    /// takes the push.
    /// - Parameter closing: reasons for which unsent recipients get nothing any more.
    /// - Throws: `Diagnostic` when an outcome or a token cannot be read.
    public func forEachReached(
        closing: Set<OwnReason>,
        _ body: (_ token: UnsafeBufferPointer<UInt8>, _ at: Timestamp?, _ isToCome: Bool, _ service: Int) throws -> Void
    ) throws {
        let goesOn = try sendingSince != nil || status().state == .paused
        try read { db in
            var outcomes = try OutcomeReader(db, self)
            let closed = try OutcomeReasons.numbers(of: closing, db)
            let claims = try db.all("SELECT first_id, last_id, claimed_at FROM claim ORDER BY first_id") { row in
                let first = try row.int(0)
                return (ids: first...max(first, try row.int(1)), at: try row.moment(2))
            }
            var rest = claims[...]
            var targets = targets
            try PreparedStatement(db, sql: "SELECT id, device_token FROM recipient ORDER BY id").forEachRow { row in
                let (id, token) = (row.number(0), row.text(1))
                while let ended = rest.first, ended.ids.upperBound < id { rest.removeFirst() }
                // Blank after `volley prune`.
                guard !token.isEmpty else { return true }
                guard targets.contains(token, of: id) else { throw noToken(id) }
                if let slot = try outcomes.slot(of: id) {
                    guard let outcome = slot.outcome else { throw unreadableOutcome(of: id) }
                    if outcome == .accepted || outcome == .unknown {
                        try body(token, slot.settledAt, false, targets.service)
                    }
                    if outcome == .unsent, goesOn, !closed.contains(slot.reason) {
                        try body(token, nil, true, targets.service)
                    }
                } else if let claim = rest.first, claim.ids.contains(id) {
                    // It may have got the push then, whatever happened to the process that claimed
                    // it.
                    try body(token, claim.at, goesOn, targets.service)
                } else if goesOn {
                    try body(token, nil, true, targets.service)
                }
                return true
            }
        }
    }

    /// Calls `body` with the token (lower-case hex digits, lent) of each device that some outcome
    /// is recorded of.
    /// - Parameter isWanted: called for each of them before its token is looked for.
    /// - Throws: `Diagnostic` when an outcome or a token cannot be read. Whatever the closures
    ///   throw.
    public func forEachDevice(
        withOutcome outcome: Outcome, where isWanted: (Settlement) -> Bool,
        _ body: (_ token: UnsafeBufferPointer<UInt8>, _ settlement: Settlement) throws -> Void
    ) throws {
        try requireRecipients()
        try read { db in
            var targets = targets
            let token = try PreparedStatement(db, sql: RunSchema.selectToken)
            var outcomes = try OutcomeReader(db, self)
            try forEachOutcome(db) { id, _, recorded in
                guard recorded == outcome, let settled = try outcomes.settlement(of: id), isWanted(settled) else {
                    return
                }
                try token.bind(id, at: 1)
                var isFound = false
                try token.forEachRow { row in
                    isFound = targets.contains(row.text(0), of: id)
                    if isFound { try body(row.text(0), settled) }
                    return false
                }
                if !isFound { throw noToken(id) }
            }
        }
    }
}

/// What the targets of a run's recipients must be: each in the form that its service accepts.
package struct RunTargets {
    private var services: ServiceCursor
    /// By the numbers of services.
    private let forms: [KeptTargets]
    private var form: KeptTargets

    package init(_ plan: RunPlan) {
        services = ServiceCursor(plan)
        forms = plan.services.map(\.target.kept)
        form = forms[0]
    }

    /// Whether a text may be the target of a recipient.
    @inline(__always) package mutating func contains(_ text: UnsafeBufferPointer<UInt8>, of id: Int) -> Bool {
        if services.move(to: id) { form = forms[services.service] }
        return form.contains(text)
    }

    /// The number of the service of the recipient that was looked up last.
    package var service: Int { services.service }
}
