import Base
import Foundation
import TestCommands
import Testing

/// The size of the fault tests: small among all tests, large in `make faults`.
enum FaultScale {
    /// Recipients of a campaign.
    static let recipients = number("VOLLEY_FAULT_RECIPIENTS", else: 1500)
    static let kills = number("VOLLEY_FAULT_KILLS", else: 3)
    /// Whether to run tests that wait for long time-outs, or measure time.
    static let isThorough = recipients > 10_000
    /// Only mixtures of faults whose name holds this; blank for all.
    static let mixture = ProcessInfo.processInfo.environment["VOLLEY_FAULT_MIXTURE"] ?? ""

    private static func number(_ variable: String, else usual: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init) ?? usual
    }
}

/// Each fault of the simulator, alone and all at once, over real sockets: afterwards the report is
/// compared with the simulator's ledger. `make faults` does the same with fifty thousand recipients
/// and two hundred kills.
@Suite("every push accounted for", .serialized)
struct FaultTests {
    private static let recipients = FaultScale.recipients
    private static let kills = FaultScale.kills

    struct Fault: CustomTestStringConvertible, Sendable {
        var name: String
        var options: [String]
        /// Whether answers may be lost, so that deliveries are in doubt.
        var losesAnswers = false
        var testDescription: String { name }
    }

    private static let faults: [Fault] = {
        let share = { (part: Int) in String(max(2, recipients / part)) }
        var faults = [
            Fault(name: "429", options: ["--too-many-requests-every", "7"]),
            Fault(name: "503", options: ["--unavailable-every", "11", "--retry-after", "1"]),
            Fault(name: "500", options: ["--internal-error-every", "13"]),
            Fault(name: "a stream is reset", options: ["--reset-every", "50"], losesAnswers: true),
            Fault(name: "a gateway answers", options: ["--gateway-every", "50"], losesAnswers: true),
            Fault(name: "answers before the payload was read", options: ["--early-answer-every", "3"]),
            Fault(name: "GOAWAY", options: ["--go-away-every", share(5)], losesAnswers: true),
            Fault(name: "the connection is cut", options: ["--disconnect-every", share(4)], losesAnswers: true),
            Fault(name: "the connection is dead", options: ["--silent-after", share(2)], losesAnswers: true),
            Fault(name: "few streams", options: ["--stream-limit", "3"]),
            Fault(name: "slow answers", options: ["--latency", "200"]),
        ]
        faults.append(
            Fault(
                name: "all at once",
                options: faults.filter { $0.name != "few streams" && $0.name != "slow answers" }.flatMap(\.options),
                losesAnswers: true))
        return faults
    }()

    /// The quick ones, unless more was requested: the others wait for time-outs.
    private static let chosen =
        FaultScale.isThorough
        ? faults : faults.filter { ["429", "a stream is reset", "GOAWAY", "the connection is cut"].contains($0.name) }

    /// The same over FCM, whose quota is for a minute and holds the whole run, and whose tokens end
    /// and are revoked.
    private static let faultsOfFCM =
        faults.filter { !["429", "all at once"].contains($0.name) } + [
            Fault(name: "a quota", options: ["--limit-per-minute", String(recipients * 2 / 3), "--retry-after", "5"]),
            Fault(name: "tokens end", options: ["--token-seconds", "2"]),
            Fault(name: "tokens are revoked", options: ["--messages-per-token", String(max(2, recipients / 3))]),
        ]

    private static let chosenOfFCM =
        FaultScale.isThorough
        ? faultsOfFCM : faultsOfFCM.filter { ["GOAWAY", "the connection is cut", "tokens end"].contains($0.name) }

    /// The same over Getui, which refuses with the status 200 and with 401 too, and recognizes
    /// repeated pushes.
    private static let faultsOfGetui =
        faults.filter { !["429", "all at once"].contains($0.name) } + [
            Fault(name: "tokens end", options: ["--token-seconds", "6"]),
            Fault(name: "tokens are revoked", options: ["--messages-per-token", "4"]),
        ]

    private static let chosenOfGetui =
        FaultScale.isThorough
        ? faultsOfGetui : faultsOfGetui.filter { ["a stream is reset", "the connection is cut"].contains($0.name) }

