import Base
import Foundation
import TestCommands
import Testing

/// What a process inherits from its parent, and what it passes on to no child.
@Suite("What Volley inherits")
struct InheritedStateTests {
    /// Ignores SIGCHLD and blocks the signals that end a process, as some supervisors do.
    private static let deaf = [
        "python3", "-c",
        """
        import os, signal, sys
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        os.execvp(sys.argv[1], sys.argv[1:])
        """,
    ]

    private func folder(hook: String) throws -> ProjectFolder {
        let folder = try ProjectFolder()
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", "notices: [{command: [/bin/sh, -c, '\(hook)']}]\n" + project)
        return folder
    }

    /// A line of /proc/PID/status or limits.
    private func line(_ process: RunningVolley, _ file: String, _ name: String) throws -> String {
        let text = try String(contentsOfFile: "/proc/\(process.processID)/\(file)", encoding: .utf8)
        return String(try #require(text.split(separator: "\n").first { $0.hasPrefix(name) }).dropFirst(name.count))
    }

    private func simulator(in folder: ProjectFolder, launcher: [String]) throws -> RunningVolley {
        let running = try VolleyBinary.start(
            ["simulate", "--port", "0", "--for", VolleyBinary.simulatorSeconds, "--json"], in: folder.url,
            launcher: launcher)
        while running.isRunning, !running.outputSoFar.hasSuffix("}\n") { usleep(20_000) }
        return running
    }

    @Test("without /proc a command does nothing and says why, whatever its arguments", .enabled(if: Shell.canHideFiles))
    func withoutProc() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        for arguments in [["send", "campaign.yaml", "--yes", "--json"], ["check", "none.yaml"], ["runs"]] {
            let refused = try VolleyBinary.start(
                arguments, in: folder.url,
                launcher: ["unshare", "-m", "sh", "-ec", "mount -t tmpfs none /proc; exec \"$0\" \"$@\""]
            ).finish()
            #expect(refused.status == 2 && refused.errors.contains("there is no /proc here"), "\(refused)")
        }
        let runs = try? FileManager.default.contentsOfDirectory(atPath: folder.url.appendingPathComponent("runs").path)
        #expect((runs ?? []).isEmpty)
    }

