import Base
import Cryptography
import Foundation
import TestCommands
import Testing

/// A simulator in a separate process that outlives its senders, and the project folder that points
/// to it.
final class LedgeredServer {
    /// Where server and sender run.
    enum Place {
        /// Where everything else runs.
        case here
        /// On a separate network, which `isSilent` cuts.
        case ownNetwork
    }

    /// The service that the simulator simulates.
    enum Service: String, CaseIterable, Sendable {
        case apns, fcm, getui, jpush, rongcloud

        /// The target of a number.
        fileprivate func token(_ device: Int) -> String {
            switch self {
            case .apns: ProjectFolder.token(device)
            case .fcm: FCMCampaignTests.Bench.token(device)
            case .getui: GetuiCampaignTests.Bench.cid(device)
            case .jpush: JPushCampaignTests.Bench.id(device)
            case .rongcloud: "user_\(device)"
            }
        }

        /// The lines of an app whose credential is in a file.
        fileprivate func lines(_ file: String) -> [String] {
            switch self {
            case .apns: ["key: {file: \(file), id: SIMULATOR1, team: VOLLEYTEAM}"]
            case .fcm: ["service: fcm", "project: volley-simulator", "service_account: {file: \(file)}"]
            case .getui:
                [
                    "service: getui", "app_id: SimulatorAppId00000000", "app_key: SimulatorAppKey0000000",
                    "master_secret: {file: \(file)}",
                ]
            case .jpush: ["service: jpush", "app_key: 0123456789abcdef01234567", "master_secret: {file: \(file)}"]
            case .rongcloud: ["service: rongcloud", "app_key: volleysimulator", "app_secret: {file: \(file)}"]
            }
        }

        /// The names of a ledger's members for a device, for the id of a push, and for a refusal's
        /// reason.
        fileprivate var names: (target: String, id: String, reason: String) {
            switch self {
            case .apns: ("token", "apns_id", "reason")
            case .fcm: ("target", "name", "error_code")
            case .getui: ("target", "request_id", "code")
            case .jpush: ("target", "msg_id", "code")
            case .rongcloud: ("target", "id", "code")
            }
        }

        /// What its simulator needs so that a test does not take hours: RongCloud takes a hundred
        /// users a second.
        fileprivate var options: [String] { self == .rongcloud ? ["--limit-per-minute", "600000"] : [] }

        /// Whether a repeated push carries the id of the first.
        fileprivate var namesPushes: Bool { ![.fcm, .rongcloud].contains(self) }

        /// How many devices a request carries at most.
        var requestSize: Int {
            switch self {
            case .apns, .fcm: 1
            case .getui: 200
            case .jpush: 1000
            case .rongcloud: 100
            }
        }
    }

    let folder: ProjectFolder
    private let place: Place
    private let service: Service
    /// Options of `volley simulate`, used from the next start on.
    var faults: [String]
    private var port = 0
    private var simulator: RunningVolley?
    /// Files of this simulator and of earlier ones.
    private var ledgers: [String] = []

    /// The server's name in `certificate.pem`: one that no machine has.
    static let hostName = "apns.test"

    /// - Parameters:
    ///   - app: further lines below the app in volley.yaml.
    ///   - faults: options of `volley simulate`.
    ///   - place: where server and senders run.
    ///   - name: what senders call the server; a name other than `localhost` must be made known to
    ///     them.
    init(
        app: String = "", devices: Int, faults: [String] = [], place: Place = .here, name: String = "localhost",
        service: Service = .apns
    ) throws {
        folder = try ProjectFolder(
            export: service == .apns
                ? ProjectFolder.export(devices: devices)
                : "device_token\n" + (0..<devices).map { service.token($0) + "\n" }.joined())
        self.place = place
        self.service = service
        self.faults = faults
        let certificate = CertificateAuthority(commonName: "Tests").issueServerCertificate(
            names: [name], addresses: ["127.0.0.1", "::1"])
        try folder.write("certificate.pem", certificate.pem)
        let server = try start()
        let url = try #require(server["url"]?.stringValue), key = try #require(server["key"]?.stringValue)
        port = try #require(server.int("port"))
        #expect(url == "https://\(name):\(port)")
        let environment = "environment: {url: \"\(url)\", ca: simulator-ca.pem}"
        if service == .apns {
            try folder.writeProject(app: (service.lines(key) + [environment, app]).joined(separator: "\n"))
        } else {
            let lines =
                service.lines(key) + [environment, "columns: {token: device_token}"]
                + app.split(separator: "\n").map(String.init)
            try folder.write("volley.yaml", "runs: runs\napps:\n  shop:\n" + lines.map { "    \($0)\n" }.joined())
        }
    }