    /// The same over JPush and RongCloud, whose requests carry many devices: faults come after a
    /// few requests.
    private static let faultsOfCalls = [
        Fault(name: "429", options: ["--too-many-requests-every", "5", "--retry-after", "1"]),
        Fault(name: "503", options: ["--unavailable-every", "4", "--retry-after", "1"]),
        Fault(name: "500", options: ["--internal-error-every", "4"]),
        Fault(name: "a stream is reset", options: ["--reset-every", "4"], losesAnswers: true),
        Fault(name: "a gateway answers", options: ["--gateway-every", "4"], losesAnswers: true),
        Fault(name: "answers before the payload was read", options: ["--early-answer-every", "3"]),
        Fault(name: "GOAWAY", options: ["--go-away-every", "3"], losesAnswers: true),
        Fault(name: "the connection is cut", options: ["--disconnect-every", "4"], losesAnswers: true),
        Fault(name: "the connection is dead", options: ["--silent-after", "6"], losesAnswers: true),
        Fault(name: "slow answers", options: ["--latency", "200"]),
    ]

    private static let chosenOfCalls =
        FaultScale.isThorough
        ? faultsOfCalls
        : faultsOfCalls.filter { ["GOAWAY", "the connection is cut", "a gateway answers"].contains($0.name) }

    @Test(
        "over services whose requests carry many devices, report and ledger agree after",
        arguments: [LedgeredServer.Service.jpush, .rongcloud], chosenOfCalls)
    func agreeOverCalls(service: LedgeredServer.Service, fault: Fault) throws {
        // A run of JPush has few requests, so that they have fewer devices. RongCloud's app has
        // bought as many.
        try agree(fault, over: service, app: "pace: \(FaultScale.isThorough ? 5000 : 1000)/s", policies: ["skip"])
    }

    @Test("report and ledger agree after", arguments: chosen)
    func agree(fault: Fault) throws {
        try agree(fault, over: .apns, policies: fault.losesAnswers ? ["resend", "skip"] : ["skip"])
    }

    @Test("over FCM, report and ledger agree after", arguments: chosenOfFCM)
    func agreeOverFCM(fault: Fault) throws { try agree(fault, over: .fcm, policies: ["skip"]) }

    @Test("over Getui, report and ledger agree after, and nobody is left in the dark", arguments: chosenOfGetui)
    func agreeOverGetui(fault: Fault) throws { try agree(fault, over: .getui, policies: ["skip"]) }

