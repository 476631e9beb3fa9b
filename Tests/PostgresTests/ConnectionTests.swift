import Base
import Glibc
import Testing
import TestServers

@testable import Postgres

@Suite(
    "Connections to PostgreSQL",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct ConnectionTests {
    private func connection(
        _ server: PostgresServer, _ address: String? = nil, _ cancellation: Cancellation? = nil
    ) throws -> PostgresConnection {
        try PostgresConnection.open(
            PostgresAddress(address ?? server.address(), of: "WAREHOUSE_URL"), cancellation ?? Cancellation())
    }

    private func failure(_ body: () throws -> Void) throws -> PostgresError {
        do { try body() } catch let error as PostgresError { return error }
        throw NothingFailed()
    }

    private struct NothingFailed: Error {}

    @Test("rows come with their cells as text") func rows() throws {
        let rows = try connection(PostgresServer.shared.get()).execute("SELECT 1, 'ä', NULL, ''", within: 10)
        #expect(rows == [["1", "ä", nil, ""]])
    }

    @Test("a refused statement says why, with its SQLSTATE and place, and the connection goes on") func refused() throws
    {
        let connection = try connection(PostgresServer.shared.get())
        let error = try failure { try connection.execute("SELECT nothing", within: 10) }
        #expect(error.sqlState == "42703")
        #expect(error.scalarOffset == 7)
        #expect(error.message == "column \"nothing\" does not exist")
        #expect(!error.isConnectionLost)
        #expect(try connection.execute("SELECT 2", within: 10) == [["2"]])
    }

    @Test(
        "of a secret in place of a host, a user or a database libpq's words keep four characters at either end, and names stay"
    )
    func pastedSecrets() throws {
        let secret = "correcthorsebatterystaple", server = try PostgresServer.shared.get()
        for address in [server.address(database: secret), server.address(user: secret)] {
            let message = try failure { _ = try connection(server, address) }.message
            #expect(message.contains("corr…aple") && !message.contains(secret), "\(message)")
        }
        #expect(PostgresConnection.shown("S3cretHunter2S3cret") == "S3cr…cret")
        for name in [
            "db", "localhost", "db.example.com", "volley-postgres-primary", "/var/run/postgresql",
            "volley_production_copy",
        ] {
            #expect(PostgresConnection.shown(name) == name)
        }
    }

    @Test("a statement is described without being run, and a second one is refused") func described() throws {
        let connection = try connection(PostgresServer.shared.get())
        let description = try connection.describe("SELECT 1 / 0 AS n, $1::text AS t", within: 10)
        #expect(
            description
                == PostgresDescription(
                    parameters: 1, columns: [.init(name: "n", type: 23), .init(name: "t", type: 25)]))
        #expect(try failure { _ = try connection.describe("SELECT 1; SELECT 2", within: 10) }.sqlState == "42601")
    }

    @Test("rows are copied one by one") func copied() throws {
        var rows: [String] = []
        try connection(PostgresServer.shared.get()).copy(
            "COPY (VALUES (1, 'a'), (2, NULL)) TO STDOUT WITH (FORMAT csv)", within: 10
        ) {
            rows.append(String(decoding: $0, as: UTF8.self))
        }
        #expect(rows == ["1,a\n", "2,\n"])
    }

    @Test("while no row comes, the caller is told about once a second") func idle() throws {
        var idle = 0
        try connection(PostgresServer.shared.get()).copy(
            "COPY (SELECT pg_sleep(3.2)) TO STDOUT", within: 30, idle: { idle += 1 }
        ) { _ in }
        #expect((2...20).contains(idle))
    }

    @Test("a cancellation ends a statement at once, and the server stops working on it") func cancelled() throws {
        let (server, cancellation) = (try PostgresServer.shared.get(), try Cancellation())
        let connection = try connection(server, server.address() + " application_name=cancelled", cancellation)
        let clock = ContinuousClock(), start = clock.now
        try detachThread {
            _ = cancellation.waitForRequest(atMost: 0.5)
            cancellation.request()
        }
        #expect(throws: CancellationError.self) { try connection.execute("SELECT pg_sleep(60)", within: 60) }
        #expect(clock.now - start < .seconds(20))
        let busy = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'cancelled' AND state = 'active'"
        #expect(try server.sql(busy) == "0")
    }

    @Test("an answer that is late ends the wait") func late() throws {
        let connection = try connection(PostgresServer.shared.get())
        #expect(try failure { try connection.execute("SELECT pg_sleep(60)", within: 0.3) }.cause == .late)
    }

    @Test("a server that is killed, or frozen, never hangs the caller") func gone() throws {
        let server = try PostgresServer()
        let first = try connection(server)
        let clock = ContinuousClock(), start = clock.now
        server.freeze(true)
        #expect(try failure { try first.execute("SELECT 1", within: 0.5) }.cause == .late)
        let cannot = try failure { _ = try connection(server, server.address() + " connect_timeout=2") }
        #expect(cannot.cause == .unreachable)
        #expect(cannot.message == "the server does not answer")
        server.freeze(false)
        #expect(clock.now - start < .seconds(40))

        let second = try connection(server)
        try detachThread { server.stop() }
        let broken = try failure { try second.execute("SELECT pg_sleep(60)", within: 50) }
        #expect(broken.isConnectionLost)
        let away = try failure { _ = try connection(server) }
        #expect(away.cause == .unreachable)
        #expect(!"\(away)".contains(PostgresServer.password))
    }

    @Test("by TLS the server's name and authority are verified") func verified() throws {
        let server = try PostgresServer.shared.get()
        let good = try connection(server, server.tlsAddress())
        #expect(good.isEncrypted)
        #expect(good.role == "volley")
        for address in [server.tlsAddress(authority: server.otherAuthority), server.tlsAddress(host: "db.example.com")]
        {
            let error = try failure { _ = try connection(server, address) }
            #expect(error.cause == .unreachable)
            #expect(error.message.contains("certificate"))
            #expect(!"\(error)".contains(PostgresServer.password))
        }
    }

    @Test("a wrong password is refused without showing it") func wrongPassword() throws {
        let server = try PostgresServer.shared.get()
        let address = server.tlsAddress().split(separator: "correct%20horse").joined(separator: "hushhush")
        let error = try failure { _ = try connection(server, address) }
        #expect(error.cause == .unreachable)
        #expect(error.message.contains("password authentication failed"))
        #expect(!"\(error)".contains("hushhush"))
        #expect(error.remedy?.contains("password") == true)
    }
}
