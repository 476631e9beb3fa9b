import Base
import Foundation
import TestCommands
import TestServers
import Testing

@Suite(
    "The store that machines share",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct StoreTests {
    /// A schema that only one role has, for each test its own, on the shared server:
    /// `CREATE SCHEMA name AUTHORIZATION name`.
    private struct Place {
        let server: PostgresServer
        let role: String
        let folder: ProjectFolder

        init(_ role: String, hasSchema: Bool = true, store: String = "{postgres: {url_env: VOLLEY_DATABASE}}") throws {
            (server, self.role, folder) = (try PostgresServer.shared.get(), role, try ProjectFolder())
            try server.sql(
                "CREATE ROLE \(role) LOGIN" + (hasSchema ? "; CREATE SCHEMA \(role) AUTHORIZATION \(role)" : ""))
            let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
            try folder.write("volley.yaml", "store: \(store)\n" + project)
        }

        func volley(_ arguments: String..., address: String? = nil) throws -> VolleyBinary.Result {
            try VolleyBinary.run(
                arguments, in: folder.url, environment: ["VOLLEY_DATABASE": address ?? server.address(user: role)])
        }

        /// The steps of `store check --json`, by name, with their states and words.
        func check() throws -> [String: (state: String, words: String)] {
            let result = try volley("store", "check", "--json")
            guard case .array(let steps)? = try result.json()["steps"] else {
                throw CommandFailure(what: "no steps: \(result.output)")
            }
            #expect(steps.count == 7)
            let isWell = !steps.contains { $0["state"]?.stringValue == "failed" }
            #expect(try result.json()["ok"] == .bool(isWell) && result.status == (isWell ? 0 : 2))
            return Dictionary(
                uniqueKeysWithValues: steps.map { step in
                    let words = [step["message"], step["remedy"]].compactMap { $0?.stringValue }.joined(separator: ". ")
                    return (step["step"]?.stringValue ?? "", (step["state"]?.stringValue ?? "", words))
                })
        }
    }

    @Test("migrate makes the tables once, and says so; check and doctor then find nothing wrong") func migrated() throws
    {
        let place = try Place("store_made")
        let before = try place.check()
        #expect(before["tables"]?.state == "failed" && before["tables"]?.words.contains("volley store migrate") == true)
        #expect(before["rights"]?.words == "the role may make the tables in the schema store_made")

        let first = try place.volley("store", "migrate")
        #expect(first.status == 0 && first.output == "made the tables (version 2)\n", "\(first)")
        let again = try place.volley("store", "migrate")
        #expect(again.status == 0 && again.output == "nothing to do: version 2\n", "\(again)")
        let json = try place.volley("store", "migrate", "--json").json()
        #expect(json.int("before") == 2 && json.int("version") == 2)

        let after = try place.check()
        #expect(after.values.allSatisfy { $0.state == "ok" }, "\(after)")
        #expect(after["tables"]?.words == "version 2")
        #expect(after["connection"]?.words == "as store_made, no TLS, on this machine")
        #expect(after["clock"]?.words == "agrees with the server's")
        #expect(after["latency"]?.words.hasSuffix("ms there and back, the median of 20") == true, "\(after)")

        let doctor = try place.volley("doctor", "shop")
        #expect(
            doctor.status == 0
                && doctor.output.contains("store: the database that machines share\n  ok       connection  as "),
            "\(doctor)"
        )
        #expect(try place.volley("doctor", "--json").json()["store"]?["ok"] == .bool(true))
    }

    @Test("runs that are not in the store are neither listed, fetched nor removed, and what to do is said") func runs()
        throws
    {
        let place = try Place("store_runs")
        let before = try place.volley("store", "list")
        #expect(
            before.status == 2 && before.errors.contains("Run `volley store migrate` once, on one machine."),
            "\(before)")
        #expect(try place.volley("store", "migrate").status == 0)
        let list = try place.volley("store", "list")
        #expect(list.status == 0 && list.output == "There are no runs in the store.\n", "\(list)")
        #expect(try place.volley("store", "list", "--json").json()["runs"] == .array([]))
        let says = "there is no run no-run in the store. `volley store list` shows the runs that are there."
        for words in ["fetch no-run", "fetch no-run --into copies", "remove no-run", "remove no-run --force"] {
            let arguments = words.split(separator: " ").map(String.init)
            let result = try VolleyBinary.run(
                ["store"] + arguments, in: place.folder.url,
                environment: ["VOLLEY_DATABASE": place.server.address(user: place.role)])
            #expect(result.status == 2 && result.output.isEmpty, "\(result)")
            #expect(result.errors.contains(says), "\(result)")
        }
        #expect(!FileManager.default.fileExists(atPath: place.folder.url.appendingPathComponent("copies").path))
    }

    @Test("a file that was fetched is reported and retried, and neither approved, sent nor resumed") func copy() throws
    {
        let server = try LedgeredServer(devices: 20), folder = server.folder
        try folder.writeCampaign()
        let planned = try folder.volley("plan", "campaign.yaml")
        #expect(planned.status == 0, "\(planned)")
        try folder.editRun(
            "CREATE TABLE fetched_copy (fetched_at INTEGER NOT NULL)", "INSERT INTO fetched_copy VALUES (1796126400000)"
        )
        func refuses(_ arguments: [String]) throws {
            let result = try VolleyBinary.run(arguments, in: folder.url)
            #expect(result.status == 2, "\(result)")
            #expect(result.errors.contains("this file was fetched from the store at 2026-12-01T12:00:00Z"), "\(result)")
        }
        try refuses(["send", "--plan", "last", "--yes"])
        try refuses(["approve", "last", "--by", "Ada", "--yes"])
        try folder.editRun("UPDATE run SET state = 'stopped', started_at = planned_at, finished_at = planned_at + 1")
        try refuses(["resume", "last"])
        #expect(try folder.volley("report", "last").status == 0)
        let cancelled = try folder.volley("cancel", "last")
        #expect(cancelled.status == 0, "\(cancelled)")
        let retried = try folder.volley("retry", "last", "--outcome", "unsent", "--yes", "--json")
        #expect(try retried.json()["outcomes"]?.int("accepted") == 20, "\(retried)")
    }

    @Test("two that migrate at the same moment do not disturb one another") func together() throws {
        let place = try Place("store_together")
        let environment = ["VOLLEY_DATABASE": place.server.address(user: place.role)]
        let running = try (0..<4).map { _ in
            try VolleyBinary.start(["store", "migrate"], in: place.folder.url, environment: environment)
        }
        let results = running.map { $0.finish() }
        #expect(results.allSatisfy { $0.status == 0 }, "\(results)")
        #expect(results.count { $0.output == "made the tables (version 2)\n" } == 1)
        #expect(results.count { $0.output == "nothing to do: version 2\n" } == 3)
        #expect(try place.server.sql("SELECT count(*) FROM store_together.volley_store") == "1")
    }

    @Test("tables of a newer Volley are left alone, with what to do") func newer() throws {
        let place = try Place("store_newer")
        #expect(try place.volley("store", "migrate").status == 0)
        try place.server.sql("UPDATE store_newer.volley_store SET version = 99")
        let result = try place.volley("store", "migrate")
        #expect(result.status == 2, "\(result)")
        #expect(
            result.errors.contains(
                "volley.yaml:1:29: this Volley is too old for the store: its tables are of version 99"))
        #expect(result.errors.contains("Use the version of Volley that migrated them on every machine."))
        let check = try place.check()
        #expect(check["tables"]?.state == "failed" && check["tables"]?.words.contains("version 99") == true, "\(check)")
        #expect(check["rights"]?.state == "skipped")
    }

    @Test("a role that may not make tables, or not use them, is told which rights it lacks") func rights() throws {
        let place = try Place("store_owner")
        #expect(try place.volley("store", "migrate").status == 0)
        let guest = try Place("store_other", hasSchema: false)
        try guest.server.sql(
            "ALTER ROLE store_other SET search_path = store_owner; GRANT USAGE ON SCHEMA store_owner TO store_other")
        #expect(try guest.check()["rights"]?.words.contains("the role lacks SELECT ON volley_store") == true)
        try guest.server.sql("GRANT SELECT ON ALL TABLES IN SCHEMA store_owner TO store_other")
        let found = try guest.check()
        #expect(found["tables"]?.state == "ok")
        #expect(found["rights"]?.words.contains("GRANT UPDATE ON volley_journal TO store_other") == true, "\(found)")
        try guest.server.sql("GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA store_owner TO store_other")
        #expect(try guest.check()["rights"]?.state == "ok")

        try guest.server.sql("DROP TABLE store_owner.volley_lease; ALTER ROLE store_other SET search_path = pg_catalog")
        #expect(try place.check()["tables"]?.words.contains("missing: volley_lease") == true)
        let refused = try guest.volley("store", "migrate")
        #expect(
            refused.status == 2 && refused.errors.contains("CREATE SCHEMA store_other AUTHORIZATION store_other"),
            "\(refused)")
    }

    @Test("commits that may be lost are a warning, which says what may be lost", arguments: ["off", "local"])
    func commits(value: String)
        throws
    {
        let server = try PostgresServer()
        try server.sql("ALTER SYSTEM SET fsync = on")
        try server.sql("ALTER ROLE volley SET synchronous_commit = \(value)")
        server.stop()
        try server.start()
        let folder = try ProjectFolder()
        try folder.write(
            "volley.yaml",
            "store: {postgres: {url_env: VOLLEY_DATABASE}}\napps: {shop: {topic: t.t, environment: simulator}}\n")
        let result = try VolleyBinary.run(
            ["store", "check"], in: folder.url, environment: ["VOLLEY_DATABASE": server.address()])
        #expect(
            result.output.contains("  ok       commits     synchronous_commit = \(value), fsync = on: "), "\(result)")
        #expect(result.output.contains("may get a push twice"))
        #expect(result.output.contains("ALTER ROLE volley SET synchronous_commit = on"))
    }

    @Test("a standby is refused, as it takes no changes") func standby() throws {
        let server = try PostgresServer()
        server.stop()
        // Without a server to follow, it waits for one, and answers requests while it waits.
        #expect(FileManager.default.createFile(atPath: "\(server.folder)/data/standby.signal", contents: Data()))
        try server.start()
        let place = try Place("store_standby", hasSchema: false)
        let check = try place.volley("store", "check", address: server.address())
        #expect(check.status == 2 && check.output.contains("a standby, which takes no changes\n"), "\(check)")
        let migrated = try place.volley("store", "migrate", address: server.address())
        #expect(
            migrated.status == 2 && migrated.errors.contains("volley.yaml:1:29: the store's server is a standby"),
            "\(migrated)")
        #expect(migrated.errors.contains("target_session_attrs=read-write"))
    }

    @Test("without an address, or with one that leads nowhere, the place and the remedy are said, and no secret")
    func away() throws {
        let place = try Place("store_away")
        let wrong = place.server.tlsAddress().replacing("correct%20horse", with: "hushhush")
        for (address, message) in [
            ("", "the environment variable VOLLEY_DATABASE, which should hold the address of the store, is not set"),
            ("host=/nowhere", "the store cannot be reached: "), (wrong, "Check user, password and database"),
            ("postgresql://volley:hush@hush@db.example.com/volley", "does not hold the address"),
            ("postgresql://volley:hush@db.example.com/volley?sslmode=require", "does not verify the server"),
        ] {
            for arguments in [
                ["store", "migrate"], ["store", "check"], ["doctor", "shop"], ["store", "check", "--json"],
            ] {
                let result = try VolleyBinary.run(
                    arguments, in: place.folder.url, environment: ["VOLLEY_DATABASE": address])
                #expect(result.status == 2, "\(arguments) \(message)")
                let said = result.output + result.errors
                #expect(said.contains("volley.yaml:1:29") && said.contains(message), "\(said)")
                #expect(!said.contains("hush"))
            }
        }
    }

    @Test("by TLS the store is made and checked, and nothing that is shown holds the password") func secret() throws {
        let server = try PostgresServer()
        try server.sql("CREATE SCHEMA volley AUTHORIZATION volley")
        let place = try Place("store_tls", hasSchema: false)
        for command in ["migrate", "check"] {
            let result = try place.volley("store", command, "--verbose", address: server.tlsAddress())
            #expect(result.status == 0, "\(result)")
            #expect(!(result.output + result.errors).contains("correct"))
        }
        #expect(try place.volley("store", "check", address: server.tlsAddress()).output.contains("as volley, TLS\n"))
    }

    @Test("tables that were made are said to be made, even if the result cannot be shown") func unshown() throws {
        let place = try Place("store_unshown")
        let result = try VolleyBinary.start(
            ["store", "migrate"], in: place.folder.url,
            environment: ["VOLLEY_DATABASE": place.server.address(user: place.role)],
            launcher: ["/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/full"]
        ).finish()
        #expect(result.status == 1 && result.errors.contains("The store: made the tables (version 2)."), "\(result)")
    }

    @Test(
        "a run that was shared is sent neither without its store, nor with one that lost it, nor as a retry: others may have sent it"
    )
    func lost() throws {
        let server = try LedgeredServer(app: "pace: 100/s", devices: 1_200, faults: ["--latency", "20"])
        let folder = server.folder, database = try PostgresServer.shared.get()
        try database.sql("CREATE ROLE store_lost LOGIN; CREATE SCHEMA store_lost AUTHORIZATION store_lost")
        let environment = ["VOLLEY_DATABASE": database.address(user: "store_lost")]
        let alone = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        let shared = "store: {postgres: {url_env: VOLLEY_DATABASE}}\n" + alone
        try folder.write("volley.yaml", shared)
        #expect(try VolleyBinary.run(["store", "migrate"], in: folder.url, environment: environment).status == 0)
        try folder.writeCampaign(delivery: "unknown: skip")
        let sending = try VolleyBinary.start(
            ["send", "campaign.yaml", "--yes"], in: folder.url, environment: environment)
        server.wait {
            (try? database.sql("SELECT count(*) > 3 FROM store_lost.volley_journal")) == "t"
        } orEndOf: {
            sending
        }
        kill(sending.processID, SIGKILL)
        _ = sending.finish()
        func expectRefusal(_ words: String, _ command: String...) throws {
            let refused = try VolleyBinary.run(command, in: folder.url, environment: environment)
            #expect(
                [2, 3].contains(refused.status) && (refused.errors + refused.output).contains(words),
                "\(command): \(refused)")
        }
        try folder.write("volley.yaml", alone)
        try expectRefusal("whom they have sent to is not in this file", "resume", "last")
        try folder.write("volley.yaml", shared)
        try database.sql("DELETE FROM store_lost.volley_run")
        try expectRefusal("whom other machines have sent to is not known here", "resume", "last")
        #expect(try VolleyBinary.run(["cancel", "last"], in: folder.url, environment: environment).status == 0)
        try expectRefusal("whom they have sent to is not in this file", "retry", "last", "--outcome", "unsent", "--yes")
        let accepted = try server.accepted()
        #expect((1..<1_200).contains(accepted.count) && accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test("two machines with one store neither send a campaign twice nor retry its run twice") func twice() throws {
        let server = try LedgeredServer(app: "pace: 100/s", devices: 600, faults: ["--latency", "20"])
        let home = server.folder, away = try ProjectFolder(), database = try PostgresServer.shared.get()
        try database.sql("CREATE ROLE store_twice LOGIN; CREATE SCHEMA store_twice AUTHORIZATION store_twice")
        let environment = ["VOLLEY_DATABASE": database.address(user: "store_twice")]
        let alone = try String(contentsOf: home.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try home.write("volley.yaml", "store: {postgres: {url_env: VOLLEY_DATABASE}}\n" + alone)
        try home.writeCampaign(delivery: "unknown: skip")
        try Shell.run("cp -a '\(home.url.path)/.' '\(away.url.path)/'")
        func volley(_ folder: ProjectFolder, _ arguments: String...) throws -> VolleyBinary.Result {
            // Both are on this machine: without --config, a run would be sent by the volley.yaml of
            // the folder where it was planned.
            try VolleyBinary.run(
                arguments + ["--config", folder.url.appendingPathComponent("volley.yaml").path], in: folder.url,
                environment: environment)
        }
        func expectRefusal(_ words: String, _ refused: VolleyBinary.Result) {
            #expect(refused.status == 2 && refused.errors.contains(words), "\(refused)")
        }
        #expect(try volley(home, "store", "migrate").status == 0)
        let sending = try VolleyBinary.start(
            ["send", "campaign.yaml", "--yes"], in: home.url, environment: environment)
        server.wait {
            (try? database.sql("SELECT count(*) > 3 FROM store_twice.volley_journal")) == "t"
        } orEndOf: {
            sending
        }
        let run = try database.sql("SELECT id FROM store_twice.volley_run")
        expectRefusal(
            "\(run), another run of 'test', is being sent by ", try volley(away, "send", "campaign.yaml", "--yes"))
        #expect(try volley(home, "cancel", run).status == 0)
        _ = sending.finish()
        #expect(try volley(away, "store", "fetch", run).status == 0)
        // A retry that waits for approval while the other machine sends its own.
        let shared = try String(contentsOf: away.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try away.write("volley.yaml", shared + "    approval: required\n")
        #expect(try volley(away, "retry", run, "--outcome", "unsent", "--yes").status == 2)
        let files = try FileManager.default.contentsOfDirectory(atPath: away.url.appendingPathComponent("runs").path)
        let plan = try #require(files.first { $0.hasPrefix("20") && $0.hasSuffix(".sqlite") && !$0.hasPrefix(run) })
            .dropLast(7)
        #expect(try volley(away, "approve", "\(plan)", "--by", "Anna", "--yes").status == 0)
        #expect(try volley(home, "retry", run, "--outcome", "unsent", "--yes").status == 0)
        let retry = try database.sql("SELECT id FROM store_twice.volley_run ORDER BY number DESC LIMIT 1")
        expectRefusal("`volley store fetch \(retry)`", try volley(away, "retry", run, "--outcome", "unsent", "--yes"))
        expectRefusal("`volley store fetch \(retry)`", try volley(away, "send", "--plan", "\(plan)", "--yes"))
        #expect(try volley(away, "store", "fetch", retry).status == 0)
        expectRefusal("has sent to devices of this retry", try volley(away, "send", "--plan", "\(plan)", "--yes"))
        let accepted = try server.accepted()
        #expect(accepted.count == 600 && accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test("a volley.yaml without a store says what to write") func none() throws {
        let folder = try ProjectFolder()
        let result = try folder.volley("store", "check")
        #expect(result.status == 2)
        #expect(
            result.errors.contains("Write at its top level: store: {postgres: {url_env: VOLLEY_DATABASE}}."),
            "\(result)")
        let found = try folder.volley("doctor", "--json").json()["store"]
        #expect(found == nil)
    }
}
