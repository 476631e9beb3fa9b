import Base
import Foundation
import TestCommands
import Testing

/// Runs that do not complete at once: report and ledger must still agree afterwards.
@Suite("resume, pause and cancel")
struct ResumeTests {
    private static let devices = 3000

    private func server(delivery: String? = nil, faults: [String] = []) throws -> LedgeredServer {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: Self.devices, faults: faults)
        try server.folder.writeCampaign(delivery: delivery)
        return server
    }

    /// Kills a run while answers are outstanding; returns its report.
    private func kill(_ server: LedgeredServer) throws -> JSONValue {
        _ = try server.startSending().finish(timeout: 0)
        let report = try server.report()
        #expect(report["state"]?.stringValue == "stopped")
        #expect((report["outcomes"]?.int("unsent") ?? 0) > 0, "the run was over before it was killed: \(report.text)")
        return report
    }

    @Test("a killed run goes on: nobody is left out, and twice only who was unknown, under the same apns-id")
    func killed() throws {
        let server = try server(faults: ["--latency", "30"])
        _ = try kill(server)
        let unknown = try server.tokens("unknown")
        let resumed = try server.folder.volley("resume", "last", "--json")
        #expect(resumed.status == 0, "\(resumed.errors)")
        if !unknown.isEmpty {
            #expect(resumed.errors.contains("sent again under the same apns-id"), "\(resumed.errors)")
        }
        #expect(try resumed.json()["outcomes"]?.int("accepted") == Self.devices)
        #expect(try resumed.json()["state"]?.stringValue == "finished")
        let accepted = try server.accepted()
        #expect(accepted.count == Self.devices)
        let twice = accepted.filter { $0.value.count > 1 }
        #expect(Set(twice.keys).isSubset(of: unknown), "\(twice.count) of \(unknown.count) unknown")
        #expect(twice.allSatisfy { Set($0.value).count == 1 })
    }

    @Test("with `unknown: skip` a killed run reaches nobody twice, and says who is unknown")
    func killedWithSkip() throws {
        let server = try server(delivery: "unknown: skip", faults: ["--latency", "30"])
        _ = try kill(server)
        let unknown = try server.tokens("unknown")
        let resumed = try server.folder.volley("resume", "last", "--json")
        #expect(resumed.status == (unknown.isEmpty ? 0 : 1), "\(resumed.errors)")
        #expect(try server.tokens("unknown") == unknown)
        let reported = try server.tokens("accepted")
        #expect(reported.count + unknown.count == Self.devices)
        let accepted = try server.accepted()
        #expect(accepted.allSatisfy { $0.value.count == 1 })
        #expect(
            Set(accepted.keys).isSuperset(of: reported)
                && Set(accepted.keys).subtracting(reported).isSubset(of: unknown))
    }

    @Test("an interrupted run goes on where it was left, and nobody gets it twice")
    func interrupted() throws {
        let server = try server()
        let running = try server.startSending()
        running.interrupt()
        #expect(running.finish().status == 130)
        #expect((try server.report()["outcomes"]?.int("unsent") ?? 0) > 0)
        let resumed = try server.folder.volley("resume", "last", "--json")
        #expect(resumed.status == 0, "\(resumed.errors)")
        let accepted = try server.accepted()
        #expect(accepted.count == Self.devices && accepted.allSatisfy { $0.value.count == 1 })
        let again = try server.folder.volley("resume", "last")
        #expect(again.status == 2 && again.errors.contains("finished"))
    }

    @Test("a paused run waits in its process, and goes on when another terminal says so")
    func paused() throws {
        let server = try server()
        let running = try server.startSending()
        let paused = try server.folder.volley("pause", "last", "--json")
        #expect(paused.status == 0, "\(paused.errors)")
        #expect(try paused.json()["state"]?.stringValue == "paused")
        server.wait {
            running.errorsSoFar.contains("Paused")
        } orEndOf: {
            running
        }
        let report = try server.report()
        #expect(report["state"]?.stringValue == "paused")
        #expect(report["outcomes"]?.int("unknown") == 0 && (report["outcomes"]?.int("unsent") ?? 0) > 0)
        #expect(try server.folder.volley("pause", "last").status == 2)
        let resumed = try server.folder.volley("resume", "last")
        #expect(
            resumed.status == 0 && resumed.output.contains("continues in the process that paused it"),
            "\(resumed.errors)")
        let sent = running.finish()
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try sent.json()["outcomes"]?.int("accepted") == Self.devices)
        let accepted = try server.accepted()
        #expect(accepted.count == Self.devices && accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test("a paused run whose process is ended is resumed by another")
    func pausedAndGone() throws {
        let server = try server()
        let running = try server.startSending()
        #expect(try server.folder.volley("pause", "last").status == 0)
        server.wait {
            running.errorsSoFar.contains("Paused")
        } orEndOf: {
            running
        }
        #expect(running.finish(timeout: 0).status != 0)
        #expect(try server.report()["state"]?.stringValue == "paused")
        #expect(try server.folder.volley("resume", "last", "--quiet").status == 0)
        let accepted = try server.accepted()
        #expect(accepted.count == Self.devices && accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test("a cancelled run ends in good order with 3; a second process can neither resume nor send it meanwhile")
    func cancelled() throws {
        let server = try server()
        let running = try server.startSending()
        let second = try server.folder.volley("resume", "last")
        #expect(
            second.status == 2 && second.errors.contains("another volley process is sending this run"),
            "\(second.errors)")
        #expect(try server.folder.volley("cancel", "last").status == 0)
        let sent = running.finish()
        #expect(sent.status == 3, "\(sent.errors)")
        let report = try server.report()
        #expect(report["state"]?.stringValue == "cancelled")
        #expect(report["outcomes"]?.int("unknown") == 0 && report["outcomes"]?.sum == Self.devices)
        #expect(try server.folder.volley("cancel", "last").status == 2)
        let accepted = try server.accepted()
        #expect(accepted.count == report["outcomes"]?.int("accepted") && accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test(
        "a run is paused and cancelled whatever mistake volley.yaml has; one that hides where runs are is got around with --runs"
    )
    func mistakenProject() throws {
        let server = try server(), folder = server.folder
        let running = try server.startSending()
        let right = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", right + "bogus: 1\n")
        #expect(try folder.volley("report", "last").status == 2)
        let paused = try folder.volley("pause", "last")
        #expect(paused.status == 0, "\(paused)")
        try folder.write("volley.yaml", right + "bogus: [\n")
        let refused = try folder.volley("cancel", "last")
        #expect(refused.status == 2 && refused.errors.contains("--runs FOLDER"), "\(refused)")
        let cancelled = try folder.volley("cancel", "last", "--runs", "runs")
        #expect(cancelled.status == 0 && cancelled.output.contains("nothing more of it is sent"), "\(cancelled)")
        #expect(running.finish().status == 3)
    }

    @Test("a plan that nobody wants is cancelled, and says how to send it before")
    func cancelledPlan() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let resumed = try folder.volley("resume", "last")
        #expect(resumed.status == 2 && resumed.errors.contains("volley send --plan"), "\(resumed.errors)")
        #expect(try folder.volley("pause", "last").status == 2)
        let cancelled = try folder.volley("cancel", "last")
        #expect(cancelled.status == 0 && cancelled.output.contains("cancelled"))
        #expect(try folder.volley("report", "last", "--format", "json").json()["state"]?.stringValue == "cancelled")
        #expect(try folder.volley("send", "--plan", "last", "--yes").status == 2)
    }

    @Test(
        "what is asked for while an interrupted run waits for its last answers counts", arguments: ["cancel", "pause"])
    func askedWhileDraining(word: String) throws {
        let server = try server(faults: ["--latency", "9000"])
        let running = try server.startSending()
        running.interrupt()
        usleep(200_000)
        let asked = try server.folder.volley(word, "last")
        #expect(asked.status == 0, "\(asked.errors)")
        _ = running.finish()
        #expect(try server.report()["state"]?.stringValue == (word == "cancel" ? "cancelled" : "paused"))
    }

    @Test("a run whose file was damaged is not resumed")
    func damaged() throws {
        let server = try server()
        _ = try kill(server)
        let name = try #require(server.folder.files(in: "runs").first { $0.hasSuffix(".sqlite") })
        // Merges what the killed process left next to the file.
        #expect(try server.folder.volley("cancel", "last").status == 0)
        let file = server.folder.url.appendingPathComponent("runs/\(name)")
        var bytes = try Data(contentsOf: file)
        for page in stride(from: 4096 * 8, to: bytes.count - 4096, by: 4096) {
            bytes.replaceSubrange(page..<page + 64, with: Data(count: 64))
        }
        try bytes.write(to: file)
        let resumed = try server.folder.volley("resume", "runs/\(name)")
        #expect(resumed.status == 2 && resumed.errors.contains("damaged"), "\(resumed.errors)")
    }

    @Test("a run whose file is removed stops, for nothing could be recorded any more")
    func removed() throws {
        let server = try server()
        let running = try server.startSending()
        for name in server.folder.files(in: "runs") {
            try FileManager.default.removeItem(at: server.folder.url.appendingPathComponent("runs/\(name)"))
        }
        let sent = running.finish()
        #expect(sent.status == 3 && sent.errors.contains("was removed"), "\(sent.status) \(sent.errors)")
        #expect(try server.accepted().count < Self.devices)
    }

    @Test("a run that goes on agrees with the ledger of the built-in simulator, which knows this process alone")
    func builtInSimulator() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 100/s", export: ProjectFolder.export(devices: 400))
        try folder.writeCampaign()
        let running = try VolleyBinary.start(["send", "campaign.yaml", "--yes"], in: folder.url)
        func accepted() throws -> Int {
            let report = try folder.volley("report", "last", "--format", "json")
            return report.status == 0 ? try report.json()["outcomes"]?.int("accepted") ?? 0 : 0
        }
        while running.isRunning, try accepted() == 0 { usleep(50_000) }
        running.interrupt()
        #expect(running.finish().status == 130)
        let before = try accepted()
        #expect((1..<400).contains(before))
        let resumed = try folder.volley("resume", "last")
        #expect(
            resumed.status == 0 && resumed.errors.contains("\(400 - before) devices accepted; the report agrees"),
            "\(resumed)")
    }
}
