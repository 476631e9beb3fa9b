import Base
import Foundation
import TestCommands
import Testing

/// A new run for those whose pushes failed or whose answers were lost.
@Suite("volley retry")
struct RetryTests {
    @Test("sends again to those who are unknown and to nobody else; both reports show the chain")
    func unknown() throws {
        let server = try LedgeredServer(devices: 300, faults: ["--reset-every", "50"])
        try server.folder.writeCampaign(delivery: "unknown: skip")
        let sent = try server.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 1, "\(sent.errors)")
        let first = try sent.json()
        #expect(first["chain"] == nil)
        let unknown = try server.tokens("unknown")
        try #require(!unknown.isEmpty && unknown.count < 20)
        let id = try #require(first["run"]?.stringValue)

        let retried = try server.folder.volley("retry", id, "--json")
        #expect(retried.status == 0, "\(retried.errors)")
        #expect(retried.errors.contains("get it twice"))
        let second = try retried.json()
        #expect(second["retry_of"]?.stringValue == id && second.int("audience") == unknown.count)
        #expect(try server.tokens("accepted") == unknown)
        let chain = try server.folder.volley("report", id, "--format", "json").json()
        #expect(chain["retry_of"] == .null && chain["chain"] == second["chain"])
        guard case .array(let links)? = chain["chain"] else { throw Diagnostic("no chain") }
        #expect(links.map { $0.int("audience") } == [300, unknown.count])
        let text = try server.folder.volley("report", "last").output
        #expect(text.contains("Retry of") && text.contains("together"), "\(text)")
        #expect(text.contains("300 accepted of 300"), "\(text)")

        // Those are taken care of, and nobody else is unknown.
        let again = try server.folder.volley("retry", id, "--yes")
        #expect(again.status == 2 && again.errors.contains("volley retry"), "\(again.errors)")
        let nobody = try server.folder.volley("retry", "last", "--yes")
        #expect(nobody.status == 2 && nobody.errors.contains("no device of this run is failed or unknown"), "\(nobody.errors)")
        let accepted = try server.accepted()
        #expect(accepted.count == 300 && Set(accepted.filter { $0.value.count > 1 }.keys).isSubset(of: unknown))
    }

    @Test("a run that can be resumed is not retried, and one that was cancelled and retried is not resumed")
    func resumedOrRetried() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        try server.folder.writeCampaign()
        let running = try server.startSending()
        #expect(try server.folder.volley("retry", "last", "--yes").errors.contains("not over"))
        running.interrupt()
        _ = running.finish()
        let id = try #require(try server.report()["run"]?.stringValue)
        let stopped = try server.folder.volley("retry", id, "--outcome", "unsent", "--yes")
        #expect(stopped.status == 2 && stopped.errors.contains("volley resume \(id)"), "\(stopped.errors)")
        #expect(stopped.errors.contains("then `volley retry \(id) --outcome unsent` sends to the rest"), "\(stopped.errors)")
        #expect(try server.folder.volley("cancel", id).status == 0)
        #expect(try server.folder.volley("retry", id, "--outcome", "unsent", "--yes", "--quiet").status == 0)
        let resumed = try server.folder.volley("resume", id)
        #expect(resumed.status == 2 && resumed.errors.contains("retried"), "\(resumed.errors)")
        let accepted = try server.accepted()
        #expect(accepted.count == 3000 && accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test("outcomes that are never sent to again are refused, misspelt ones with the nearest name")
    func wrongOutcomes() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        for (outcome, words) in [
            ("accepted", "not sent to again"), ("invalid_token", "not sent to again"), ("faild", "Did you mean 'failed'?"),
        ] {
            let result = try folder.volley("retry", "last", "--outcome", outcome, "--yes")
            #expect(result.status == 2 && result.errors.contains(words), "\(result.errors)")
        }
        #expect(folder.files(in: "runs").filter { $0.hasSuffix(".sqlite") }.count == 1)
    }
}
