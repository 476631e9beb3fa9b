import Base
import Foundation
import TestCommands
import Testing

/// What the gate says about a run that was retried if links of the chain are missing, and about
/// another retry.
@Suite("the gate's remedies: chains of retries")
struct GateChainTests: GateTesting {
    /// A run that was interrupted in the middle and cancelled, and the server that it sends to,
    /// which is slow enough for three runs to be interrupted one after the other.
    private func cancelled() throws -> (server: LedgeredServer, run: String) {
        let server = try LedgeredServer(app: "pace: 500/s", devices: 3000)
        try server.folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending()
        running.interrupt()
        #expect(running.finish().status == 130)
        #expect(try server.folder.volley("cancel", "last").status == 0)
        return (server, try #require(runs(server.folder).first))
    }

    /// Retries a run's unsent devices, interrupts the retry in the middle, and cancels it if it
    /// will be retried itself.
    private func retry(_ run: String, _ server: LedgeredServer, cancels: Bool) throws -> String {
        let folder = server.folder
        let (known, before) = (Set(runs(folder)), server.answeredBytes)
        let running = try server.start(["retry", run, "--outcome", "unsent", "--yes", "--quiet"])
        server.wait {
            server.answeredBytes > before + 10_000
        } orEndOf: {
            running
        }
        running.interrupt()
        #expect(running.finish().status == 130)
        let retry = try #require(runs(folder).first { !known.contains($0) })
        if cancels { #expect(try folder.volley("cancel", retry).status == 0) }
        return retry
    }

    /// A run, its retry, and the retry of that retry, which is still running.
    private func chain() throws -> (server: LedgeredServer, runs: [String]) {
        let (server, first) = try cancelled()
        let second = try retry(first, server, cancels: true)
        return (server, [first, second, try retry(second, server, cancels: false)])
    }

    /// Tries to resume with another key, which is refused, and reverts the change.
    private func refusedResumption(_ folder: ProjectFolder, _ run: String) throws -> String {
        try Shell.run("cd '\(folder.url.path)'; sed -i s/SIMULATOR1/SIMULATOR2/g volley.yaml")
        defer { try? Shell.run("cd '\(folder.url.path)'; sed -i s/SIMULATOR2/SIMULATOR1/g volley.yaml") }
        return try expectRefusal(folder, ["resume", run], saying: "this file was changed")
    }

    @Test(
        "all links are named when the clock was set back between them, and who follows the remedy reaches everybody once",
        .enabled(if: hasPython))
    func clockSetBack() throws {
        let (server, links) = try chain()
        let folder = server.folder
        try folder.editRun("UPDATE run SET planned_at = planned_at + 3600000", id: links[1])
        let refusal = try refusedResumption(folder, links[2])
        for link in links { #expect(refusal.contains("`volley report \(link) --format csv"), "\(refusal)") }
        guard case .array(let shown)? = try folder.volley("report", links[2], "--format", "json").json()["chain"] else {
            throw Diagnostic("the report shows no chain")
        }
        #expect(shown.compactMap { $0["run"]?.stringValue } == links)
        try excludeReached(folder, as: refusal)
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        try expectEverybodyOnce(server)
    }

    @Test(
        "a link whose file is away, damaged or pruned is named, and no list that lacks those whom it reached",
        arguments: ["mv RUN.sqlite ..", "head -c 5000 RUN.sqlite > x; mv x RUN.sqlite"])
    func missingLink(loss: String) throws {
        let (server, links) = try chain()
        let folder = server.folder
        for link in links.prefix(2) {
            try Shell.run(
                "cd '\(folder.url.path)/runs'; cp \(link).sqlite ../kept; \(loss.replacing("RUN", with: link))")
            let refusal = try refusedResumption(folder, links[2])
            #expect(refusal.contains("it is not known which devices \(link) reached: its file "), "\(refusal)")
            #expect(!refusal.contains("exclude:"), "\(refusal)")
            try Shell.run("cd '\(folder.url.path)/runs'; cp ../kept \(link).sqlite")
        }
        sleep(2)
        let pruned = try folder.volley("prune", "--keep", "1s", "--yes")
        for link in links.prefix(2) {
            #expect(pruned.output.contains("\(link)  a retry of it is not over"), "\(pruned.output)")
        }
        #expect(try folder.volley("prune", "--keep", "1s", "--yes", "--include-stopped").status == 0)
        #expect(try folder.volley("report", links[0], "--format", "csv").status == 2)
    }

    @Test("while a retry is being sent no list is offered: it would be one of that moment")
    func linkUnderway() throws {
        let (server, first) = try cancelled()
        let folder = server.folder
        let running = try server.start(["retry", first, "--outcome", "unsent", "--yes", "--quiet"])
        // The server may be late to write what it answered to the first run.
        server.wait {
            runs(folder).contains { $0 != first && folder.files(in: "runs").contains("\($0).sqlite.claimed") }
        } orEndOf: {
            running
        }
        let retry = try #require(runs(folder).first { $0 != first })
        #expect(try folder.volley("pause", retry).status == 0)
        let refusal = try refusedResumption(folder, first)
        #expect(
            refusal.contains(
                "once \(retry), which is still being sent, is over (`volley report \(retry)` shows its progress, `volley cancel \(retry)` ends it)"
            ), "\(refusal)")
        #expect(!refusal.contains("exclude:"), "\(refusal)")
        #expect(try folder.volley("cancel", retry).status == 0)
        _ = running.finish()
        let afterwards = try refusedResumption(folder, first)
        try excludeReached(folder, as: afterwards)
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        try expectEverybodyOnce(server)
    }

    @Test("another retry is for those whom the one was for that was given up, not for those who may have got it")
    func retryGivenUp() throws {
        let (server, first) = try cancelled()
        let folder = server.folder
        let project = try demandApproval(folder)
        #expect(try folder.volley("retry", first, "--outcome", "unsent,rejected", "--yes").status == 2)
        let retry = try #require(runs(folder).first { $0 != first })
        #expect(try folder.volley("cancel", retry).status == 0)
        try folder.write("volley.yaml", project)
        let said = "`volley retry \(first) --outcome rejected,unsent` plans another retry"
        try expectRefusal(folder, ["resume", retry], saying: said)
        try expectRefusal(folder, ["retry", retry, "--yes"], saying: said)
        try expectRefusal(folder, ["send", "--plan", retry, "--yes"], saying: said)
        #expect(try folder.volley("retry", first, "--outcome", "rejected,unsent", "--yes", "--quiet").status == 0)
        try expectEverybodyOnce(server)
    }
}
