import Base
import Foundation
import TestCommands
import Testing

/// The network to the server fails and recovers, over real sockets; afterwards report and ledger
/// must agree.
@Suite("the network fails, and comes back", .serialized)
struct NetworkFaultTests {
    private static let policies = FaultScale.isThorough ? ["skip", "resend"] : ["skip"]
    private static let needsFiles: Comment = "needs root, and `unshare -m`"
    private static let needsNetwork: Comment = "needs root, `unshare -n`, and tc of iproute2"
    private static let recipients = FaultScale.recipients
    /// Slow enough that a run lasts for some seconds.
    private static let pushesPerSecond = min(5000, recipients / 2)
    /// After five seconds without a sign of life a connection is tested with a ping, and after ten
    /// more it is dead.
    private static let longestSilence = Duration.seconds(16)
    private static let pace = "pace: \(pushesPerSecond)/s"

    /// A run in progress that has got some answers, and waits for others.
    private struct Run {
        let server: LedgeredServer
        let running: RunningVolley
    }

    private func begin(
        unknown: String = "skip", place: LedgeredServer.Place = .here, faults: [String] = ["--latency", "50"]
    ) throws -> Run {
        let server = try LedgeredServer(app: Self.pace, devices: Self.recipients, faults: faults, place: place)
        try server.folder.writeCampaign(delivery: "unknown: \(unknown)")
        return Run(server: server, running: try server.startSending())
    }

