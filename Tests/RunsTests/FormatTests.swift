import Base
import Foundation
import GRDB
import PushServices
import Synchronization
import Testing

@testable import Runs

/// Files of every format that a Volley ever wrote, made with the tables of that time
/// (Tests/Fixtures/Formats).
@Suite("files of all formats")
struct FormatTests {
    /// Makes a database of a fixture.
    private func make(_ fixture: String, at path: String) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../Fixtures/Formats/\(fixture).sql")
        let database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { try $0.execute(sql: String(contentsOf: file, encoding: .utf8)) }
        try database.close()
    }

    private func change(_ path: String, _ sql: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { try $0.execute(sql: sql) }
        try database.close()
    }

    private func number(_ path: String, _ sql: String) throws -> Int? {
        let database = try DatabaseQueue(path: path)
        defer { try? database.close() }
        return try database.read { try Int.fetchOne($0, sql: sql) }
    }

    @Test(
        "a run of each format is read with every outcome, and converted where it is older",
        arguments: ["1", "2", "3-early", "3", "4", "5"])
    func run(fixture: String) throws {
        let folder = try TemporaryFolder(), format = try #require(Int(fixture.prefix(1)))
        let path = "\(folder.path)/20261201-090000-spring-sale-000\(format).sqlite"
        try make("run-\(fixture)", at: path)
        let run = try RunFile(path: path)
        #expect(run.plan.id == "20261201-090000-spring-sale-000\(format)" && run.plan.audience == 6)
        var found: [Settlement?] = []
        try run.forEachResult { _, _, outcome, _ in found.append(outcome) }
        #expect(found.map { $0?.outcome } == [.accepted, .invalidToken, .accepted, .failed, nil, nil])
        #expect(
            found[1]?.invalidSince == Timestamp(epochMilliseconds: 1_796_029_200_000)
                && found[3]?.reason == "ServiceUnavailable")
        let figures = try run.figures()
        #expect(figures.outcomes[.accepted] == 2 && figures.outcomes[.unknown] == 1 && figures.outcomes[.unsent] == 1)
        let cause: StopCause = format < 5 ? .described("APNs refused the push with BadTopic (400).") : .interrupted
        #expect(try run.status().state == .stopped && run.status().cause == cause)
        run.close()
        #expect(try number(path, "PRAGMA user_version") == 5)
        #expect(folder.names == ["20261201-090000-spring-sale-000\(format).sqlite"])
    }

    @Test("a run of several services is read with the services that its pushes went through, and keeps its format")
    func severalServices() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/20261201-090000-spring-sale-0006.sqlite"
        try make("run-6", at: path)
        let run = try RunFile(path: path)
        #expect(
            run.plan.services.map(\.name) == ["apns", "fcm"] && run.plan.serviceSegments.map(\.ids.count) == [3, 3])
        #expect(try run.status().state == .finished && run.figures().outcomes[.accepted] == 6)
        run.close()
        #expect(try number(path, "PRAGMA user_version") == 6)
    }

    @Test("a schedule of each format is read as it is, and converted where it is written to", arguments: 1...3)
    func schedule(format: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/schedule.sqlite"
        try make("schedule-\(format)", at: path)
        let start = Timestamp(epochSeconds: 0)
        func expect(_ runs: [ScheduledRun]) {
            #expect(
                runs.map(\.state) == [.finished, .skipped, .waiting] && runs.map(\.problem) == [nil, .unapproved, nil])
        }
        let read = try ScheduleStore.read(folder: folder.path, since: start)
        expect(read.scheduledRuns)
        #expect(read.campaigns.map(\.name) == ["spring-sale"] && read.approvals.count == (format == 3 ? 1 : 0))
        #expect(try number(path, "PRAGMA user_version") == format)
        let store = try ScheduleStore(folder: folder.path)
        expect(try store.scheduledRuns(since: start))
        store.close()
        #expect(try number(path, "PRAGMA user_version") == 3)
    }

    @Test("orders of each format are read as they are, and converted where they are written to", arguments: 1...2)
    func orders(format: Int) throws {
        let folder = try TemporaryFolder()
        try make("orders-\(format)", at: folder.path + "/orders.sqlite")
        let read = try OrderRecords(folder: folder.path).read()
        #expect(
            read.orders.map(\.order.nonce) == ["second", "first"]
                && read.orders.map(\.state.name) == ["waiting", "done"])
        let store = try OrderStore(folder: folder.path)
        #expect(try store.unended().orders == Array(read.orders.prefix(1)))
        store.close()
        #expect(try number(folder.path + "/orders.sqlite", "PRAGMA user_version") == 2)
    }

    @Test("a suppression list of each format is read, and keeps its format", arguments: 1...2)
    func suppression(format: Int) throws {
        let folder = try TemporaryFolder()
        try make("suppressed-\(format)", at: folder.path + "/suppressed-shop.sqlite")
        let list = SuppressionList(
            app: "shop", service: PushServices.standard, environment: "sandbox", folder: folder.path)
        #expect(try list.count() == 3)
        #expect(try number(folder.path + "/suppressed-shop.sqlite", "PRAGMA user_version") == format)
    }

    @Test("a record of what was sent without the tables that came later knows its run")
    func history() throws {
        let folder = try TemporaryFolder()
        try make("sent-1", at: folder.path + "/sent.db")
        let entry = try SendingHistory(folder: folder.path).entry(of: "20261201-090000-spring-sale-0005")
        #expect(entry?.epoch == "1-abc" && entry?.claimed == 5 && entry?.reached == 4 && entry?.scope == nil)
    }

    @Test(
        "a file of a newer format is refused with a sentence, whether it is to be read or written to, and stays as it is, to the byte",
        arguments: ["run-5", "schedule-3", "orders-2", "suppressed-2", "sent-1"])
    func newer(fixture: String) throws {
        let folder = try TemporaryFolder()
        let names = [
            "run": "r.sqlite", "schedule": "schedule.sqlite", "orders": "orders.sqlite",
            "suppressed": "suppressed-shop.sqlite",
            "sent": "sent.db",
        ]
        let kind = String(fixture.prefix { $0 != "-" })
        let path = "\(folder.path)/\(try #require(names[kind]))"
        try make(fixture, at: path)
        try change(path, "PRAGMA user_version = 99")
        func content() throws -> [String] {
            let database = try DatabaseQueue(path: path)
            defer { try? database.close() }
            return try database.read { db in
                let tables = try String.fetchAll(
                    db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
                return try ["\(Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0)"]
                    + tables.flatMap { try Row.fetchAll(db, sql: "SELECT * FROM \"\($0)\"").map(\.description) }
            }
        }
        let before = try content(), bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let found = diagnostic {
            switch kind {
            case "run": _ = try RunFile(path: path)
            case "schedule": _ = try ScheduleStore(folder: folder.path)
            case "orders": _ = try OrderStore(folder: folder.path)
            case "suppressed":
                _ = try SuppressionList(
                    app: "shop", service: PushServices.standard, environment: "sandbox", folder: folder.path
                ).count()
            default: _ = try SendingHistory(folder: folder.path).entry(of: "x")
            }
        }
        if kind == "sent" {
            #expect(diagnostic { try SendingHistory(folder: folder.path).write { _ in } } == found)
        }
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: path)) == bytes
                && folder.names == [path.split(separator: "/").last.map(String.init)])
        #expect(
            found?.message.contains("newer Volley (format 99; this one reads") == true, "\(String(describing: found))")
        #expect(found?.file == path && found?.remedy?.hasPrefix("Use the newer Volley") == true)
        #expect(try content() == before && before.count > 1)
    }

    @Test(
        "a conversion that was killed in the middle leaves the run as it was, and the next command converts it",
        .enabled(if: hasSQLiteTool)
    )
    func killed() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/r.sqlite"
        try make("run-3", at: path)
        try change(
            path,
            """
            WITH RECURSIVE n (x) AS (VALUES (6) UNION ALL SELECT x + 1 FROM n WHERE x < 30000)
            INSERT INTO recipient SELECT x, printf('%064x', x), 'reg' || x, 'user' || x, 'en', '', '["A"]' FROM n;
            INSERT INTO outcome SELECT id, 0, 200, '', 1, 30, 1796115600000, NULL FROM recipient WHERE id >= 6;
            UPDATE run SET audience = 30001; UPDATE claim SET last_id = 30000;
            """)
        // What `RunUpgrade` does first, in a process that dies before its transaction ends: SQLite
        // writes pages early when its cache is small.
        let change = """
            PRAGMA cache_size = 1; BEGIN IMMEDIATE; DROP VIEW IF EXISTS result; ALTER TABLE outcome RENAME TO older_outcome; DROP TABLE outcome_name;
            CREATE TABLE outcome_block (number INTEGER PRIMARY KEY, slots BLOB NOT NULL);
            INSERT INTO outcome_block SELECT recipient_id, randomblob(4000) FROM older_outcome LIMIT 2000;
            """.replacing("\n", with: " ")
        _ = shell("printf '%s\\n.shell kill -9 $PPID\\n' '\(change)' | sqlite3 '\(path)'")
        #expect(access(path + "-journal", F_OK) == 0)
        let told = Mutex<[RunConversion]>([])
        let run = try RunFile(path: path, observer: Observer { event in told.withLock { $0.append(event) } })
        #expect(try run.figures().outcomes[.accepted] == 29_997)
        let shares = told.withLock { $0 }
        #expect(
            shares.map(\.done) == [20_000, 30_001] && shares.map(\.isOver) == [false, true]
                && shares.allSatisfy { $0.place == path })
        run.close()
        #expect(query(path, "PRAGMA integrity_check; PRAGMA user_version") == "ok\n5")
        #expect(folder.names == ["r.sqlite"])
    }
}