    private func agree(_ fault: Fault, over service: LedgeredServer.Service, app: String = "", policies: [String])
        throws
    {
        for policy in policies {
            let server = try LedgeredServer(app: app, devices: Self.recipients, faults: fault.options, service: service)
            try server.folder.writeCampaign(delivery: "unknown: \(policy)")
            let sent = try server.folder.volley(
                "send", "campaign.yaml", "--yes", "--json", timeout: 600)
            let comment = Comment(rawValue: "\(fault.name), \(policy)")
            #expect([0, 1].contains(sent.status), "\(comment): \(sent.status) \(sent.errors)")
            let outcomes = try sent.json()["outcomes"]
            #expect(
                outcomes?.sum == Self.recipients && outcomes?.int("unsent") == 0, "\(comment): \(outcomes?.text ?? "")")
            if !fault.losesAnswers {
                // With very many pushes, some are refused at every attempt.
                let attempts = try server.lines("failed").map { String($0[8]) }
                #expect(
                    outcomes?.int("accepted") == Self.recipients - attempts.count, "\(comment): \(outcomes?.text ?? "")"
                )
                #expect(Set(attempts).isSubset(of: ["6"]), "\(comment): gave up after \(Set(attempts)) attempts")
            }
            try server.expectAgreement(mayRepeat: policy == "skip" ? [] : nil, comment)
        }
    }

    @Test(
        "a process that is killed at any moment, and whose resumption is killed or interrupted, leaves nobody out and nobody in the dark",
        arguments: LedgeredServer.Service.allCases)
    func killed(service: LedgeredServer.Service) throws {
        for kill in 0..<(service == .apns ? Self.kills : max(1, Self.kills / 4)) {
            let policy = kill % 2 == 0 ? "skip" : "resend"
            let server = try LedgeredServer(
                app: "pace: 4000/s", devices: 2000, faults: ["--latency", "20", "--stream-limit", "100"],
                service: service)
            try server.folder.writeCampaign(delivery: "unknown: \(policy)")
            var inDoubt: Set<String> = []
            var (connections, earlier) = (0, 0)
            for (epoch, command) in [["send", "campaign.yaml", "--yes"], ["resume", "last"]].enumerated() {
                let running = try VolleyBinary.start(command + ["--quiet"], in: server.folder.url)
                usleep(.random(in: 0...700_000))
                // Every other resumption ends cleanly.
                if epoch == 1, kill / 2 % 2 == 1 { running.interrupt() }
                _ = running.finish(timeout: epoch == 1 && kill / 2 % 2 == 1 ? 30 : 0)
                if server.folder.files(in: "runs").contains(where: { $0.hasSuffix(".sqlite") }) {
                    let unknown = try server.tokens("unknown")
                    // Pushes in flight (the capacity of this process's connections), those claimed
                    // ahead, and those sent in a fifth of a second.
                    let inFlight = 100 * max(1, try server.connections() - connections)
                    connections = try server.connections()
                    // Devices that the earlier process left unknown may still be unknown.
                    #expect(
                        unknown.count <= earlier + inFlight + 400 + 800 + 4 * service.requestSize,
                        "kill \(kill): \(unknown.count) of 2,000 are unknown, \(earlier) of them since before")
                    earlier = unknown.count
                    inDoubt.formUnion(unknown)
                    let accepted = server.acceptedSoFar()
                    #expect(
                        try server.tokens("unsent").isDisjoint(with: accepted),
                        "kill \(kill): accepted, and reported as unsent")
                }
            }
            guard server.hasRun else { continue }
            try server.finishRun("kill \(kill)")
            try server.expectAgreement(mayRepeat: policy == "skip" ? [] : inDoubt, "kill \(kill), \(policy)")
        }
    }

    @Test("a disk that is full stops the run; with room again it goes on", .enabled(if: Shell.canMount))
    func diskFull() throws {
        let server = try LedgeredServer(app: "pace: 2000/s", devices: 4000)
        try server.folder.writeCampaign()
        let runs = server.folder.url.appendingPathComponent("runs").path
        try FileManager.default.createDirectory(atPath: runs, withIntermediateDirectories: true)
        try Shell.run("mount -t tmpfs -o size=4m tmpfs '\(runs)'")
        defer { try? Shell.run("umount -l '\(runs)'") }
        let running = try server.startSending()
        try Shell.run("dd if=/dev/zero of='\(runs)/filler' bs=64k 2>/dev/null || true")
        let sent = running.finish()
        #expect(sent.status == 3 && sent.errors.contains("disk is full"), "\(sent.status) \(sent.errors)")
        try FileManager.default.removeItem(atPath: runs + "/filler")
        let inDoubt = try server.tokens("unknown")
        let resumed = try server.folder.volley("resume", "last", "--json")
        #expect(resumed.status == 0, "\(resumed.errors)")
        try server.expectAgreement(mayRepeat: inDoubt, "disk full")
    }

    @Test("on a disk that may only be read nothing is sent", .enabled(if: Shell.canMount))
    func readOnly() throws {
        let server = try LedgeredServer(devices: 50)
        try server.folder.writeCampaign()
        #expect(try server.folder.volley("plan", "campaign.yaml", "--quiet").status == 0)
        let runs = server.folder.url.appendingPathComponent("runs").path
        try Shell.run("mount --bind '\(runs)' '\(runs)' && mount -o remount,ro,bind '\(runs)'")
        defer { try? Shell.run("umount -l '\(runs)'") }
        let sent = try server.folder.volley("send", "--plan", "last", "--yes")
        #expect(sent.status == 2 && !sent.errors.isEmpty, "\(sent.status) \(sent.errors)")
        #expect(try server.accepted().isEmpty)
    }

    @Test(
        "a process that may open no more files waits, and goes on when it may", .enabled(if: Shell.hasTool("prlimit")))
    func outOfDescriptors() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000, faults: ["--disconnect-every", "700"])
        try server.folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending()
        try Shell.run("prlimit --pid \(running.processID) --nofile=10:")
        // Longer than 3,000 pushes would take.
        usleep(4_000_000)
        #expect(running.isRunning, "\(running.errorsSoFar)")
        try Shell.run("prlimit --pid \(running.processID) --nofile=1024:")
        let sent = running.finish()
        #expect([0, 1].contains(sent.status), "\(sent.status) \(sent.errors)")
        #expect(try sent.json()["outcomes"]?.int("unsent") == 0)
        try server.expectAgreement("out of descriptors")
    }
}
