import Base
import Glibc
import PushServices
@testable import Runs
import Testing

@Suite struct DamagedRunTests {
    @Test("what is no run is told apart: missing, a folder, text, empty, another database")
    func noRun() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/x.sqlite"
        #expect(diagnostic { _ = try RunFile(path: path) }?.message == "there is no such run file")
        #expect(diagnostic { _ = try RunFile(path: folder.path) }?.message == "this is a folder, not a run file")
        writeBytes(Array(String(repeating: "device_token,alias\n", count: 200).utf8), path)
        #expect(diagnostic { _ = try RunFile(path: path) }?.message == "this is not a run file")
        writeBytes([], path)
        #expect(diagnostic { _ = try RunFile(path: path) }?.message == "this is not a run file")
        #expect(folder.names == ["x.sqlite"])
        guard hasSQLiteTool else { return }
        unlink(path)
        _ = query(path, "CREATE TABLE run (id TEXT)")
        #expect(diagnostic { _ = try RunFile(path: path) }?.message == "this is not a run file")
    }

    @Test(
        "a change in whose middle a process was killed is taken back, and the run can be read",
        .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"))
    func interruptedChange() throws {
        let folder = try TemporaryFolder()
        let path = try makeRun(folder, audience: 2000).path
        let change = "PRAGMA cache_size = 1; BEGIN; UPDATE recipient SET alias = alias || hex(randomblob(50));"
        // The shell below kills sqlite3, its parent.
        _ = shell("printf '%s\\n.shell kill -9 $PPID\\n' '\(change)' | sqlite3 '\(path)'")
        #expect(folder.names == ["run.sqlite", "run.sqlite-journal"])
        #expect(try RunsFolder(folder.path).file(named: "last") == path)
        #expect(folder.names == ["run.sqlite"])
        #expect(try RunFile(path: path, readOnly: true).recipients(0..<2000) == (0..<2000).map { recipient($0) })
    }

    @Test("a file of a newer Volley is refused, with both formats named")
    func newer() throws {
        let folder = try TemporaryFolder()
        let path = try makeRun(folder, audience: 1).path
        var bytes = readBytes(path)
        // user_version: bytes 60 to 63 of the header (SQLite, "Database File Format", 1.3).
        #expect(bytes[60...63] == [0, 0, 0, 5])
        bytes[63] = 9
        writeBytes(bytes, path)
        #expect(
            diagnostic { _ = try RunFile(path: path) }?.message
                == "the run file was written by a newer Volley (format 9; this one reads 6)")
    }

    @Test("a damaged run is an obstacle until another file is in its place; whole ones and copies are none")
    func obstacle() throws {
        let folder = try TemporaryFolder(), path = try makeRun(folder, audience: 500).path,
            runs = RunsFolder(folder.path)
        _ = shell("cp '\(path)' '\(folder.path)/copy.sqlite'")
        let bytes = readBytes(path)
        var known = KnownObstacles()
        #expect(runs.obstacles(&known).isEmpty)
        writeBytes(Array(bytes.prefix(bytes.count / 2)), path + ".new")
        #expect(rename(path + ".new", path) == 0)
        for _ in 0..<2 {
            let found = runs.obstacles(&known)
            #expect(
                found.count == 1 && found[0].file == path && found[0].message.hasPrefix("the run file is damaged"),
                "\(found)")
        }
        writeBytes(bytes, path + ".new")
        #expect(rename(path + ".new", path) == 0)
        #expect(runs.obstacles(&known).isEmpty)
        writeBytes(Array("This is a letter, and no run at all.".utf8), path + ".new")
        #expect(rename(path + ".new", path) == 0)
        #expect(runs.obstacles(&known).map(\.message) == ["this is not a run file"])
    }

    @Test(
        "damaged pages are found where all are read: by the search for obstacles, once for each state of a file, and by a copy"
    )
    func pages() throws {
        let folder = try TemporaryFolder(), path = try makeRun(folder, audience: 500).path,
            runs = RunsFolder(folder.path)
        let bytes = readBytes(path), damaged = overwritingPage(of: bytes, with: "user300")
        let never = try Cancellation(), message = "the run file is damaged: its pages or rows do not fit together"
        // In place, as a disk does it, and later than a tick of the file system's clock.
        func rewrite(_ bytes: [UInt8]) {
            usleep(20_000)
            writeBytes(bytes, path)
        }
        var known = KnownObstacles()
        #expect(known.pages.read(runs, atMost: 0, until: never) == ["run"])
        #expect(runs.obstacles(&known).isEmpty)
        // A plan is read when it is sent.
        rewrite(damaged)
        #expect(known.pages.read(runs, endedOnly: true, until: never).isEmpty && runs.obstacles(&known).isEmpty)
        rewrite(bytes)
        #expect(known.pages.read(runs, until: never).isEmpty && runs.obstacles(&known).isEmpty)
        rewrite(damaged)
        #expect(runs.obstacles(&known).isEmpty, "obstacles read no whole file")
        #expect(known.pages.read(runs, until: never).isEmpty)
        for _ in 0..<2 { #expect(runs.obstacles(&known).map(\.message) == [message]) }
        #expect(RunFile.pageDamage(path)?.message == message)
        let copying = diagnostic { try DatabaseCopy.make(of: path, at: folder.path + "/copy") { _, _ in } }
        #expect(
            copying?.message == "the file is damaged: its pages or rows do not fit together" && copying?.file == path)
        rewrite(bytes)
        #expect(known.pages.read(runs, until: never).isEmpty && runs.obstacles(&known).isEmpty)
        try DatabaseCopy.make(of: path, at: folder.path + "/copy") { _, _ in }
    }

    /// A file whose page that holds a text is overwritten.
    private func overwritingPage(of bytes: [UInt8], with text: String) -> [UInt8] {
        // Bytes 16 and 17 of the header are the size of a page.
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        var damaged = bytes
        guard let place = bytes.firstRange(of: Array(text.utf8))?.lowerBound else { return bytes }
        for index in place / size * size..<(place / size + 1) * size {
            damaged[index] = UInt8(truncatingIfNeeded: index * 167 + 14)
        }
        return damaged
    }

    @Test("a truncated file is damaged", arguments: [0.3, 0.6, 0.95, 0.9999])
    func truncated(share: Double) throws {
        let folder = try TemporaryFolder()
        let path = try makeRun(folder, audience: 500).path
        let bytes = readBytes(path)
        writeBytes(Array(bytes.prefix(Int(Double(bytes.count) * share))), path)
        #expect(diagnostic { _ = try RunFile(path: path) }?.message.hasPrefix("the run file is damaged") == true)
    }

    @Test("random bytes anywhere are a diagnostic or harmless, never a crash", arguments: 0..<40)
    func randomBytes(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 200)
        try run.append(.claimed(0..<150, at: noon))
        try run.append(.settled([(0..<120).map { settled($0, .failed, status: 503, reason: "ServiceUnavailable") }]))
        try run.closeIntoOneFile()
        var bytes = readBytes(run.path)
        // Whole pages, short stretches or single bytes.
        let length = [4096, 64, 1][Int(seed) % 3]
        for _ in 0..<(seed % 3 == 0 ? 1 : 30) {
            let start = Int.random(in: 0..<bytes.count, using: &random)
            for index in start..<min(bytes.count, start + length) {
                bytes[index] = .random(in: 0...255, using: &random)
            }
        }
        writeBytes(bytes, run.path)
        do {
            let damaged = try RunFile(path: run.path)
            _ = try damaged.status()
            _ = try damaged.recipients(0..<200)
            _ = try damaged.figures()
            _ = try damaged.claimedWithoutOutcome()
            var tokens = 0
            try damaged.forEachResult { _, recipient, _, _ in
                if APNs().target.target(recipient.token.text) != nil { tokens += 1 }
            }
            #expect(tokens == 200)
        } catch { #expect(error is Diagnostic, "\(error)") }
    }

    @Test(
        "a recipient that is missing or has no token is found, not skipped",
        .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"))
    func missingRecipient() throws {
        let folder = try TemporaryFolder()
        let path = try makeRun(folder, audience: 10).path
        _ = query(path, "DELETE FROM recipient WHERE id = 4")
        let run = try RunFile(path: path)
        #expect(
            diagnostic { _ = try run.recipients(0..<10) }?.message
                == "the run file is damaged: recipient 4 of 10 is missing")
        #expect(
            diagnostic { try run.forEachResult { _, _, _, _ in } }?.message.contains("recipient 4 of 10 is missing")
                == true)
        #expect(try run.recipients(5..<10).count == 5)
        _ = query(path, "UPDATE recipient SET device_token = '/../x' WHERE id = 6")
        #expect(
            diagnostic { _ = try run.recipients(5..<10) }?.message.contains("recipient 6 has no device token") == true)
        _ = query(path, "DELETE FROM recipient WHERE id = 9")
        #expect(diagnostic { _ = try run.recipients(7..<10) }?.message.contains("recipient 9 of 10 is missing") == true)
    }

    @Test("a table that is gone is damage", .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"))
    func missingTable() throws {
        let folder = try TemporaryFolder()
        let path = try makeRun(folder, audience: 10).path
        _ = query(path, "DROP TABLE outcome_block")
        #expect(
            diagnostic { _ = try RunFile(path: path).figures() }?.message.hasPrefix("the run file is damaged") == true)
    }

    @Test(
        "what is no outcome is found wherever outcomes are read", .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"),
        arguments: [
            (
                "UPDATE outcome_block SET slots = x'F0C8' || substr(slots, 3) WHERE number = 0",
                "the outcome of recipient 0 cannot be read"
            ),
            (
                "UPDATE outcome_block SET slots = x'10C8' WHERE number = 1",
                "the outcomes from recipient 250 on cannot be read"
            ),
            (
                "UPDATE outcome_block SET slots = 7 WHERE number = 1",
                "the outcomes from recipient 250 on cannot be read"
            ),
            ("UPDATE outcome_block SET number = 9 WHERE number = 1", "an outcome has no recipient"),
            ("UPDATE outcome_block SET number = -1 WHERE number = 1", "an outcome has no recipient"),
            (
                "UPDATE outcome_block SET slots = substr(slots, 1, 3200) || x'10C8' || substr(slots, 3203) WHERE number = 1",
                "an outcome has no recipient"
            ),
            ("DELETE FROM reason", "a reason is missing"),
        ])
    func outcomes(edit: String, finding: String) throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 450)
        try run.append(.claimed(0..<450, at: noon))
        try run.append(.settled([(0..<450).map { settled($0, .failed, status: 503, reason: "ServiceUnavailable") }]))
        try run.closeIntoOneFile()
        #expect(try RunFile(path: run.path).figures().outcomes[.failed] == 450)
        #expect(query(run.path, edit).isEmpty)
        let damaged = try RunFile(path: run.path)
        #expect(diagnostic { _ = try damaged.figures() }?.message == "the run file is damaged: \(finding)")
        #expect(diagnostic { try damaged.checkIntegrity() }?.message == "the run file is damaged: \(finding)")
    }

    @Test(
        "a size that no run has is damage", .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"),
        arguments: ["9223372036854775807", "-1", "'x'"])
    func impossible(size: String) throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 20)
        run.close()
        #expect(query(run.path, "UPDATE run SET audience = \(size)").isEmpty)
        #expect(
            diagnostic { _ = try RunFile(path: run.path) }?.message.hasPrefix(
                "the run file is damaged: `audience` is not a ") == true)
    }

    @Test("an id that no run has is no crash", .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"))
    func impossibleID() throws {
        let edit = "UPDATE recipient SET id = -9 WHERE id = 9"
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 20)
        try run.append(.claimed(0..<20, at: noon))
        try run.append(.settled([(0..<20).map { settled($0) }]))
        try run.closeIntoOneFile()
        #expect(query(run.path, edit).isEmpty)
        let damaged = try RunFile(path: run.path)
        #expect(try damaged.figures(withGroups: true).outcomes[.accepted] == 20)
        #expect(
            diagnostic { try damaged.checkUnchanged() }?.message.contains("was changed after it was planned") == true)
        #expect(diagnostic { try damaged.checkIntegrity() }?.message.contains("recipients are missing") == true)
    }

    @Test("the body's own error passes through")
    func foreignError() throws {
        struct Mine: Error {}
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        #expect(throws: Mine.self) { try run.forEachResult { _, _, _, _ in throw Mine() } }
    }
}
