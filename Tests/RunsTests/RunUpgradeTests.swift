import Base
import Glibc
@testable import Runs
import Testing

/// Files as an older Volley wrote them, made from new ones with SQL.
@Suite(.enabled(if: hasSQLiteTool, "needs the sqlite3 tool")) struct RunUpgradeTests {
    private static let gone = Timestamp(epochMilliseconds: 1_700_000_000_123)
    private static let settlements = [
        settled(0), settled(2, .unsent, status: 0, reason: "Stopped", attempts: 2, latency: 0),
        Settlement(
            recipient: 251, outcome: .invalidToken, status: 410, reason: "Unregistered", attempts: 3,
            latencyMilliseconds: 77,
            settledAt: noon.adding(seconds: 0.123), invalidSince: gone),
        settled(599, .failed, status: 503, reason: "ServiceUnavailable", attempts: 9, latency: 123_456),
    ]

    /// A run as format 3 stored it: a row for each outcome.
    private func makeOlder(_ folder: TemporaryFolder, format: Int) throws -> String {
        let run = try makeRun(folder, audience: 600)
        try run.append(.claimed(0..<600, at: noon))
        try run.append(.settled([Self.settlements]))
        try run.closeIntoOneFile()
        var sql = """
            CREATE TABLE kept AS SELECT * FROM outcome; DROP VIEW result; DROP VIEW outcome; DROP TABLE outcome_block; DROP TABLE reason;
            DROP TABLE invalid_since;
            CREATE TABLE outcome (recipient_id INTEGER PRIMARY KEY, outcome INTEGER NOT NULL, status INTEGER NOT NULL, reason TEXT NOT NULL,
                attempts INTEGER NOT NULL, latency_ms INTEGER NOT NULL, settled_at INTEGER NOT NULL, invalid_since INTEGER);
            INSERT INTO outcome SELECT recipient_id, outcome, status, reason, attempts, latency_ms, settled_at, invalid_since FROM kept;
            DROP TABLE kept; CREATE VIEW result AS SELECT * FROM outcome; PRAGMA user_version = \(format);
            """
        if format < 3 {
            sql += "DROP TABLE approval; ALTER TABLE recipient DROP COLUMN variant;"
            for column in ["preview_text", "is_test", "recipients_digest", "digest"] {
                sql += "ALTER TABLE run DROP COLUMN \(column);"
            }
        }
        sql += "ALTER TABLE run RENAME COLUMN stop_cause TO reason;"
        if format < 2 { sql += "ALTER TABLE run DROP COLUMN retry_of;" }
        #expect(query(run.path, sql).isEmpty)
        return run.path
    }

    @Test("runs of all older formats are read, and sent from, with every outcome as it was", arguments: 1...3)
    func upgrade(format: Int) throws {
        let folder = try TemporaryFolder()
        let path = try makeOlder(folder, format: format)
        let run = try RunFile(path: path, readOnly: format == 3)
        #expect(folder.names == ["run.sqlite"])
        #expect(query(path, "PRAGMA user_version") == "5")
        #expect(query(path, "PRAGMA integrity_check") == "ok")
        var found: [Settlement] = []
        try run.forEachResult { _, _, outcome, _ in if let outcome { found.append(outcome) } }
        #expect(found == Self.settlements)
        #expect(try run.recipients(0..<600) == (0..<600).map { recipient($0) })
        #expect(run.hasDigest == (format == 3))
        try run.checkUnchanged()
        #expect(try run.approval() == nil)
        let sender = try RunFile(path: path)
        #expect(try sender.append(.reopened(Array(0..<600), resendsUnknown: true, at: .now())).attempts == [2: 2])
        var open: [Int] = []
        try sender.forEachPush(
            in: 0..<600, PushSelection(unsettled: OpenOutcomes(resendsUnknown: true), withTraits: true)
        ) { push in
            #expect(push.variant.isEmpty && push.language.elementsEqual("en".utf8))
            open.append(push.id)
        }
        #expect(open == (0..<600).filter { ![0, 251, 599].contains($0) })
        try sender.append(.settled([[settled(1), settled(2)]]))
        #expect(try sender.figures().outcomes[.accepted] == 3)
    }

    @Test(
        "why a run of an older format stopped stays as it was said",
        arguments: [
            ("", nil), ("interrupted", .interrupted), ("cancelled", .cancelled),
            ("APNs refused the push with BadTopic (400).", .described("APNs refused the push with BadTopic (400).")),
        ] as [(String, StopCause?)])
    func stopCause(reason: String, cause: StopCause?) throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 6)
        try run.append(.state(.running, at: noon))
        try run.append(.state(.stopped, at: noon))
        try run.closeIntoOneFile()
        _ = query(
            run.path,
            "ALTER TABLE run RENAME COLUMN stop_cause TO reason; UPDATE run SET reason = '\(reason)'; PRAGMA user_version = 4"
        )
        #expect(try RunFile(path: run.path).status().cause == cause)
        #expect(query(run.path, "PRAGMA user_version") == "5")
        #expect(query(run.path, "PRAGMA integrity_check") == "ok")
    }

    @Test("a file that was never sent from has nothing to convert but its format")
    func unsent() throws {
        let folder = try TemporaryFolder()
        let path = try makeOlder(folder, format: 2)
        _ = query(path, "DELETE FROM outcome; DELETE FROM claim")
        let figures = try RunFile(path: path).figures()
        #expect(figures.outcomes[.unsent] == 600)
    }

    @Test("an outcome that cannot be read leaves the file as it was")
    func damaged() throws {
        let folder = try TemporaryFolder()
        let path = try makeOlder(folder, format: 3)
        _ = query(path, "UPDATE outcome SET outcome = 77 WHERE recipient_id = 251")
        let before = readBytes(path)
        #expect(
            diagnostic { _ = try RunFile(path: path) }?.message
                == "the run file is damaged: the outcome of recipient 251 cannot be read")
        #expect(readBytes(path) == before)
        #expect(folder.names == ["run.sqlite"])
    }

    @Test(
        "a file that may not be written is left alone, with what to do",
        .enabled(if: !isRoot, "root may write everything"))
    func readOnlyFile() throws {
        let folder = try TemporaryFolder()
        let path = try makeOlder(folder, format: 3)
        chmod(path, 0o400)
        #expect(diagnostic { _ = try RunFile(path: path) }?.remedy?.contains("Copy it to a folder") == true)
    }

    @Test("a run that another process sends is not touched")
    func beingSent() throws {
        let folder = try TemporaryFolder()
        let path = try makeOlder(folder, format: 3)
        let lock = try SendingLock(run: path)
        #expect(diagnostic { _ = try RunFile(path: path) }?.message == "another volley process is sending this run")
        #expect(query(path, "PRAGMA user_version") == "3")
        _ = consume lock
    }
}
