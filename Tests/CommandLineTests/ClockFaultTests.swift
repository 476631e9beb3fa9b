import Base
import Foundation
import TestCommands
import Testing

/// The machine's clock is set during a run, over real sockets; the server's clock is right. Needs
/// libfaketime (`apt-get install libfaketime`; `make faults` installs it).
@Suite("the clock is set", .serialized)
struct ClockFaultTests {
    private static let library: String? = {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        return folders.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }.first {
            FileManager.default.fileExists(atPath: $0)
        }
    }()

    /// Data that libfaketime shares between consecutive programs of a process.
    private static func removeLeftovers(of process: Int32) {
        for name in ["faketime_shm_", "sem.faketime_sem_"] { unlink("/dev/shm/\(name)\(process)") }
    }

    @Test(
        "by an hour, back and forth: no push is refused, lost or doubled, and the pace is kept",
        .enabled(if: library != nil, "libfaketime is not installed: apt-get install libfaketime"))
    func stepped() throws {
        let recipients = FaultScale.recipients, pace = min(2500, recipients / 3)
        // Connections are cut, so that new ones are made while the clock is wrong.
        let server = try LedgeredServer(
            app: "pace: \(pace)/s", devices: recipients, faults: ["--disconnect-every", String(recipients / 4)])
        try server.folder.writeCampaign(delivery: "unknown: skip")
        let clock = server.folder.url.appendingPathComponent("clock")
        func set(_ offset: String) throws { try Data("\(offset)\n".utf8).write(to: clock, options: .atomic) }
        try set("+0")
        let running = try server.startSending(
            // libfaketime sets a variable of its environment, which hides its arguments from a
            // Swift program. The shell has it set before Volley begins.
            launcher: ["sh", "-ec", "exec \"$0\" \"$@\""],
            environment: [
                "LD_PRELOAD": try #require(Self.library), "FAKETIME_TIMESTAMP_FILE": clock.path,
                "FAKETIME_NO_CACHE": "1",
                // CLOCK_MONOTONIC and CLOCK_BOOTTIME are never set.
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            ])
        defer { Self.removeLeftovers(of: running.processID) }
        // Within the first half of the run, and never corrected.
        for step in 0...recipients / pace * 4 {
            try set(["-3600", "+3600", "+0"][step % 3])
            usleep(120_000)
        }
        try set("-3600")
        #expect(running.isRunning, "the run was over before the clock was set")
        let sent = running.finish()
        #expect([0, 1].contains(sent.status), "\(sent.status) \(sent.errors)")
        let report = try server.report()
        #expect(report["state"]?.stringValue == "finished")
        #expect(report["outcomes"]?.sum == recipients && report["outcomes"]?.int("unsent") == 0, "\(report.text)")
        try server.expectAgreement("clock stepped")
        let entries = try server.entries()
        // No provider token was refused as too old, too new, or one too many.
        #expect(entries.allSatisfy { $0.status == 200 }, "\(Set(entries.map(\.reason)))")
        #expect(Set(entries.map(\.connection)).count >= 4)
        // Half of the time that the pace requires: less than what remains after any delay of the
        // ledger's first line.
        let times = entries.map(\.milliseconds)
        #expect((times.max() ?? 0) - (times.min() ?? 0) >= recipients * 1000 / pace / 2)
        // By the machine's clock it ended before it began.
        #expect(report["rate"]?["mean_per_second"] == .null, "\(report.text)")
    }
}
