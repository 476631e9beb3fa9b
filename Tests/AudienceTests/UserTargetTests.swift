import Base
import PushServices
import TestSupport
import Testing

@testable import Audience

/// A service that addresses users, together with one that addresses devices. Every scan of these
/// tests checks that the results are the same in memory and on disk, with one thread and with
/// several (`AudienceQuery.run`).
@Suite("Users beside the targets of devices") struct UserTargetTests {
    private let folder = TemporaryFolder()
    private let services: [any PushService] = [APNs(), RongCloud()]

    /// - Parameter rows: device token, user ID, date, alias.
    private func query(_ rows: [String], _ rules: ExportColumns.Rows = .newest, prefer: String = "apns")
        -> AudienceQuery
    {
        var columns = ExportColumns()
        (columns.rows, columns.preference) = (rules, [place(prefer)])
        let text = "token,rongcloud_user_id,last_active,alias\n" + rows.joined(separator: "\n") + "\n"
        return AudienceQuery(folder.file("\(rules)-\(prefer).csv", text), columns: columns).with {
            $0.services = services
            $0.everyone = true
        }
    }

    private func verdict(
        of user: String, _ query: AudienceQuery,
        _ verdict: @escaping @Sendable (Recipient) -> SkipReason? = { _ in nil }
    ) throws -> SkipReason? {
        let trace = try query.trace(TraceSubject(user, services.map(\.target))) {
            { record in RecipientCheck(reason: Recipient(record).flatMap(verdict)) }
        }
        let own = trace.rows.filter { $0.token?.text == user }
        return own.contains { $0.verdict == nil }
            ? nil : own.first { $0.verdict != .duplicateToken }?.verdict ?? .duplicateToken
    }

    @Test(
        "who stands in one row beside a device's target, and alone in another, gets no second push, whichever row is newer",
        arguments: ExportColumns.Rows.allCases)
    func secondRow(rules: ExportColumns.Rows) throws {
        for (pair, alone) in [("2026-11-01", "2026-11-02"), ("2026-11-02", "2026-11-01"), ("", "")] {
            let query = query(["\(token(1)),anna,\(pair),a", ",anna,\(alone),b", ",bert,\(alone),c"], rules)
            let (result, sink) = try query.run()
            #expect(sink.recipients.map(\.token.text) == [token(1), "bert"] && sink.services == [0, 1], "\(pair)")
            #expect(result.skipped == [.duplicateToken: 1] && result.isBalanced, "\(pair): \(result.skipped)")
            #expect(try verdict(of: "anna", query) == .duplicateToken, "\(pair)")
            #expect(try verdict(of: "bert", query) == nil)
        }
    }

    @Test("such users are counted apart from older rows, and a trace names the device's row")
    func counted() throws {
        let query = query([
            "\(token(1)),anna,2026-11-01,a", "\(token(2)),anna,2026-11-01,a", ",anna,2026-11-02,b",
            ",anna,2026-11-01,b",
        ])
        let (result, sink) = try query.run()
        #expect(sink.recipients.map(\.token.text) == [token(1), token(2)], "both phones get it")
        #expect(result.skipped == [.duplicateToken: 2])
        #expect(result.skippedGroups[.duplicateToken]?[AudienceResult.groupOfUsers] == 1)
        let rows = try query.trace(TraceSubject("anna", services.map(\.target))).rows
        let standing = rows.first { $0.token?.text == "anna" && $0.stoodForBy != nil }?.stoodForBy
        #expect(standing.map { $0.service == 0 && [2, 3].contains($0.position.line) } == true)
        // By alias, the row of the device has to be found, too.
        let byAlias = try query.trace(TraceSubject("b", services.map(\.target))).rows
        #expect(byAlias.contains { $0.stoodForBy != nil })
    }