    deinit { _ = simulator?.finish(timeout: 0) }

    // MARK: The server

    /// Starts a simulator with a separate ledger; returns what it prints about itself.
    @discardableResult
    func start() throws -> JSONValue {
        ledgers.append("ledger-\(ledgers.count).jsonl")
        let running = try VolleyBinary.start(
            [
                "simulate", "--service", service.rawValue, "--port", String(port), "--ledger",
                ledgers[ledgers.count - 1], "--certificate",
                "certificate.pem", "--json",
            ]
                + ["--for", VolleyBinary.simulatorSeconds] + service.options + faults, in: folder.url,
            launcher: place == .ownNetwork
                ? ["unshare", "-n", "sh", "-ec", "ip link set lo up; exec \"$0\" \"$@\""] : [])
        simulator = running
        while running.isRunning, !running.outputSoFar.hasSuffix("}\n") { usleep(20_000) }
        return try JSONValue(parsing: running.outputSoFar)
    }

    /// Ends the simulator, which closes its connections cleanly and completes its ledger.
    func stop() {
        guard let running = simulator else { return }
        simulator = nil
        running.interrupt()
        #expect(running.finish().status == 0)
    }

    /// Stops the server's process, which keeps its sockets, or has it continue.
    func holdStill(_ isStill: Bool) throws { kill(try #require(simulator).processID, isStill ? SIGSTOP : SIGCONT) }

    /// Starts or stops dropping every packet.
    func silence(_ isSilent: Bool) throws {
        let network = try launcher().joined(separator: " ")
        try Shell.run("\(network) tc qdisc \(isSilent ? "replace dev lo root pfifo limit 0" : "del dev lo root")")
    }

    /// Whether a connection attempt gets no answer.
    func isAwaitingConnection() throws -> Bool {
        let process = try #require(simulator).processID
        let sockets = ["tcp", "tcp6"].map {
            (try? String(contentsOfFile: "/proc/\(process)/net/\($0)", encoding: .utf8)) ?? ""
        }
        // The fourth column is the state; 02 is SYN_SENT.
        return sockets.contains {
            $0.split(separator: "\n").contains { $0.split(separator: " ").dropFirst(3).first == "02" }
        }
    }

    /// The command that starts a program in the server's place.
    private func launcher() throws -> [String] {
        place == .here ? [] : ["nsenter", "-t", String(try #require(simulator).processID), "-n"]
    }

    // MARK: The ledger

    /// Excludes all earlier answers from later results.
    func forgetLedgers() {
        for name in ledgers { try? FileManager.default.removeItem(at: folder.url.appendingPathComponent(name)) }
        ledgers = []
    }

    /// An answer in the ledger.
    struct Entry {
        var milliseconds: Int
        var connection: Int
        var token: String
        var id: String
        var status: Int
        var reason: String

        /// Getui refuses with the status 200, too.
        var isAccepted: Bool { status == 200 && reason.isEmpty }
    }

    /// All answers of simulators that have ended.
    func entries() throws -> [Entry] {
        try ledgers.flatMap { name in
            let text = try String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)
            return try text.split(separator: "\n").map { line in
                let entry = try JSONValue(parsing: String(line))
                let answer = Entry(
                    milliseconds: try #require(entry.int("time_ms")), connection: try #require(entry.int("connection")),
                    token: entry[service.names.target]?.stringValue ?? "",
                    id: entry[service.names.id]?.stringValue ?? "",
                    status: try #require(entry.int("status")), reason: reason(of: entry))
                // A refusal may come before the body with the targets was read.
                try #require(!answer.token.isEmpty || !answer.isAccepted, "what was accepted has a target")
                return answer
            }
        }
    }

    /// The reason of a line; blank for one that was accepted, to which RongCloud gives the
    /// code 200.
    private func reason(of line: JSONValue) -> String {
        let reason = line[service.names.reason]?.stringValue ?? line.int(service.names.reason).map(String.init) ?? ""
        return reason == "200" ? "" : reason
    }

    /// The target of a line that says that a push was accepted.
    private func acceptedTarget(_ line: JSONValue) -> String? {
        guard line.int("status") == 200, reason(of: line).isEmpty else { return nil }
        return line[service.names.target]?.stringValue
    }

    /// Connections that have brought a push so far, even while the simulator is still writing.
    func connections() throws -> Int {
        let numbers = ledgers.flatMap { name in
            let text = (try? String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)) ?? ""
            // The last line may be incomplete.
            return text.split(separator: "\n").compactMap { (try? JSONValue(parsing: String($0)))?.int("connection") }
        }
        return Set(numbers).count
    }

    /// Tokens that the simulator has accepted so far, as far as it has written them.
    func acceptedSoFar() -> Set<String> {
        let tokens = ledgers.flatMap { name in
            let text = (try? String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)) ?? ""
            // The last line may be incomplete.
            return text.split(separator: "\n").compactMap { line in
                (try? JSONValue(parsing: String(line))).flatMap { acceptedTarget($0) }
            }
        }
        return Set(tokens)
    }

    /// The same, once the ledger has not grown for a second: data that a killed process had written
    /// to its sockets is still read.
    func acceptedOnceQuiet() -> Set<String> {
        var accepted = acceptedSoFar()
        while true {
            usleep(1_000_000)
            let now = acceptedSoFar()
            if now.count == accepted.count { return now }
            accepted = now
        }
    }

    /// What the simulator accepted, once it has ended: the apns-ids by token, one for each time.
    func accepted() throws -> [String: [String]] {
        stop()
        return Dictionary(grouping: try entries().filter(\.isAccepted), by: \.token).mapValues { $0.map(\.id) }
    }

    /// What the last simulator accepted, once it has ended: one token for each time.
    func acceptedInLastEpoch() throws -> [String] {
        stop()
        let text = try String(contentsOf: folder.url.appendingPathComponent(ledgers.last ?? ""), encoding: .utf8)
        return try text.split(separator: "\n").compactMap { line in
            acceptedTarget(try JSONValue(parsing: String(line)))
        }
    }

    /// Compares the last run's report, recipient by recipient, with what the simulator accepted,
    /// once it has ended.
    /// - Parameters:
    ///   - mayRepeat: tokens that may have been accepted more than once; nil for any, as long as
    ///     the apns-id is the same.
    func expectAgreement(
        mayRepeat: Set<String>? = [], _ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let lines = try folder.volley("report", "last", "--format", "csv").output.split(separator: "\n").dropFirst()
        let accepted = try accepted()
        var reported: [Substring: Int] = [:]
        var tokens: Set<String> = []
        for line in lines {
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            let (token, outcome) = (String(cells[0]), cells[5])
            reported[outcome, default: 0] += 1
            tokens.insert(token)
            let times = accepted[token]?.count ?? 0
            if outcome == "accepted", times == 0 {
                Issue.record("\(comment): reported as accepted, and was not: \(line)", sourceLocation: sourceLocation)
            }
            if outcome != "accepted", outcome != "unknown", times > 0 {
                Issue.record(
                    "\(comment): was accepted, and is not reported so: \(line)", sourceLocation: sourceLocation)
            }
        }
        #expect(tokens.count == lines.count, comment, sourceLocation: sourceLocation)
        #expect(Set(accepted.keys).isSubset(of: tokens), comment, sourceLocation: sourceLocation)
        let repeated = accepted.filter { $0.value.count > 1 }
        if let mayRepeat {
            #expect(Set(repeated.keys).isSubset(of: mayRepeat), comment, sourceLocation: sourceLocation)
        }
        // FCM and RongCloud have no id that a sender chooses.
        if service.namesPushes {
            #expect(
                repeated.allSatisfy { Set($0.value).count == 1 }, "\(comment): under another id",
                sourceLocation: sourceLocation)
        }
        let report = try report()
        for outcome in ["accepted", "invalid_token", "rejected", "failed", "unknown", "unsent"] {
            #expect(
                report["outcomes"]?.int(outcome) == reported[outcome[...], default: 0], comment,
                sourceLocation: sourceLocation)
        }
    }

