public import Base
import GRDB

extension RunStore {
    /// Recipients with ids in `range`, in order; ids beyond the audience are left out.
    /// - Throws: `Diagnostic` when one is missing or is no recipient: the file is damaged.
    public func recipients(_ range: Range<Int>) throws -> [Recipient] {
        let range = range.clamped(to: 0..<plan.audience)
        guard !range.isEmpty else { return [] }
        return try read { db in
            var recipients: [Recipient] = []
            recipients.reserveCapacity(range.count)
            let rows = try recipientCursor(db, range)
            while let (id, recipient) = try rows.next() {
                guard id == range.lowerBound + recipients.count else { break }
                recipients.append(recipient)
            }
            guard recipients.count == range.count else { throw missingRecipient(range.lowerBound + recipients.count) }
            return recipients
        }
    }

    /// Calls `body` for every recipient in id order, in constant memory; nil where no outcome is recorded, with whether it was claimed.
    ///
    /// What `body` sees is the file at one moment, whatever a sender records meanwhile. `body` must not use this store.
    public func forEachResult(_ body: (_ id: Int, _ recipient: Recipient, _ outcome: Settlement?, _ isClaimed: Bool) throws -> Void) throws
    {
        try read { db in
            var claims = try claims(db)[...]
            let outcomes = try outcomeCursor(db)
            var outcome = try outcomes.next()
            let rows = try recipientCursor(db, 0..<plan.audience)
            var expected = 0
            while let (id, recipient) = try rows.next() {
                guard id == expected else { throw missingRecipient(expected) }
                expected += 1
                while let claim = claims.first, claim.upperBound <= id { claims.removeFirst() }
                let isClaimed = claims.first?.contains(id) ?? false
                guard outcome?.recipient ?? id >= id else { throw RunDiagnostics.damaged(path, "an outcome has no recipient") }
                if outcome?.recipient == id {
                    try body(id, recipient, outcome, isClaimed)
                    outcome = try outcomes.next()
                } else {
                    try body(id, recipient, nil, isClaimed)
                }
            }
            guard expected == plan.audience else { throw missingRecipient(expected) }
        }
    }

    private func recipientCursor(_ db: Database, _ range: Range<Int>) throws -> StatementCursor<(Int, Recipient)> {
        try StatementCursor(db, sql: RunSchema.selectRecipients, arguments: [range.lowerBound, range.upperBound]) { [path] statement in
            let id = Int(Int64(sqliteStatement: statement, index: 0))
            let token = String(sqliteStatement: statement, index: 1)
            guard Self.isToken(token) else { throw RunDiagnostics.damaged(path, "recipient \(id) has no device token") }
            guard let fields = FieldsCell.decode(String(sqliteStatement: statement, index: 5)) else {
                throw RunDiagnostics.damaged(path, "the fields of recipient \(id) cannot be read")
            }
            let recipient = Recipient(
                token: DeviceToken(normalized: token), registrationID: String(sqliteStatement: statement, index: 2),
                alias: String(sqliteStatement: statement, index: 3), language: String(sqliteStatement: statement, index: 4), fields: fields)
            return (id, recipient)
        }
    }

    func outcomeCursor(_ db: Database) throws -> StatementCursor<Settlement> {
        try StatementCursor(db, sql: RunSchema.selectOutcomes) { [path] statement in
            func number(_ index: CInt) -> Int { Int(Int64(sqliteStatement: statement, index: index)) }
            guard let outcome = Outcome(rawValue: number(1)) else {
                throw RunDiagnostics.damaged(path, "the outcome of recipient \(number(0)) cannot be read")
            }
            let invalidSince = Int64(sqliteStatement: statement, index: 7)
            return Settlement(
                recipient: number(0), outcome: outcome, status: number(2), reason: String(sqliteStatement: statement, index: 3),
                attempts: number(4), latencyMilliseconds: number(5), settledAt: Timestamp(epochMilliseconds: Int64(number(6))),
                invalidSince: invalidSince == .min ? nil : Timestamp(epochMilliseconds: invalidSince))
        }
    }

    /// The file may have been damaged or edited, and what is no hex must not get into a request's path.
    private static func isToken(_ text: String) -> Bool {
        guard DeviceToken.digitRange.contains(text.utf8.count) else { return false }
        var text = text
        return text.withUTF8 { bytes in
            for byte in bytes {
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): continue
                default: return false
                }
            }
            return true
        }
    }

    private func missingRecipient(_ id: Int) -> Diagnostic {
        RunDiagnostics.damaged(path, "recipient \(id) of \(plan.audience) is missing")
    }
}