    /// Waits for the run's end, after which no device may be missing.
    private func finish(_ running: RunningVolley, _ server: LedgeredServer, unknown: String, _ comment: Comment) throws
        -> JSONValue
    {
        let sent = running.finish(timeout: 300)
        #expect([0, 1].contains(sent.status), "\(comment): \(sent.status) \(sent.errors)")
        let report = try server.report()
        #expect(report["state"]?.stringValue == "finished", comment)
        #expect(
            report["outcomes"]?.sum == Self.recipients && report["outcomes"]?.int("unsent") == 0,
            "\(comment): \(report.text)")
        try server.expectAgreement(mayRepeat: unknown == "skip" ? [] : nil, comment)
        return report
    }

    /// Lets three seconds pass, in which no push is answered.
    private func waitIdle(_ running: RunningVolley, _ server: LedgeredServer) {
        let answered = server.answeredBytes
        usleep(3_000_000)
        #expect(running.isRunning, "\(running.errorsSoFar)")
        // Earlier answers reach the ledger a moment later.
        #expect(server.answeredBytes - answered < 300 * Self.pushesPerSecond)
    }

    // MARK: Names

    @Test("a name that nobody knows at first is asked for again", .enabled(if: Shell.canHideFiles, needsFiles))
    func nameUnknownAtFirst() throws {
        let server = try LedgeredServer(devices: Self.recipients, name: LedgeredServer.hostName)
        try server.folder.writeCampaign(delivery: "unknown: skip")
        let names = try KnownNames(in: server.folder)
        let running = try server.start(launcher: names.launcher)
        server.wait {
            names.wereRead
        } orEndOf: {
            running
        }
        #expect(running.isRunning && names.wereRead, "\(running.errorsSoFar)")
        try names.add(LedgeredServer.hostName)
        let report = try finish(running, server, unknown: "skip", "name unknown at first")
        #expect(report["outcomes"]?.int("accepted") == Self.recipients)
    }

    /// libcurl 7.88 alone takes up to half of the time for a connection to notice the third
    /// address, once for each connection.
    @Test(
        "a name whose first two addresses refuse is reached at the third, at once",
        .enabled(if: Shell.canHideFiles, needsFiles))
    func thirdAddress() throws {
        let bench = try JPushCampaignTests.Bench(devices: 3)
        let names = try KnownNames(in: bench.folder)
        try names.add("localhost", at: ["127.0.0.2", "127.0.0.3", "127.0.0.1"])
        let start = Date()
        let sent = try VolleyBinary.start(
            ["send", "campaign.yaml", "--yes", "--json"], in: bench.folder.url, launcher: names.launcher
        ).finish(timeout: 60)
        #expect(sent.status == 0, "\(sent)")
        #expect(Date().timeIntervalSince(start) < 4, "\(sent)")
    }

    @Test(
        "a name that is forgotten while the connection is lost is waited for",
        .enabled(if: Shell.canHideFiles, needsFiles))
    func nameForgotten() throws {
        let server = try LedgeredServer(
            app: Self.pace, devices: Self.recipients, faults: ["--disconnect-every", String(Self.recipients / 3)],
            name: LedgeredServer.hostName)
        try server.folder.writeCampaign(delivery: "unknown: skip")
        let names = try KnownNames(in: server.folder)
        try names.add(LedgeredServer.hostName)
        let running = try server.startSending(launcher: names.launcher)
        try names.forget()
        server.wait {
            names.wereRead
        } orEndOf: {
            running
        }
        #expect(running.isRunning && names.wereRead, "\(running.errorsSoFar)")
        waitIdle(running, server)
        try names.add(LedgeredServer.hostName)
        _ = try finish(running, server, unknown: "skip", "name forgotten")
    }

    // MARK: The server

    @Test("a server that is started anew gets the rest", arguments: policies)
    func restarted(unknown: String) throws {
        let run = try begin(unknown: unknown)
        run.server.stop()
        // Long enough for connection attempts that are refused.
        usleep(1_000_000)
        #expect(run.running.isRunning, "\(run.running.errorsSoFar)")
        try run.server.start()
        _ = try finish(run.running, run.server, unknown: unknown, "restarted, \(unknown)")
        #expect(run.server.answeredBytes > 0, "the second server got nothing")
    }

    // MARK: Silence

    @Test(
        "a network that drops everything for some seconds costs time and nothing else",
        .enabled(if: Shell.canHideNetwork, needsNetwork))
    func silentForAWhile() throws {
        let run = try begin(place: .ownNetwork)
        try run.server.silence(true)
        // Shorter than any time-out.
        waitIdle(run.running, run.server)
        try run.server.silence(false)
        let report = try finish(run.running, run.server, unknown: "skip", "silent for a while")
        #expect(report["outcomes"]?.int("accepted") == Self.recipients, "\(report.text)")
    }

    @Test(
        "a connection over which nothing comes any more is replaced, and what was in flight is in doubt",
        .enabled(if: Shell.canHideNetwork, needsNetwork), arguments: policies)
    func silentForLong(unknown: String) throws {
        let run = try begin(unknown: unknown, place: .ownNetwork)
        try run.server.silence(true)
        // Noted at the moment when it was seen: an attempt that ends is followed by a pause. An
        // attempt before the connection can count as dead is one more.
        let start = ContinuousClock.now
        var isReplaced = false
        run.server.wait {
            isReplaced =
                ContinuousClock.now - start > Self.longestSilence && ((try? run.server.isAwaitingConnection()) ?? false)
            return isReplaced
        } orEndOf: {
            run.running
        }
        #expect(isReplaced, "\(run.running.errorsSoFar)")
        try run.server.silence(false)
        let report = try finish(run.running, run.server, unknown: unknown, "silent for long, \(unknown)")
        if unknown == "skip" { #expect((report["outcomes"]?.int("unknown") ?? 0) > 0, "\(report.text)") }
    }

    @Test(
        "a run that is interrupted while the network is silent ends, and goes on later",
        .enabled(if: Shell.canHideNetwork, needsNetwork))
    func interruptedInSilence() throws {
        let run = try begin(place: .ownNetwork)
        try run.server.silence(true)
        run.running.interrupt()
        let sent = run.running.finish(timeout: 60)
        #expect(sent.status == 130, "\(sent.errors)")
        let outcomes = try run.server.report()["outcomes"]
        #expect((outcomes?.int("unknown") ?? 0) > 0 && (outcomes?.int("unsent") ?? 0) > 0, "\(outcomes?.text ?? "")")
        try run.server.silence(false)
        let resumed = try run.server.start(["resume", "last", "--json"])
        _ = try finish(resumed, run.server, unknown: "skip", "interrupted in silence")
    }

    /// Five attempts of ten seconds each.
    @Test(
        "a run that never gets through gives up, and is resumed",
        .enabled(if: Shell.canHideNetwork && FaultScale.isThorough, "only in `make faults`, as root"))
    func silentFromTheBeginning() throws {
        let server = try LedgeredServer(devices: Self.recipients, place: .ownNetwork)
        try server.folder.writeCampaign(delivery: "unknown: skip")
        try server.silence(true)
        let sent = try server.start().finish(timeout: 300)
        #expect(sent.status == 3 && sent.errors.contains("attempts to reach"), "\(sent.status) \(sent.errors)")
        #expect(try server.report()["outcomes"]?.int("unsent") == Self.recipients)
        try server.silence(false)
        let report = try finish(
            try server.start(["resume", "last", "--json"]), server, unknown: "skip",
            "silent from the beginning")
        #expect(report["outcomes"]?.int("accepted") == Self.recipients)
    }
}
