import Base
import Glibc
import Postgres
import TestServers
import Testing

@testable import Cluster

@Suite(
    "The tables of a store", .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct StoreSetupTests {
    /// A connection of a role that has a schema of its name.
    private func connection(_ role: String, _ more: String = "") throws -> PostgresConnection {
        let server = try PostgresServer.shared.get()
        try server.sql("CREATE ROLE \(role) LOGIN; CREATE SCHEMA \(role) AUTHORIZATION \(role)")
        return try again(role, more)
    }

    private func again(_ role: String, _ more: String = "") throws -> PostgresConnection {
        let address = try PostgresServer.shared.get().address(user: role) + more
        return try PostgresConnection.open(PostgresAddress(address, of: "STORE"), Cancellation())
    }

    private func message(_ body: () throws -> Void) -> String {
        do { try body() } catch { return "\(error)" }
        return ""
    }

    @Test("the tables are made once, all of those that are checked, and belong to the role") func made() throws {
        let connection = try connection("setup_made")
        #expect(try StoreSchema.version(of: connection) == 0)
        #expect(try StoreSchema.migrate(connection) == StoreMigration(before: 0, now: StoreSchema.version))
        #expect(
            try StoreSchema.migrate(connection) == StoreMigration(before: StoreSchema.version, now: StoreSchema.version)
        )
        try StoreSchema.check(connection)
        let rows = try connection.execute(
            "SELECT tablename FROM pg_tables WHERE tableowner = 'setup_made' ORDER BY 1", within: 10)
        #expect(rows.map(\.[0]) == (StoreSchema.tables + ["volley_store"]).sorted())
    }

    @Test("tables of an older version are upgraded step by step, and keep what is in them") func upgraded() throws {
        let connection = try connection("setup_upgraded")
        #expect(StoreSchema.steps.count == StoreSchema.version)
        _ = try StoreSchema.migrate(connection, by: [StoreSchema.steps[0]])
        #expect(message { try StoreSchema.check(connection) }.contains("are of version 1, and this Volley needs"))
        #expect(try StoreSchema.migrate(connection) == StoreMigration(before: 1, now: StoreSchema.version))
        let newer =
            StoreSchema.steps + [["ALTER TABLE volley_store ADD note text"], ["UPDATE volley_store SET note = 'kept'"]]
        let now = newer.count
        #expect(try StoreSchema.migrate(connection, by: newer) == StoreMigration(before: StoreSchema.version, now: now))
        #expect(try connection.execute("SELECT version, note FROM volley_store", within: 10) == [["\(now)", "kept"]])
        #expect(try StoreSchema.migrate(connection, by: newer) == StoreMigration(before: now, now: now))
    }

    @Test("a default of REPEATABLE READ or of reading only does not get in the way") func defaults() throws {
        let connection = try connection(
            "setup_defaults",
            " options='-c default_transaction_isolation=serializable -c default_transaction_read_only=on'")
        #expect(try StoreSchema.migrate(connection).before == 0)
        #expect(try StoreCheck(connection).facts.onlyReads)
    }

    @Test("a migration that fails in the middle leaves nothing behind") func half() throws {
        let connection = try connection("setup_half")
        // A table of the name of the last one.
        try connection.execute("CREATE TABLE volley_journal (n int)", within: 10)
        #expect(message { _ = try StoreSchema.migrate(connection) }.contains("already exists"))
        #expect(try StoreSchema.version(of: connection) == 0)
        let rows = try connection.execute("SELECT tablename FROM pg_tables WHERE tableowner = 'setup_half'", within: 10)
        #expect(rows == [["volley_journal"]])
    }

    @Test("a store without tables, or with older or newer ones, is not worked with, and what to do is said")
    func versions() throws {
        let connection = try connection("setup_versions")
        #expect(
            message { try StoreSchema.check(connection) }
                == "the store has no tables yet. Run `volley store migrate` once, on one machine."
        )
        _ = try StoreSchema.migrate(connection)
        try connection.execute("UPDATE volley_store SET version = \(StoreSchema.version + 1)", within: 10)
        #expect(message { try StoreSchema.check(connection) }.contains("this Volley is too old for the store"))
        #expect(message { _ = try StoreSchema.migrate(connection) }.contains("this Volley is too old for the store"))
        #expect(try StoreCheck(connection).version == StoreSchema.version + 1)
    }

    @Test("a migration waits for another one") func waits() throws {
        let first = try connection("setup_waits")
        try first.execute("BEGIN; SELECT pg_advisory_xact_lock(\(StoreSchema.lockNumber))", within: 10)
        let done = try Wakeup()
        try detachThread {
            let before = try? StoreSchema.migrate(again("setup_waits", " application_name=setup_waits")).before
            #expect(before == 0)
            done.wake()
        }
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'setup_waits' AND wait_event = 'advisory'"
        let end = ContinuousClock.now + .seconds(20)
        while try PostgresServer.shared.get().sql(waiting) != "1", ContinuousClock.now < end { usleep(20_000) }
        #expect(try PostgresServer.shared.get().sql(waiting) == "1")
        try first.execute("COMMIT", within: 10)
        done.wait(atMost: 20)
        #expect(try StoreSchema.version(of: first) == StoreSchema.version)
    }
}
