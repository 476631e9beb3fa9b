import Base
import Testing

@testable import Runs

/// A plan is recognised by its digests.
@Suite struct DigestTests {
    private static let planned = [
        "campaign", "app", "plan_hash", "campaign_file", "campaign_source", "project_file", "preview_text",
        "recipients_digest",
        "seed",
    ]

    @Test(
        "every change to what was planned is noticed", .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"),
        arguments: planned.map { "UPDATE run SET \($0) = replace(\($0), substr(\($0), 1, 1), 'f')" } + [
            "UPDATE run SET planned_at = planned_at + 1", "UPDATE run SET rows = rows + 1",
            "UPDATE run SET is_test = 1",
            "UPDATE run SET skipped = '{}'", "UPDATE run SET settings = '{}'", "UPDATE run SET preview = 'null'",
            "UPDATE run SET retry_of = 'another'", "UPDATE run SET digest = 'f' || substr(digest, 2) || ' '",
            "UPDATE recipient SET device_token = replace(device_token, '0', '1') WHERE id = 7",
            "UPDATE recipient SET registration_id = 'x' WHERE id = 0",
            "UPDATE recipient SET alias = alias || 'x' WHERE id = 49",
            "UPDATE recipient SET language = 'de' WHERE id = 3", "UPDATE recipient SET variant = 'b' WHERE id = 3",
            "UPDATE recipient SET fields = '[1]' WHERE id = 3",
            "UPDATE recipient SET alias = registration_id, registration_id = alias",
            "UPDATE recipient SET id = -id WHERE id = 9",
            "INSERT INTO recipient SELECT id + 50, device_token, registration_id, alias, language, variant, fields FROM recipient WHERE id = 1",
        ])
    func changed(edit: String) throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 50)
        try run.checkUnchanged()
        run.close()
        #expect(query(run.path, edit).isEmpty)
        let again = try RunFile(path: run.path)
        let problem = diagnostic { try again.checkUnchanged() }
        #expect(problem?.message.contains("was changed after it was planned") == true, "\(edit)")
        #expect(problem?.message.contains("recipients are") == edit.contains("recipient "), "\(edit)")
    }

    @Test(
        "two recipients who change places, or whose texts are cut differently, are noticed",
        .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"))
    func swapped() throws {
        for edit in [
            "UPDATE recipient SET id = 100 WHERE id = 1; UPDATE recipient SET id = 1 WHERE id = 2; UPDATE recipient SET id = 2 WHERE id = 100",
            "UPDATE recipient SET registration_id = registration_id || substr(alias, 1, 1), alias = substr(alias, 2)",
        ] {
            let folder = try TemporaryFolder()
            let run = try makeRun(folder, audience: 5)
            run.close()
            #expect(query(run.path, edit).isEmpty)
            let again = try RunFile(path: run.path)
            #expect(diagnostic { try again.checkUnchanged() } != nil, "\(edit)")
        }
    }

    @Test("texts of the same letter and of different lengths are different, in whichever column")
    func lengths() {
        func digest(_ column: Int, _ text: [UInt8]) -> String {
            text.withUnsafeBufferPointer { text in
                let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
                let cells = (0..<6).map { $0 == column ? text : none }
                var digest = RecipientsDigest()
                digest.add(7, (cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]))
                return digest.text
            }
        }
        var seen: Set<String> = []
        for column in 0..<6 {
            for count in 1...70 { seen.insert(digest(column, [UInt8](repeating: UInt8(ascii: "a"), count: count))) }
        }
        #expect(seen.count == 6 * 70)
    }

    @Test("what sending records is no change", .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"))
    func sending() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 50)
        try run.approve(RunApproval(name: "Anna", approvedAt: noon))
        try run.append(.state(.running, at: noon))
        try run.append(.claimed(0..<50, at: noon))
        try run.append(.settled([(0..<50).map { settled($0) }]))
        try run.append(.state(.finished, at: noon))
        try run.checkUnchanged()
        run.close()
        _ = query(run.path, "VACUUM")
        try RunFile(path: run.path).checkUnchanged()
    }

    @Test(
        "an approval is for exactly this plan, and the last one counts",
        .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"))
    func approval() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 2)
        #expect(try run.approval() == nil)
        try run.approve(RunApproval(name: "Anna", approvedAt: noon))
        try run.approve(RunApproval(name: "Björn", approvedAt: noon.adding(seconds: 5)))
        #expect(try run.approval() == RunApproval(name: "Björn", approvedAt: noon.adding(seconds: 5)))
        run.close()
        #expect(query(run.path, "UPDATE run SET digest = 'another'").isEmpty)
        #expect(try RunFile(path: run.path).approval() == nil)
    }

    @Test("only a plan can be approved")
    func tooLate() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 2)
        try run.append(.state(.running, at: noon))
        #expect(
            diagnostic { try run.approve(RunApproval(name: "Anna", approvedAt: noon)) }?.message.contains(
                "the run is running") == true)
        #expect(try run.approval() == nil)
    }
}