    @Test(
        "who is only in older rows of a device, or beside one that gets nothing, is a recipient",
        arguments: ExportColumns.Rows.allCases)
    func notStoodFor(rules: ExportColumns.Rows) throws {
        let handedOn = query(
            ["\(token(1)),anna,2026-11-01,", "\(token(1)),bert,2026-11-02,", ",anna,2026-11-03,", ",bert,2026-11-03,"],
            rules)
        let (_, sink) = try handedOn.run()
        #expect(sink.recipients.map(\.token.text) == [token(1), "anna"], "the phone is Bert's now")
        let signedOut = query(["\(token(1)),anna,,", "\(token(1)),,,", ",anna,,"], rules)
        #expect(
            try signedOut.run().sink.recipients.map(\.token.text) == [token(1), "anna"],
            "the later of equally new rows counts")
        let left = query(["\(token(1)),anna,2026-11-01,out", ",anna,2026-11-02,"], rules).with {
            $0.excludedAliases = ["out"]
        }
        #expect(try left.run().sink.recipients.map(\.token.text) == ["anna"])
        #expect(try verdict(of: "anna", left) == nil)
    }

    @Test("what keeps a device from its push on purpose keeps its user, too; what fails on the way does not")
    func reasons() throws {
        let query = query(["\(token(1)),anna,2026-11-01,", ",anna,2026-11-02,"])
        for (reason, isLeftOut) in [
            (SkipReason.holdout, true), (.frequency, true), (.renderError, false), (.payloadTooLarge, false),
        ] {
            let verdict: @Sendable (Recipient) -> SkipReason? = { $0.token.text == token(1) ? reason : nil }
            let (result, sink) = try query.run(verdict: verdict)
            #expect(sink.recipients.map(\.token.text) == (isLeftOut ? [] : ["anna"]), "\(reason)")
            #expect(result.isBalanced && result.skipped[reason] == 1)
            #expect(try self.verdict(of: "anna", query, verdict) == (isLeftOut ? .duplicateToken : nil), "\(reason)")
        }
    }

    @Test("who gets nothing takes no place of an alias", arguments: ExportColumns.Rows.allCases)
    func aliasLimit(rules: ExportColumns.Rows) throws {
        let query = query(["\(token(1)),anna,2026-11-01,a", ",anna,2026-11-02,a"], rules).with {
            ($0.everyone, $0.aliases, $0.aliasLimit) = (false, ["a"], 1)
        }
        #expect(try query.run().sink.recipients.map(\.token.text) == [token(1)])
        #expect(try verdict(of: "anna", query) == .duplicateToken)
        #expect(try verdict(of: token(1), query) == nil)
    }

    @Test("where users are preferred, rows decide as with any two targets")
    func preferred() throws {
        let rows = ["\(token(1)),anna,2026-11-01,", "\(token(1)),,2026-11-02,"]
        #expect(try query(rows, prefer: "rongcloud").run().sink.recipients.map(\.token.text) == ["anna", token(1)])
    }

    /// The rules a second time, slow and obvious.
    @Test("of random rows, planning and `--why` say what the rules say", arguments: 0..<40)
    func oracle(seed: Int) throws {
        var random = SeededRandom(UInt64(seed) + 900)
        let rules = ExportColumns.Rows.allCases[seed % 2]
        struct Row {
            var device: String, user: String, day: Int
        }
        let rows = (0..<60).map { _ in
            Row(
                device: Bool.random(using: &random) ? token(Int.random(in: 1...12, using: &random)) : "",
                user: Int.random(in: 0..<4, using: &random) > 0 ? "user\(Int.random(in: 1...12, using: &random))" : "",
                day: Int.random(in: 1...9, using: &random))
        }
        @Sendable func verdict(_ recipient: Recipient) -> SkipReason? {
            ["3": .holdout, "5": .renderError][recipient.token.text.last ?? " "]
        }
        // The newest row of each target, and whether that row uses it.
        var newest: [String: (row: Row, isUsed: Bool)] = [:]
        func note(_ target: String, _ row: Row, isUsed: Bool) {
            if !target.isEmpty, row.day >= newest[target]?.row.day ?? 0 { newest[target] = (row, isUsed) }
        }
        for row in rows {
            note(row.device.isEmpty ? row.user : row.device, row, isUsed: true)
            if rules == .newest, !row.device.isEmpty { note(row.user, row, isUsed: false) }
        }
        func reason(_ target: String) -> SkipReason? { verdict(Recipient(token: Target(normalized: target))) }
        let devices = newest.filter { !$0.key.hasPrefix("user") && $0.value.isUsed }
        let stoodFor = Set(devices.filter { [nil, .holdout].contains(reason($0.key)) }.map(\.value.row.user))
        let expected = newest.filter { target, found in
            found.isUsed && reason(target) == nil && !(target.hasPrefix("user") && stoodFor.contains(target))
        }
        let query = query(rows.map { "\($0.device),\($0.user),2026-10-0\($0.day)," }, rules)
        let (result, sink) = try query.run(verdict: verdict)
        #expect(sink.recipients.map(\.token.text).sorted() == expected.keys.sorted())
        #expect(result.isBalanced)
        for (target, found) in newest where found.isUsed {
            #expect(try (self.verdict(of: target, query, verdict) == nil) == (expected[target] != nil), "\(target)")
        }
    }
}