    // MARK: Sending

    /// Starts `volley send`, or another command, where the server is.
    /// - Parameter launcher: see `VolleyBinary.start`.
    func start(
        _ arguments: [String] = ["send", "campaign.yaml", "--yes", "--json"], launcher: [String] = [],
        environment: [String: String] = [:]
    ) throws -> RunningVolley {
        try VolleyBinary.start(
            arguments, in: folder.url, environment: environment, launcher: self.launcher() + launcher)
    }

    /// Starts `volley send` and waits until some pushes have answers.
    func startSending(
        _ command: [String] = ["send", "campaign.yaml", "--yes", "--json"], launcher: [String] = [],
        environment: [String: String] = [:]
    ) throws -> RunningVolley {
        let running = try start(command, launcher: launcher, environment: environment)
        wait {
            self.answeredBytes > 20_000
        } orEndOf: {
            running
        }
        return running
    }

    /// The current length of the ledger: about 300 bytes for each answer.
    var answeredBytes: Int {
        let ledger = folder.url.appendingPathComponent(ledgers.last ?? "").path
        return (try? FileManager.default.attributesOfItem(atPath: ledger)[.size] as? Int) ?? 0
    }

    /// Waits until a condition holds or the process has ended, at most for a minute.
    func wait(until isSo: () -> Bool, orEndOf running: () -> RunningVolley) {
        let end = Date(timeIntervalSinceNow: 60)
        while running().isRunning, !isSo(), Date() < end { usleep(20_000) }
    }

