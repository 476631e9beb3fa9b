import Base
import Foundation
import TestCommands
import Testing

/// Runs that several threads deliver, killed, interrupted and resumed: report against ledger.
@Suite("many threads, every push accounted for", .serialized)
struct ManyThreadsFaultTests {
    private static let devices = FaultScale.isThorough ? 400_000 : 20_000

    @Test("killed, then interrupted, then to the end: nobody twice, nobody left out", arguments: ["skip", "resend"])
    func killed(policy: String) throws {
        for kill in 0..<max(1, FaultScale.kills / 10) {
            let server = try LedgeredServer(devices: Self.devices)
            try server.folder.writeCampaign(delivery: "unknown: \(policy)")
            let first = try VolleyBinary.start(
                ["send", "campaign.yaml", "--yes", "--quiet", "--threads", "6"], in: server.folder.url)
            waitForThreads(of: first)
            _ = first.finish(timeout: 0)
            let inDoubt = try server.tokens("unknown")
            #expect(
                try server.tokens("unsent").isDisjoint(with: server.acceptedSoFar()),
                "kill \(kill): accepted, and reported as unsent")
            let second = try VolleyBinary.start(["resume", "last", "--quiet", "--threads", "3"], in: server.folder.url)
            waitForThreads(of: second)
            second.interrupt()
            #expect([0, 1, 130].contains(second.finish().status))
            if try server.report()["state"]?.stringValue != "finished" {
                let last = try server.folder.volley("resume", "last", "--json", "--threads", "6", timeout: 300)
                #expect([0, 1].contains(last.status), "kill \(kill): \(last.errors)")
            }
            #expect(try server.report()["outcomes"]?.int("unsent") == 0)
            try server.expectAgreement(mayRepeat: policy == "skip" ? [] : inDoubt, "kill \(kill), \(policy)")
        }
    }

    /// Waits until a second thread delivers, which needs a core that is busy for half a second, or
    /// until the process had enough time for it.
    private func waitForThreads(of process: RunningVolley) {
        let folder = "/proc/\(process.processID)/task"
        for _ in 0..<150 where process.isRunning {
            let tasks = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let names = tasks.map { (try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8)) ?? "" }
            if names.count(where: { $0.hasPrefix("deliver") }) > 1 { break }
            usleep(20_000)
        }
        usleep(.random(in: 0...300_000))
    }
}
