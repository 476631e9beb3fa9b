import Base
import Foundation
import TestCommands
import Testing

/// A run that waits for its pace sleeps: no thread polls where a wake-up exists. Measured by how
/// often its threads gave up their core, as the kernel counts it.
@Suite("a run that waits", .serialized)
struct IdleTests {
    @Test("wakes a few times a second, whether it waits for its pace or is paused")
    func wakeUps() throws {
        let server = try LedgeredServer(app: "pace: 60/min", devices: 1000)
        try server.folder.writeCampaign()
        let running = try server.start(["send", "campaign.yaml", "--yes", "--json"])
        server.wait {
            server.answeredBytes > 0
        } orEndOf: {
            running
        }
        #expect(try wakeUpsPerSecond(of: running) < 100)
        #expect(try server.folder.volley("pause", "last").status == 0)
        #expect(try wakeUpsPerSecond(of: running) < 50)
        running.interrupt()
        #expect(running.finish().status == 130)
    }

    @Test(
        "volley schedule with nothing to do wakes less than twice a second",
        arguments: [[], ["--metrics", "127.0.0.1:0"]])
    func schedule(options: [String]) throws {
        let folder = try ProjectFolder()
        try folder.write(
            "later.yaml",
            "name: later\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: A, body: B}\n"
                + "schedule: {at: 2099-01-01 09:00, timezone: UTC}\n")
        let running = try VolleyBinary.start(["schedule", "."] + options, in: folder.url)
        while running.isRunning, !running.errorsSoFar.contains("later: next") { usleep(20_000) }
        // What is done once is over.
        usleep(3_000_000)
        #expect(try wakeUpsPerSecond(of: running, over: 10) < 2)
        running.interrupt()
        #expect(running.finish().status == 130)
    }

    /// For all threads.
    private func wakeUpsPerSecond(of running: RunningVolley, over seconds: UInt32 = 2) throws -> Double {
        let clock = ContinuousClock()
        let (before, start) = (try wakeUps(of: running), clock.now)
        usleep(seconds * 1_000_000)
        let after = try wakeUps(of: running)
        let count = after.reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) }
        return Double(count) / ((clock.now - start) / .seconds(1))
    }

    /// By thread.
    private func wakeUps(of running: RunningVolley) throws -> [String: Int] {
        let folder = "/proc/\(running.processID)/task"
        var counts: [String: Int] = [:]
        for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
            // A thread that has ended in the meantime no longer counts.
            guard let status = try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8) else {
                continue
            }
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            counts[thread] = line?.split(separator: "\t").last.flatMap { Int($0) }
        }
        return counts
    }
}