    /// Whether a process that was killed came as far as a run file.
    var hasRun: Bool { folder.files(in: "runs").contains { $0.hasSuffix(".sqlite") } }

    /// Sends the rest of a run after killed processes.
    /// - Parameter timeout: seconds.
    func finishRun(_ comment: String, timeout: Double = 120, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let state = try report()["state"]?.stringValue
        if state == "planned" {
            #expect(
                try folder.volley("send", "--plan", "last", "--yes", "--quiet").status == 0,
                sourceLocation: sourceLocation)
        } else if state != "finished" {
            let resumed = try folder.volley("resume", "last", "--json", timeout: timeout)
            #expect([0, 1].contains(resumed.status), "\(comment): \(resumed)", sourceLocation: sourceLocation)
        }
        #expect(try report()["outcomes"]?.int("unsent") == 0, "\(comment)", sourceLocation: sourceLocation)
    }

    /// The last run's outcomes, state and so on.
    func report() throws -> JSONValue {
        let report = try folder.volley("report", "last", "--format", "json")
        try #require(report.status == 0, "\(report.errors)")
        return try report.json()
    }

    /// The last run's tokens with an outcome.
    func tokens(_ outcome: String) throws -> Set<String> { Set(try lines(outcome).map { String($0[0]) }) }

    /// The last run's lines of the CSV report with an outcome, cell by cell.
    func lines(_ outcome: String) throws -> [[Substring]] {
        let report = try folder.volley("report", "last", "--format", "csv")
        try #require(report.status == 0, "\(report.errors)")
        return report.output.split(separator: "\n").dropFirst().map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        .filter { $0[5] == outcome }
    }
}