    @Test("a command that is started in a folder that was removed says that, and sends nothing")
    func removedFolder() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let launcher = ["sh", "-ec", "mkdir gone; cd gone; rmdir ../gone; exec \"$0\" \"$@\""]
        let sent = try VolleyBinary.start(["send", "../campaign.yaml", "--yes"], in: folder.url, launcher: launcher)
            .finish()
        #expect(sent.status == 2 && sent.errors.contains("the current folder was removed"), "\(sent.errors)")
        #expect(!sent.errors.contains("SQLite"), "\(sent.errors)")
    }

    @Test("a hook's exit code is heard where SIGCHLD was ignored", .enabled(if: hasPython))
    func exitCodes() throws {
        let folder = try folder(hook: "exit 9")
        let told = try VolleyBinary.start(["notify"], in: folder.url, launcher: Self.deaf).finish()
        #expect(told.status == 2 && told.output.contains("it ended with exit code 9"), "\(told)")
    }

    @Test("a hook ignores no signal that Volley ignores")
    func ignoredSignals() throws {
        let told = try folder(hook: "exec grep SigIgn /proc/self/status").volley("notify")
        let line = try #require(told.errors.split(separator: "\n").first { $0.contains("SigIgn:") })
        let ignored = try #require(
            UInt64(line.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "", radix: 16))
        for signal in [SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF] {
            #expect(ignored & 1 << UInt64(signal - 1) == 0, "\(line)")
        }
    }

    /// Sends slowly, and gets signals once pushes were accepted.
    private func send(devices: Int, signals: [Int32]) throws -> VolleyBinary.Result {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 100/s", export: ProjectFolder.export(devices: devices))
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: folder.url)
        while running.isRunning, !folder.files(in: "runs").contains(where: { $0.hasSuffix(".sqlite") }) {
            usleep(20_000)
        }
        usleep(500_000)
        for signal in signals { kill(running.processID, signal) }
        return running.finish(timeout: 60)
    }

    @Test("signals that mean nothing to Volley do not end a run", arguments: [60, 300])
    func meaninglessSignals(devices: Int) throws {
        let sent = try send(devices: devices, signals: [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF])
        #expect(sent.status == 0, "\(sent)")
        #expect(try sent.json()["outcomes"]?.int("accepted") == devices)
    }

    @Test("a run whose processor time is used up ends in good order, also when it is told again")
    func processorTime() throws {
        let sent = try send(devices: 1000, signals: [SIGXCPU, SIGXCPU])
        #expect(sent.status == 130, "\(sent)")
        let report = try sent.json()
        #expect(report["state"]?.stringValue == "stopped" && report["outcomes"]?.int("unknown") == 0)
        #expect(
            report["outcomes"]?.int("accepted") ?? 0 > 0 && report["outcomes"]?.int("unsent") ?? 0 > 0
                && report["outcomes"]?.sum == 1000)
    }

    @Test("signals that were blocked are heard by every command", .enabled(if: hasPython))
    func masks() throws {
        let folder = try folder(hook: "echo $$ > pid; echo up >&2; exec sleep 300")
        let running = try VolleyBinary.start(["notify"], in: folder.url, launcher: Self.deaf)
        while running.isRunning, !running.errorsSoFar.contains("up") { usleep(20_000) }
        let blocked = try #require(
            UInt64(try line(running, "status", "SigBlk:").trimmingCharacters(in: .whitespaces), radix: 16))
        let ignored = try #require(
            UInt64(try line(running, "status", "SigIgn:").trimmingCharacters(in: .whitespaces), radix: 16))
        for signal in [SIGCHLD, SIGINT, SIGTERM, SIGHUP] {
            #expect(blocked & 1 << UInt64(signal - 1) == 0, "signal \(signal)")
        }
        #expect(ignored & 1 << UInt64(SIGCHLD - 1) == 0)
        kill(running.processID, SIGTERM)
        let ended = running.finish(timeout: 20)
        #expect(ended.status == 130 && (ended.output + ended.errors).contains("Volley ended and killed it"), "\(ended)")
        #expect(kill(try #require(try hook(in: folder)), 0) != 0)
    }

    @Test("a second signal leaves no hook behind")
    func secondSignal() throws {
        let folder = try folder(hook: "trap \"\" TERM; echo $$ > pid; sleep 300; sleep 300")
        try folder.writeCampaign()
        let running = try VolleyBinary.start(["send", "campaign.yaml", "--yes"], in: folder.url)
        while running.isRunning, try hook(in: folder) == nil { usleep(20_000) }
        for _ in 0..<2 {
            kill(running.processID, SIGTERM)
            usleep(300_000)
        }
        #expect(running.finish(timeout: 4).status == 130)
        let hook = try #require(try hook(in: folder))
        // The process that adopts it may need a moment to reap it.
        var state: Substring?
        for _ in 0..<100 {
            state =
                (try? String(contentsOfFile: "/proc/\(hook)/stat", encoding: .utf8))?.split(separator: " ").dropFirst(2)
                .first
            if state == nil || state == "Z" { break }
            usleep(20_000)
        }
        #expect(state == nil || state == "Z")
    }

    /// The process that a hook wrote into the file `pid`.
    private func hook(in folder: ProjectFolder) throws -> pid_t? {
        let file = folder.url.appendingPathComponent("pid").path
        return (try? String(contentsOfFile: file, encoding: .utf8)).flatMap {
            pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    @Test("a crash leaves no core in which keys could be found")
    func cores() throws {
        let folder = try ProjectFolder()
        let running = try simulator(
            in: folder,
            launcher: ["sh", "-c", "ulimit -c unlimited 2>/dev/null || ulimit -c 100000; exec \"$0\" \"$@\""])
        #expect(try line(running, "limits", "Max core file size").split(separator: " ").first == "0")
        kill(running.processID, SIGABRT)
        _ = running.finish(timeout: 20)
        #expect(folder.files(in: ".").filter { $0.hasPrefix("core") }.isEmpty)
    }

    @Test(
        "another process of the same account reads nothing of its memory",
        .enabled(if: getuid() == 0 && Shell.hasTool("setpriv")))
    func memory() throws {
        let folder = try ProjectFolder()
        try Shell.run(
            "cp '\(VolleyBinary.path)' '\(folder.url.path)/volley' && chmod 755 '\(folder.url.path)/volley' && chmod 777 '\(folder.url.path)'"
        )
        let running = try RunningVolley(
            executable: "/usr/bin/env",
            [
                "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "./volley", "simulate", "--port", "0",
                "--for", VolleyBinary.simulatorSeconds,
                "--json",
            ],
            in: folder.url, environment: [:], input: nil)
        while running.isRunning, !running.outputSoFar.hasSuffix("}\n") { usleep(20_000) }
        #expect(running.isRunning, "\(running.errorsSoFar)")
        // The kernel gives the files of an undumpable process to root.
        let owner =
            try FileManager.default.attributesOfItem(atPath: "/proc/\(running.processID)/mem")[.ownerAccountID] as? Int
        #expect(owner == 0)
        running.interrupt()
        #expect(running.finish(timeout: 20).status == 0)
    }
}
