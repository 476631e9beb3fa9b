import Base
import Foundation
import Glibc
import TestCommands
import TestServers
import Testing

@testable import volley_console

/// The real programs: `volley serve` with its two children.
@Suite("volley serve", .serialized)
struct ServeTests {
    /// Waits until a condition holds; fails the test if it never does.
    private static func wait(_ what: Comment, until isSo: () throws -> Bool) throws {
        for _ in 0..<3_000 {
            if try isSo() { return }
            usleep(20_000)
        }
        Issue.record(what)
        throw CommandFailure(what: what.rawValue)
    }

    /// The same without pauses, for what lasts only moments.
    private static func spin(_ what: Comment, until isSo: () -> Bool) throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        while clock.now < end { if isSo() { return } }
        throw CommandFailure(what: what.rawValue)
    }

    /// The children of a process, by the names of their programs.
    private static func children(of process: Int32) -> [String: Int32] {
        let ids = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return ids.reduce(into: [:]) { children, id in
            guard let stat = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
                let end = stat.lastIndex(of: ")"),
                let start = stat.firstIndex(of: "(")
            else { return }
            let fields = stat[stat.index(end, offsetBy: 2)...].split(separator: " ")
            if fields[0] != "Z", fields[1] == "\(process)" {
                children[String(stat[stat.index(after: start)..<end])] = id
            }
        }
    }

    /// Serves a folder until both children are there.
    private static func serving(
        _ arguments: [String] = [], children count: Int = 2, environment: [String: String] = [:],
        _ body: (_ serve: RunningVolley, _ folder: TestFolder) throws -> Void
    ) throws {
        let folder = try TestFolder()
        let serve = try VolleyBinary.start(
            ["serve", folder.path, "--listen", "127.0.0.1:0"] + arguments, in: URL(fileURLWithPath: folder.path),
            environment: environment)
        defer { kill(serve.processID, SIGKILL) }
        try wait("the children did not start") {
            children(of: serve.processID).count == count
                && serve.errorsSoFar.contains("The console is at http://127.0.0.1:")
                && (count == 1 || serve.errorsSoFar.contains("is at work"))
        }
        try body(serve, folder)
    }

    @Test("without /proc the console does what its arguments say", .enabled(if: getuid() == 0))
    func withoutProc() throws {
        let folder = try TestFolder()
        func show() throws -> VolleyBinary.Result {
            try RunningVolley(
                executable: "/usr/bin/unshare",
                ["-m", "sh", "-ec", "mount -t tmpfs none /proc; exec '\(VolleyBinary.path)-console' --version"],
                in: URL(fileURLWithPath: folder.path), environment: [:], input: nil
            ).finish()
        }
        // libdispatch ends a process that has no /proc with SIGILL when it first looks at its
        // workers: a busy machine gives it the time for that.
        var shown = try show()
        for _ in 0..<4 where shown.status == 128 + SIGILL { shown = try show() }
        #expect(shown.status == 0 && shown.output == "\(volleyVersion)\n", "\(shown)")
    }

    private static func port(_ serve: RunningVolley) throws -> Int {
        let line = try #require(serve.errorsSoFar.matches(of: #/http:\/\/127\.0\.0\.1:(\d+)\//#).last)
        return try #require(Int(line.1))
    }

    private static func isThere(_ process: Int32) -> Bool {
        // A zombie that no process has waited for yet has ended.
        guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = stat.lastIndex(of: ")")
        else {
            return false
        }
        return stat[stat.index(end, offsetBy: 2)] != "Z"
    }

    @Test("what the console cannot listen at ends everything with 2, says what and why, and replaces nothing")
    func listening() throws {
        let folder = try TestFolder(), taken = try Sockets.listen()
        defer { Sockets.close(taken.descriptor) }
        try folder.write("file", "precious")
        func serve(_ arguments: [String]) throws -> VolleyBinary.Result {
            try VolleyBinary.run(
                ["serve", folder.path, "--no-sender"] + arguments, in: URL(fileURLWithPath: folder.path), timeout: 60)
        }
        let port = try serve(["--listen", "127.0.0.1:\(taken.port)"])
        #expect(port.status == 2)
        #expect(
            port.errors.contains(
                "Volley cannot listen at 127.0.0.1:\(taken.port): the address is already in use. Name another port"))
        let socket = try serve(["--socket", "\(folder.path)/file"])
        #expect(socket.status == 2)
        #expect(socket.errors.contains("\(folder.path)/file") && socket.errors.contains("it is not replaced"))
        #expect(try String(contentsOfFile: "\(folder.path)/file", encoding: .utf8) == "precious")
    }

    @Test("a second console does not take the first one's socket; one that a killed console left is taken over")
    func twoConsoles() throws {
        let folder = try TestFolder(), path = "\(folder.path)/console.sock"
        func start() throws -> RunningVolley {
            try VolleyBinary.start(
                ["serve", folder.path, "--no-sender", "--socket", path], in: URL(fileURLWithPath: folder.path))
        }
        let first = try start()
        defer { kill(first.processID, SIGKILL) }
        try Self.wait("the console did not start") { first.errorsSoFar.contains("The console is at") }
        let second = try start().finish(timeout: 60)
        #expect(second.status == 2)
        #expect(second.errors.contains("another program listens on the socket"))
        let console = try #require(Self.children(of: first.processID).values.first)
        kill(first.processID, SIGKILL)
        try Self.wait("the console continues") { !Self.isThere(console) }
        let third = try start()
        defer { kill(third.processID, SIGKILL) }
        try Self.wait("the console did not start again") { third.errorsSoFar.contains("The console is at") }
        third.interrupt()
        #expect(third.finish(timeout: 60).status == 130)
    }

    @Test("the manager of services hears that it is alive from the console: one that hangs is noticed")
    func watchdog() throws {
        let place = try TestFolder(), socket = try NotifySocket(place.path + "/notify")
        let environment = ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "400000"]
        try Self.serving(environment: environment) { serve, _ in
            func signs() -> Int { socket.read().count { $0 == "WATCHDOG=1" } }
            try Self.wait("no signs of life") { signs() >= 3 }
            #expect(socket.lines.count { $0 == "READY=1" } == 1)
            let console = try #require(Self.children(of: serve.processID).first { $0.key.hasPrefix("volley-console") })
                .value
            kill(console, SIGSTOP)
            usleep(300_000)
            let before = signs()
            usleep(1_000_000)
            #expect(signs() == before)
            kill(console, SIGCONT)
            try Self.wait("no signs of life afterwards") { signs() > before }
            // Before the console runs, the supervisor reports for it.
            kill(console, SIGKILL)
            try Self.wait("no signs of life from the supervisor") { signs() > before + 3 }
        }
    }

    @Test(
        "SIGHUP to it and to its children, as `systemctl kill` sends it, is answered in the log, and ends none of them")
    func hangup() throws {
        let place = try TestFolder(), socket = try NotifySocket(place.path + "/notify")
        try Self.serving(environment: ["NOTIFY_SOCKET": socket.path]) { serve, _ in
            let children = Self.children(of: serve.processID)
            func answers() -> Int {
                serve.errorsSoFar.components(separatedBy: "SIGHUP: there is nothing to reload.").count - 1
            }
            for process in [serve.processID] + children.values { kill(process, SIGHUP) }
            try Self.wait("no answer of the supervisor and of the sender") { answers() == 2 }
            kill(serve.processID, SIGHUP)
            try Self.wait("no second answer") { answers() == 3 }
            #expect(serve.isRunning && Self.children(of: serve.processID) == children)
            #expect(!serve.errorsSoFar.contains("started again"), "\(serve.errorsSoFar)")
        }
    }

    @Test("it answers, and SIGTERM ends the console first and the sender second")
    func ending() throws {
        try Self.serving { serve, _ in
            let connection = try TestConnection(Self.port(serve))
            connection.send("GET /sign-in HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(Reply(connection.readToEnd())?.status == 200)
            let children = Self.children(of: serve.processID)
            kill(serve.processID, SIGTERM)
            let result = serve.finish()
            #expect(result.status == 130)
            #expect(result.errors.contains("Interrupted: what is being sent stops cleanly"))
            #expect(children.values.allSatisfy { !Self.isThere($0) })
        }
    }

    @Test("SIGTERM ends it within seconds while its children are stopped", arguments: ["volley-console", "volley"])
    func endingOfStopped(name: String) throws {
        try Self.serving { serve, _ in
            let children = Self.children(of: serve.processID)
            kill(try #require(children[name]), SIGSTOP)
            kill(serve.processID, SIGTERM)
            try Self.wait("the children did not end") { children.values.allSatisfy { !Self.isThere($0) } }
            let result = serve.finish(timeout: 30)
            #expect(result.status == 130 && !result.errors.contains("was killed"), "\(result.errors)")
        }
    }

    @Test("a child that dies is started again")
    func restart() throws {
        try Self.serving { serve, _ in
            let before = Self.children(of: serve.processID)
            for (_, child) in before { kill(child, SIGKILL) }
            try Self.wait("the children were not started again") {
                let now = Self.children(of: serve.processID)
                return now.count == 2 && Set(now.values).isDisjoint(with: before.values)
            }
            #expect(
                serve.errorsSoFar.contains(
                    "The console ended by SIGKILL, and volley schedule continues; it is started again in 1 s."))
            #expect(serve.errorsSoFar.contains("volley schedule ended by SIGKILL; it is started again in 1 s."))
        }
    }

    @Test(
        "whatever is wrong with the console's own files, what is scheduled is sent, and the console is there once they are mended"
    )
    func damagedAccounts() throws {
        let folder = try TestFolder(project: "monitoring: {health: health.json}\n" + TestFolder.project)
        let accounts = folder.runs + "/console/accounts.sqlite", health = folder.path + "/health.json"
        try FilePaths.makeFolder(folder.runs + "/console")
        try folder.write("runs/console/accounts.sqlite", "This is a letter, and no file of accounts at all.")
        let serve = try VolleyBinary.start(
            ["serve", folder.path, "--listen", "127.0.0.1:0"], in: URL(fileURLWithPath: folder.path))
        defer { kill(serve.processID, SIGKILL) }
        try Self.wait("the sender does not work, or nothing is said") {
            let log = serve.errorsSoFar
            return log.contains("is at work") && log.contains("There are no pages until this is mended. \(accounts): ")
                && log.contains(
                    "The console ended with code 1, and volley schedule continues; it is started again in 2 s.")
                && (try? String(contentsOfFile: health, encoding: .utf8))?.contains("accounts.sqlite") == true
        }
        try FileManager.default.removeItem(atPath: accounts)
        try Self.wait("the console does not come") { serve.errorsSoFar.contains("The console is at http://127.0.0.1:") }
        #expect(Self.children(of: serve.processID).count == 2)
        kill(serve.processID, SIGTERM)
        #expect(serve.finish().status == 130)
    }

    @Test("what is no folder of campaigns is refused at the start", arguments: [true, false])
    func noFolder(isFile: Bool) throws {
        let folder = try TestFolder(), name = "\(folder.path)/welcome.yaml"
        if isFile { try folder.write("welcome.yaml", "name: welcome\n") }
        let result = try VolleyBinary.run(["serve", name], in: URL(fileURLWithPath: folder.path))
        #expect(result.status == 2)
        #expect(
            result.errors.contains(
                isFile ? "this is a file, and the console shows" : "\(name): there is no such folder"), "\(result)")
        #expect(!isFile || result.errors.contains("`volley serve \(folder.path)`"), "\(result)")
    }

    @Test("when it is killed, both children end, the sender in good order")
    func killed() throws {
        try Self.serving { serve, _ in
            let children = Self.children(of: serve.processID)
            #expect(children.count == 2)
            kill(serve.processID, SIGKILL)
            try Self.wait("the children did not end") { children.values.allSatisfy { !Self.isThere($0) } }
            #expect(serve.errorsSoFar.contains("Interrupted: what is being sent stops cleanly"))
        }
    }

    @Test(
        "a sender that is told to end several times, as by each thread of a killed supervisor, ends once and in good order"
    )
    func toldAgain() throws {
        let folder = try TestFolder(project: "monitoring: {health: health.json}\n" + TestFolder.project)
        func health() -> String { (try? String(contentsOfFile: "\(folder.path)/health.json", encoding: .utf8)) ?? "" }
        for _ in 0..<5 {
            let sender = try VolleyBinary.start(
                ["schedule", folder.path], in: URL(fileURLWithPath: folder.path),
                environment: ["VOLLEY_SUPERVISOR": "\(getpid())"])
            defer { kill(sender.processID, SIGKILL) }
            try Self.wait("volley schedule did not start") { health().contains("\"ok\"") }
            while sender.isRunning { kill(sender.processID, SIGTERM) }
            let result = sender.finish()
            #expect(result.status == 130)
            #expect(result.errors.components(separatedBy: "Interrupted: what is being sent stops cleanly").count == 2)
            #expect(health().contains("\"stopped\""), "its last act")
        }
    }

    /// Whether SIGTERM is in a mask of a process: `SigBlk`, `SigIgn`.
    private static func hasTermination(in mask: String, of process: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix(mask + ":") }),
            let bits = UInt64(line.dropFirst(mask.count + 1).trimmingCharacters(in: .whitespaces), radix: 16)
        else { return false }
        return bits & 1 << UInt64(SIGTERM - 1) != 0
    }

    private static func startConsole(_ folder: TestFolder) throws -> RunningVolley {
        try RunningVolley(
            executable: VolleyBinary.path + "-console", [folder.path, "--listen", "127.0.0.1:0"],
            in: URL(fileURLWithPath: folder.path),
            environment: ["VOLLEY_SUPERVISOR": "\(getpid())"], input: nil)
    }

    @Test(
        "from the moment in which SIGTERM no longer ends a starting console by itself, it is kept for it, and ends it")
    func kept() throws {
        let folder = try TestFolder()
        for _ in 0..<8 {
            let console = try Self.startConsole(folder)
            defer { kill(console.processID, SIGKILL) }
            try Self.spin("it does not take SIGTERM") {
                // Before exec, the new process holds back all signals.
                let isBegun =
                    (try? String(contentsOfFile: "/proc/\(console.processID)/comm", encoding: .utf8))
                    == "volley-console\n"
                return isBegun
                    && (Self.hasTermination(in: "SigBlk", of: console.processID)
                        || Self.hasTermination(in: "SigIgn", of: console.processID))
            }
            // A signal that is ignored at the moment is lost.
            #expect(!Self.hasTermination(in: "SigIgn", of: console.processID))
            kill(console.processID, SIGTERM)
            try Self.wait("SIGTERM was lost") { !console.isRunning }
            #expect(console.finish().status == 0, "in good order, and not by the signal itself")
        }
    }

    @Test("SIGTERM at any moment of its start ends the console", arguments: [0, 1, 2, 3])
    func terminatedWhileStarting(part: Int) throws {
        let folder = try TestFolder()
        for step in 0..<12 {
            let console = try Self.startConsole(folder)
            defer { kill(console.processID, SIGKILL) }
            usleep(UInt32((step * 4 + part) * 12_000))
            kill(console.processID, SIGTERM)
            try Self.wait("SIGTERM after \((step * 4 + part) * 12) ms was lost") { !console.isRunning }
        }
    }

    @Test("with --no-sender there is the console alone")
    func noSender() throws {
        try Self.serving(["--no-sender"], children: 1) { serve, _ in
            #expect(Array(Self.children(of: serve.processID).keys) == ["volley-console"])
        }
    }

    @Test("another volley schedule stays the sender, and its place is taken when it ends")
    func otherSender() throws {
        let folder = try TestFolder()
        let url = URL(fileURLWithPath: folder.path)
        let schedule = try VolleyBinary.start(["schedule", folder.path], in: url)
        defer { kill(schedule.processID, SIGKILL) }
        try Self.wait("volley schedule did not start") { schedule.errorsSoFar.contains("is at work") }
        let serve = try VolleyBinary.start(["serve", folder.path, "--listen", "127.0.0.1:0"], in: url)
        defer { kill(serve.processID, SIGKILL) }
        try Self.wait("it did not notice the other one") {
            serve.errorsSoFar.contains("Another volley schedule is at work")
        }
        kill(schedule.processID, SIGTERM)
        _ = schedule.finish()
        try Self.wait("it did not take its place") { Self.children(of: serve.processID).count == 2 }
        #expect(!serve.errorsSoFar.contains("it is started again"))
    }

    @Test(
        "what cannot be served is refused with its remedy, and ends everything",
        arguments: [
            (["--listen", "0.0.0.0:8181"], "passwords would go over the network in the clear"),
            (["--listen", "nowhere"], "--listen takes an address and a port"),
            (["--listen", "127.0.0.1:0", "--socket", "/tmp/x"], "--listen and --socket were both given"),
        ])
    func refused(arguments: [String], message: String) throws {
        let folder = try TestFolder()
        let result = try VolleyBinary.run(["serve", folder.path] + arguments, in: URL(fileURLWithPath: folder.path))
        #expect(result.status == 2)
        #expect(result.errors.contains(message))
    }

    @Test("a Unix socket is for its owner and group")
    func socket() throws {
        let folder = try TestFolder()
        let path = "\(folder.path)/console.sock"
        let serve = try VolleyBinary.start(
            ["serve", folder.path, "--no-sender", "--socket", path], in: URL(fileURLWithPath: folder.path))
        defer { kill(serve.processID, SIGKILL) }
        try Self.wait("there is no socket") { serve.errorsSoFar.contains("The console is at the Unix socket") }
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o660)
    }
}
