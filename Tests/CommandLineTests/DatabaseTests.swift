import Base
import Foundation
import TestCommands
import TestServers
import Testing

@Suite(
    "Devices from a database", .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct DatabaseTests {
    private static let query =
        "select device_token, registration_id, alias, tags, language, last_active, first_name from plain.devices"

    /// The devices of `ProjectFolder.export`, made once for all tests.
    private static let server = Result {
        let server = try PostgresServer.shared.get()
        try server.sql(
            """
            CREATE SCHEMA plain; GRANT USAGE ON SCHEMA plain TO volley;
            CREATE TABLE plain.devices AS
            SELECT 'aa' || lpad(to_hex(n), 62, '0') AS device_token, 'reg' || n AS registration_id, 'user' || n / 2 AS alias,
                CASE WHEN n % 2 = 0 THEN 'news' ELSE 'sports' END AS tags, 'en' AS language, DATE '2026-11-01' AS last_active,
                CASE WHEN n % 3 = 0 THEN '' ELSE 'Ada' END AS first_name
            FROM generate_series(0, 19) AS n;
            GRANT SELECT ON plain.devices TO volley;
            CREATE TABLE plain.hidden (device_token text);
            CREATE FUNCTION plain.writes() RETURNS text LANGUAGE sql AS $$INSERT INTO plain.devices VALUES ('x') RETURNING 'x'$$;
            GRANT INSERT, UPDATE ON plain.devices TO volley;
            """)
        return server
    }

    /// A project whose app has a query.
    private func folder(_ query: String = query, database: String = "{url_env: WAREHOUSE_URL}") throws -> ProjectFolder
    {
        let folder = try ProjectFolder()
        try folder.write(
            "volley.yaml",
            """
            runs: runs
            databases:
              warehouse: \(database)
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                devices:
                  database: warehouse
                  query: |
                    \(query.replacing("\n", with: "\n        "))

            """)
        try folder.writeCampaign(
            audience: "everyone: true", content: "title: \"Hello {{ first_name | default: 'you' }}\"")
        return folder
    }

    private func volley(_ folder: ProjectFolder, _ arguments: String..., address: String? = nil) throws
        -> VolleyBinary.Result
    {
        let address = try address ?? Self.server.get().address()
        return try VolleyBinary.run(arguments, in: folder.url, environment: ["WAREHOUSE_URL": address])
    }

    private func leftovers(_ folder: ProjectFolder) -> [String] { folder.files(in: "runs/.queries") }

    @Test("a query gives the same plan as the equal export") func samePlan() throws {
        let folder = try folder()
        let asked = try volley(folder, "preview", "campaign.yaml", "--json")
        #expect(asked.status == 0, "\(asked.errors)")
        let preview = try asked.json()
        #expect(preview.int("audience") == 20)
        #expect(leftovers(folder).isEmpty)

        try folder.writeProject(app: "environment: simulator\ndevices: devices.csv")
        let read = try volley(folder, "preview", "campaign.yaml", "--json").json()
        #expect(preview["plan_hash"]?.stringValue != nil)
        #expect(preview["plan_hash"] == read["plan_hash"])
        #expect(preview["samples"] == read["samples"])
    }

    @Test("devices of a query are planned, sent to and explained") func sent() throws {
        let folder = try folder()
        let sent = try volley(folder, "send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try sent.json()["outcomes"]?.int("accepted") == 20)
        let why = try volley(folder, "preview", "campaign.yaml", "--why", "reg3")
        #expect(why.status == 0, "\(why.errors)")
        #expect(why.output.contains("rows of warehouse:5"))
        #expect(leftovers(folder).isEmpty)
    }

    @Test("check has the query parsed, with its columns, and executes nothing") func check() throws {
        let slow = try folder("select device_token, pg_sleep(60)::text as first_name from plain.devices")
        let fine = try volley(slow, "check", "campaign.yaml")
        #expect(fine.status == 0, "\(fine.errors)")
        let lacking = try volley(folder("select alias, first_name from plain.devices"), "check", "campaign.yaml")
        #expect(lacking.status == 2)
        #expect(lacking.errors.contains("volley.yaml:10:14: the query to warehouse: "))
        #expect(lacking.errors.contains("device_token"))
        let unnamed = try volley(folder("select device_token from plain.devices"), "check", "campaign.yaml")
        #expect(
            unnamed.errors.contains("campaign.yaml:6:20: the query to warehouse has no column 'first_name'"),
            "\(unnamed.errors)")
        #expect(leftovers(slow).isEmpty)
    }

    @Test(
        "what is wrong with a query is said at its place, with a remedy",
        arguments: [
            (
                "select device_tokn from plain.devices",
                "volley.yaml:11:16: the database 'warehouse' refuses the query: column"
            ),
            (
                "select device_token\nfrom plain.device",
                "volley.yaml:12:14: the database 'warehouse' refuses the query: relation"
            ),
            ("select device_token from plain.hidden", "permission denied for table hidden. Let the role read it"),
            (
                "select 1 as device_token; select 2",
                "cannot insert multiple commands into a prepared statement. Write one SELECT"
            ),
            ("select 1) as devices) to stdout --", "refuses the query: syntax error"),
            ("select device_token, first_name from plain.devices where alias = $1", "asks for a value ($1)"),
            ("select device_token, device_token, first_name from plain.devices", "two columns named 'device_token'"),
            ("select device_token, first_name, 1 from plain.devices", "column 3 of the query has no name"),
            (
                "insert into plain.devices values ('x') returning device_token, first_name",
                "must be a SELECT that only reads"
            ),
            (
                "with x as (insert into plain.devices values ('x') returning *) select device_token, first_name from x",
                "must be a SELECT that only reads"
            ),
            ("show all", "must be a SELECT that only reads"),
        ])
    func mistakes(query: String, message: String) throws {
        for command in ["check", "preview"] {
            let folder = try folder(query)
            let result = try volley(folder, command, "campaign.yaml")
            #expect(result.status == 2)
            #expect(result.errors.contains(message), "\(result.errors)")
            #expect(leftovers(folder).isEmpty)
        }
    }

    @Test(
        "a query that would write, or finds nothing, ends without a plan",
        arguments: [
            (
                "select plain.writes() as device_token, '' as first_name",
                "cannot execute INSERT in a read-only transaction. The query may only"
            ),
            (
                "select device_token, first_name from plain.devices for update",
                "in a read-only transaction. The query may only"
            ),
            (
                "select device_token, first_name from plain.devices where false",
                "found no rows in the database 'warehouse'"
            ),
            (
                "select device_token, (1 / (length(alias) - 5))::text as first_name from plain.devices",
                "division by zero"
            ),
        ])
    func ends(query: String, message: String) throws {
        let folder = try folder(query)
        let result = try volley(folder, "plan", "campaign.yaml")
        #expect(result.status == 2)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(folder.files(in: "runs").filter { $0.contains(".sqlite") }.isEmpty)
        #expect(try Self.server.get().sql("SELECT count(*) FROM plain.devices") == "20")
    }

    @Test("a query that takes longer than its time is ended by the server") func slow() throws {
        let folder = try folder(
            "select device_token, pg_sleep(30)::text as first_name from plain.devices",
            database: "{url_env: WAREHOUSE_URL, timeout: 1s}")
        let result = try volley(folder, "preview", "campaign.yaml")
        #expect(result.status == 2)
        #expect(result.errors.contains("canceling statement due to statement timeout"), "\(result.errors)")
        #expect(result.errors.contains("allow more with 'timeout'"))
    }

    @Test("Ctrl-C ends the query at once, also on the server, and leaves no file") func interrupted() throws {
        let folder = try folder("select device_token, pg_sleep(60)::text as first_name from plain.devices")
        let server = try Self.server.get()
        let running = try VolleyBinary.start(
            ["plan", "campaign.yaml"], in: folder.url,
            environment: ["WAREHOUSE_URL": server.address() + " application_name=interrupted"])
        let active =
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'interrupted' AND query LIKE 'COPY%'"
        try waitUntil { try server.sql(active + " AND state = 'active'") == "1" }
        #expect(!leftovers(folder).isEmpty)
        running.interrupt()
        let result = running.finish(timeout: 30)
        #expect(result.status == 130, "\(result.errors)")
        try waitUntil { try server.sql(active) == "0" }
        #expect(leftovers(folder).isEmpty)
        #expect(folder.files(in: "runs").filter { $0.contains(".sqlite.partial") }.isEmpty)
    }

    @Test("what a killed process left is removed by the next one, and what another one uses is not") func killed()
        throws
    {
        let folder = try folder("select device_token, pg_sleep(2)::text as first_name from plain.devices limit 1")
        let address = try Self.server.get().address()
        let killed = try VolleyBinary.start(
            ["preview", "campaign.yaml"], in: folder.url, environment: ["WAREHOUSE_URL": address])
        try waitUntil { !leftovers(folder).isEmpty }
        kill(killed.processID, SIGKILL)
        _ = killed.finish()
        let left = leftovers(folder)
        #expect(left.count == 1)

        let first = try VolleyBinary.start(
            ["preview", "campaign.yaml"], in: folder.url, environment: ["WAREHOUSE_URL": address])
        try waitUntil { leftovers(folder).contains { !left.contains($0) } }
        #expect(!leftovers(folder).contains(left[0]))
        let second = try volley(folder, "preview", "campaign.yaml")
        #expect(second.status == 0, "\(second.errors)")
        let other = first.finish()
        #expect(other.status == 0, "\(other.errors)")
        #expect(leftovers(folder).isEmpty)
    }

    @Test("a server that ends in the middle leaves no plan and no file") func broken() throws {
        let server = try PostgresServer()
        let folder = try folder(
            "select lpad(to_hex(n), 64, 'a') as device_token, pg_sleep(0.05)::text as first_name from generate_series(1, 9999) n"
        )
        let running = try VolleyBinary.start(
            ["plan", "campaign.yaml"], in: folder.url, environment: ["WAREHOUSE_URL": server.address()])
        try waitUntil {
            try server.sql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%' AND state = 'active'") == "1"
        }
        server.stop()
        let result = running.finish(timeout: 30)
        #expect(result.status == 2)
        #expect(
            result.errors.contains("volley.yaml:10:14: the database 'warehouse' gave no answer: "), "\(result.errors)")
        #expect(leftovers(folder).isEmpty)
        #expect(folder.files(in: "runs").filter { $0.contains(".sqlite") }.isEmpty)
    }

    @Test("volley schedule tries again when the database is away, and sends when it is back") func scheduled() throws {
        let folder = try folder()
        let formatter = DateFormatter()
        (formatter.locale, formatter.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(identifier: "UTC"))
        formatter.dateFormat = "yyyy-MM-dd HH:mm"
        let time = formatter.string(from: Date(timeIntervalSinceNow: -120))
        try folder.write(
            "campaign.yaml",
            """
            name: test
            app: shop
            audience: {everyone: true}
            content: {title: Hello}
            schedule: {at: \(time), timezone: UTC}

            """)
        func schedule(_ address: String, until isSo: (RunningVolley) throws -> Bool) throws {
            let running = try VolleyBinary.start(
                ["schedule", "."], in: folder.url, environment: ["WAREHOUSE_URL": address])
            defer { _ = running.finish(timeout: 0) }
            try waitUntil { try isSo(running) }
            kill(running.processID, SIGTERM)
            #expect(running.finish().status == 130)
        }
        try schedule("host=/nowhere") {
            $0.errorsSoFar.contains("cannot be planned") && $0.errorsSoFar.contains("cannot be reached")
        }
        try schedule(Self.server.get().address()) { _ in
            let report = try folder.volley("report", "last", "--format", "json")
            return report.status == 0 ? try report.json()["outcomes"]?.int("accepted") == 20 : false
        }
        #expect(leftovers(folder).isEmpty)
    }

    @Test("a campaign brings a query of its own, which counts instead of the app's devices") func own() throws {
        let folder = try folder("select nothing")
        try folder.writeCampaign(
            audience:
                "everyone: true\ndevices:\n  database: warehouse\n  query: select device_token from plain.devices where alias = 'user1'",
            content: "title: Hello")
        #expect(try volley(folder, "preview", "campaign.yaml", "--json").json().int("audience") == 2)
        try folder.writeCampaign(
            audience: "everyone: true\ndevices: {database: warehose, query: select 1}", content: "title: Hello")
        let unknown = try volley(folder, "check", "campaign.yaml")
        #expect(unknown.status == 2)
        #expect(unknown.errors.contains("campaign.yaml:5:23: there is no database 'warehose' in "), "\(unknown.errors)")
        #expect(unknown.errors.contains("Did you mean 'warehouse'?"))
    }

    @Test("a superuser is refused") func superuser() throws {
        let result = try volley(
            folder(), "preview", "campaign.yaml", address: Self.server.get().address(user: "postgres"))
        #expect(result.status == 2)
        #expect(
            result.errors.contains("volley.yaml:3:24: WAREHOUSE_URL leads to the database 'warehouse' as a superuser"),
            "\(result.errors)")
        #expect(result.errors.contains("Make a role that may only read"))
    }

    @Test("without an address, or with one that leads nowhere, the place and the remedy are said, and no secret")
    func away() throws {
        let server = try Self.server.get()
        let wrong = server.tlsAddress().replacing("correct%20horse", with: "hushhush")
        for (address, message) in [
            (
                "",
                "the environment variable WAREHOUSE_URL, which should hold the address of the database 'warehouse', is not set"
            ),
            ("host=/nowhere", "the database 'warehouse' cannot be reached: "),
            (wrong, "Check user, password and database"),
            ("postgresql://volley:hush@hush@db.example.com/shop", "does not hold the address"),
            ("postgresql://volley:hush@db.example.com/shop?sslmode=require", "does not verify the server"),
        ] {
            for command in ["check", "preview", "doctor"] {
                let arguments = command == "doctor" ? [command, "shop"] : [command, "campaign.yaml"]
                let folder = try folder()
                let result = try VolleyBinary.run(arguments, in: folder.url, environment: ["WAREHOUSE_URL": address])
                #expect(result.status == 2, "\(command) \(message)")
                let said = result.output + result.errors
                #expect(said.contains("volley.yaml:3:24") && said.contains(message), "\(said)")
                #expect(!said.contains("hush"))
            }
        }
    }

    @Test("by TLS a campaign is planned, and nothing that was written holds the password") func secret() throws {
        let folder = try folder()
        let address = try Self.server.get().tlsAddress()
        let result = try volley(folder, "plan", "campaign.yaml", "--verbose", address: address)
        #expect(result.status == 0, "\(result.errors)")
        let run = try #require(folder.files(in: "runs").first { $0.hasSuffix(".sqlite") })
        let file = String(
            decoding: try Data(contentsOf: folder.url.appendingPathComponent("runs/\(run)")), as: UTF8.self)
        for text in [result.output, result.errors, file] {
            #expect(!text.contains("correct"))
            #expect(!text.contains(address))
        }
    }

    @Test("doctor says what the database is and who Volley is there") func doctor() throws {
        let result = try volley(folder(), "doctor")
        #expect(result.output.contains("warehouse: a database\n  ok       database  PostgreSQL "), "\(result.output)")
        #expect(result.output.contains(", as volley, "))
        let json = try volley(folder(), "doctor", "--json").json()
        guard case .array(let databases)? = json["databases"] else { throw CommandFailure(what: "no databases") }
        #expect(databases.first?["database"]?.stringValue == "warehouse")
        #expect(databases.first?["ok"] == .bool(true))
    }

    /// Waits until a condition holds, for at most half a minute.
    private func waitUntil(_ isSo: () throws -> Bool) throws {
        let end = Date().addingTimeInterval(30)
        while try !isSo() {
            guard Date() < end else { throw CommandFailure(what: "it did not come about") }
            usleep(20_000)
        }
    }
}
