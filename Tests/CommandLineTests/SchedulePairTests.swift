import Base
import Foundation
import TestCommands
import TestServers
import Testing

@Suite(
    "Two machines with volley schedule",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct SchedulePairTests {
    /// Machines with separate folders, and one store.
    private final class Pair {
        let server: PostgresServer
        let role: String
        let folders: [ProjectFolder]
        var running: [RunningVolley] = []

        init(_ role: String, app: String = "environment: simulator") throws {
            (server, self.role) = (try PostgresServer.shared.get(), role)
            folders = try [ProjectFolder(app: app), ProjectFolder(app: app)]
            try server.sql("CREATE ROLE \(role) LOGIN; CREATE SCHEMA \(role) AUTHORIZATION \(role)")
            for folder in folders {
                let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
                try folder.write("volley.yaml", "store: {postgres: {url_env: VOLLEY_DATABASE}}\n" + project)
                try Shell.run("touch -d '1 hour ago' '\(folder.url.path)/devices.csv'")
            }
            _ = try volley(0, "store", "migrate")
        }

        deinit { for process in running where process.isRunning { _ = process.finish(timeout: 0) } }

        private var environment: [String: String] { ["VOLLEY_DATABASE": server.address(user: role)] }

        func volley(_ machine: Int, _ arguments: String...) throws -> VolleyBinary.Result {
            try VolleyBinary.run(arguments, in: folders[machine].url, environment: environment)
        }

        /// - Parameter passesQuiet: whether the half minute is skipped in which a database that
        ///   came up gets no queries.
        func start(_ machine: Int, passesQuiet: Bool = true) throws -> RunningVolley {
            let process = try VolleyBinary.start(["schedule", "."], in: folders[machine].url, environment: environment)
            running.append(process)
            if passesQuiet { try passQuiet() }
            return process
        }

        func passQuiet() throws {
            try wait("a life of the database") {
                // A row whose writing transaction differs from the one that it names belongs to no
                // epoch.
                let set = "began_at = began_at - interval '1 minute', written_by = pg_current_xact_id()::xid"
                return try server.sql("UPDATE \(role).volley_life SET \(set) RETURNING 1") == "1"
            }
        }

        /// The state after the database has lost every time.
        func forget() throws {
            try server.sql(
                "DELETE FROM \(role).volley_firing; DELETE FROM \(role).volley_life; DELETE FROM \(role).volley_present"
            )
        }

        func write(_ name: String, minutesAgo: Int) throws {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(identifier: "UTC")
            formatter.dateFormat = "yyyy-MM-dd HH:mm"
            let time = formatter.string(from: Date(timeIntervalSinceNow: Double(-60 * minutesAgo)))
            for folder in folders {
                try folder.write(
                    "\(name).yaml",
                    """
                    name: \(name)
                    app: shop
                    audience: {devices: devices.csv, everyone: true}
                    content: {title: Hello, body: World}
                    delivery: {unknown: skip}
                    schedule: {at: \(time), timezone: UTC}

                    """)
            }
        }

        /// The state and the notes of a campaign's time.
        func time(_ machine: Int, _ campaign: String) throws -> (state: String, notes: String) {
            guard case .array(let times)? = try volley(machine, "schedule", ".", "--list", "--json").json()["times"],
                let time = times.last(where: { $0["campaign"]?.stringValue == campaign }),
                case .array(let notes)? = time["notes"]
            else { return ("", "") }
            return (time["state"]?.stringValue ?? "", notes.compactMap(\.stringValue).joined(separator: "; "))
        }

        func runs(_ machine: Int) throws -> Int {
            guard case .array(let runs)? = try volley(machine, "runs", "--json").json()["runs"] else { return 0 }
            return runs.count
        }

        /// What the store says after half a minute of silence.
        func declareAllDead() throws {
            try server.sql("UPDATE \(role).volley_service SET dead_at = now() WHERE dead_at IS NULL")
        }

        func wait(_ what: Comment, _ condition: () throws -> Bool) throws {
            let end = Date(timeIntervalSinceNow: 60)
            while try !condition() {
                try #require(Date() < end, "waited in vain for \(what): \(running.map(\.errorsSoFar))")
                usleep(50_000)
            }
        }
    }

    @Test("plan and send each time once, and the other one says who has it; a person cannot send it there either")
    func once() throws {
        let pair = try Pair("pair_once")
        for number in 0..<4 { try pair.write("c\(number)", minutesAgo: 1) }
        let services = try [pair.start(0), pair.start(1)]
        var others: [String: Int] = [:]
        for number in 0..<4 {
            let name = "c\(number)"
            try pair.wait("the end of \(name)") {
                let states = try [pair.time(0, name).state, pair.time(1, name).state]
                return states.sorted() == ["finished", "skipped"]
            }
            let other = try pair.time(0, name).state == "skipped" ? 0 : 1
            #expect(try pair.time(other, name).notes.hasPrefix("another machine, "))
            others[name] = other
        }
        for service in services {
            kill(service.processID, SIGTERM)
            _ = service.finish()
        }
        for (name, other) in others {
            let sent = try pair.volley(other, "send", "\(name).yaml", "--yes")
            #expect(sent.status == 2 && sent.errors.contains("another machine, "), "\(sent)")
        }
        let counts = try [pair.runs(0), pair.runs(1)]
        #expect(counts[0] + counts[1] >= 4, "\(counts)")
        #expect(try pair.server.sql("SELECT count(*) FROM pair_once.volley_firing WHERE state = 'begun'") == "4")
    }

    @Test(
        "what one had planned and not begun, the other plans anew once it is dead; when it wakes up, it leaves that alone"
    )
    func takenOver() throws {
        let pair = try Pair("pair_taken", app: "environment: simulator\napproval: required")
        try pair.write("sale", minutesAgo: 1)
        let first = try pair.start(0)
        try pair.wait("its plan") { try pair.time(0, "sale").state == "waiting" }
        let second = try pair.start(1)
        try pair.wait("the other") { try pair.time(1, "sale").notes.contains("another machine, ") }
        kill(first.processID, SIGSTOP)
        try pair.declareAllDead()
        try pair.wait("the other's plan") { try pair.time(1, "sale").state == "waiting" }
        #expect(second.errorsSoFar.contains("is planned here: "), "\(second.errorsSoFar)")
        kill(first.processID, SIGCONT)
        try pair.wait("the first to give it up") { try pair.time(0, "sale").notes.contains("another machine, ") }
        #expect(first.errorsSoFar.contains("is up to another machine"), "\(first.errorsSoFar)")
        let plans = try pair.volley(0, "runs").output
        #expect(plans.contains("cancelled"), "\(plans)")
    }

    @Test("one that is started again within seconds goes on with what it had")
    func restarted() throws {
        let pair = try Pair("pair_restart", app: "environment: simulator\napproval: required")
        try pair.write("sale", minutesAgo: 1)
        let first = try pair.start(0)
        try pair.wait("its plan") { try pair.time(0, "sale").state == "waiting" }
        _ = try pair.start(1)
        try pair.wait("the other") { try pair.time(1, "sale").notes.contains("another machine, ") }
        kill(first.processID, SIGKILL)
        _ = first.finish()
        let again = try pair.start(0)
        try pair.wait("two services") {
            try pair.server.sql(
                "SELECT count(DISTINCT owner) FROM pair_restart.volley_firing f JOIN pair_restart.volley_service s ON s.number = f.owner WHERE s.number > 2"
            ) == "1"
        }
        #expect(try pair.time(0, "sale").state == "waiting", "\(again.errorsSoFar)")
        #expect(try pair.runs(1) == 0)
    }

    @Test("one that is gone for half a minute is found out by the other, without being told")
    func silence() throws {
        let pair = try Pair("pair_silence", app: "environment: simulator\napproval: required")
        try pair.write("sale", minutesAgo: 1)
        let first = try pair.start(0)
        try pair.wait("its plan") { try pair.time(0, "sale").state == "waiting" }
        _ = try pair.start(1)
        try pair.wait("the other") { try pair.time(1, "sale").notes.contains("another machine, ") }
        kill(first.processID, SIGKILL)
        _ = first.finish()
        try pair.wait("the other's plan") { try pair.time(1, "sale").state == "waiting" }
    }

    @Test("nothing is sent while the store is away, and the log and the health file say so until it is back")
    func away() throws {
        let pair = try Pair("pair_away"), folder = pair.folders[0]
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", "monitoring: {health: health.json}\n" + project)
        func health() -> String {
            (try? String(contentsOf: folder.url.appendingPathComponent("health.json"), encoding: .utf8)) ?? ""
        }
        try pair.server.sql("ALTER ROLE pair_away NOLOGIN")
        try pair.write("sale", minutesAgo: 1)
        let first = try pair.start(0, passesQuiet: false)
        try pair.wait("the warning") { first.errorsSoFar.contains("Until the store can be reached") }
        #expect(try pair.time(0, "sale").state == "")
        try pair.wait("the problem") {
            let text = health()
            return text.contains("\"status\": \"problems\"")
                && text.contains("no time is sent; it has been away since ")
                && text.contains("sale ") && text.contains(" waits for it. ")
        }
        try pair.server.sql("ALTER ROLE pair_away LOGIN")
        try pair.passQuiet()
        try pair.wait("the end") { try pair.time(0, "sale").state == "finished" }
        #expect(first.errorsSoFar.contains("The store can be reached again, after "))
        try pair.wait("the end of the problem") { !health().isEmpty && !health().contains("no time is sent") }
    }

    @Test(
        "what one has sent is sent by no other when the database has forgotten it: the one says so again, and the other waits for that"
    )
    func forgotten() throws {
        let pair = try Pair("pair_forgotten")
        try pair.write("sale", minutesAgo: 1)
        let first = try pair.start(0)
        try pair.wait("the end") { try pair.time(0, "sale").state == "finished" }
        kill(first.processID, SIGTERM)
        _ = first.finish()
        try pair.forget()
        let second = try pair.start(1, passesQuiet: false)
        try pair.wait("the quiet time") { second.errorsSoFar.contains("The store has just come up") }
        #expect(try pair.server.sql("SELECT count(*) FROM pair_forgotten.volley_firing") == "0")
        // It is back within half a minute.
        _ = try pair.start(0, passesQuiet: false)
        try pair.wait("what it says") {
            try pair.server.sql("SELECT state FROM pair_forgotten.volley_firing WHERE campaign = 'sale'") == "begun"
        }
        #expect(try pair.time(1, "sale").state == "", "nobody has found it due")
        try pair.passQuiet()
        try pair.wait("the other") { try pair.time(1, "sale").notes.contains("another machine, ") }
        #expect(try pair.time(0, "sale").state == "finished")
        #expect(try pair.server.sql("SELECT count(*) FROM pair_forgotten.volley_firing WHERE state = 'begun'") == "1")
    }
}
