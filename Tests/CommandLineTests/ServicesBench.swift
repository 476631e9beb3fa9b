import Base
import Foundation
import TestCommands
import Testing

/// The strict simulators of several services, each a process of its own with a ledger, and a folder
/// with an app that goes to all of them.
final class ServicesBench {
    /// A service, as configured in an app, and how its simulator keeps its ledger.
    struct Service: Sendable {
        let name: String
        /// The credential's key and what else is needed, in volley.yaml; `KEY` is replaced by the
        /// file.
        let account: String
        /// The ledger's names for a target and a push.
        let target: String, push: String
        /// Options of its simulator other than the faults.
        var options: [String] = []
        /// A target of a number.
        let device: @Sendable (Int) -> String
        /// A target of a number that the service refuses permanently, because of its beginning; nil
        /// if no refusal is about a single target.
        var refusedDigits: String?

        /// A target of a number that the service refuses permanently; nil if no refusal is about a
        /// single target.
        func refused(_ number: Int) -> String? {
            guard let digits = refusedDigits else { return nil }
            return digits + device(number).dropFirst(digits.count)
        }

        /// Whether a device of the report (`NAME TARGET`) is one that the service refuses.
        func isRefused(_ device: String) -> Bool { refusedDigits.map { device.hasPrefix("\(name) \($0)") } ?? false }
    }

    /// All services that Volley has.
    static let all = [
        Service(
            name: "apns", account: "topic: com.example.shop, key: {file: KEY, id: SIMULATOR1, team: VOLLEYTEAM}",
            target: "token",
            push: "apns_id", device: { ProjectFolder.token($0) }, refusedDigits: "00000410"),
        Service(
            name: "fcm", account: "project: volley-simulator, service_account: {file: KEY}", target: "target",
            push: "name",
            device: { FCMCampaignTests.Bench.token($0) }, refusedDigits: "00000404"),
        Service(
            name: "getui",
            account: "app_id: SimulatorAppId00000000, app_key: SimulatorAppKey0000000, master_secret: {file: KEY}",
            target: "target", push: "request_id", device: { GetuiCampaignTests.Bench.cid($0) },
            refusedDigits: "00000090"),
        Service(
            name: "jpush", account: "app_key: 0123456789abcdef01234567, master_secret: {file: KEY}", target: "target",
            push: "msg_id",
            device: { JPushCampaignTests.Bench.id($0) }, refusedDigits: "00001003"),
        Service(
            name: "rongcloud", account: "app_key: volleysimulator, app_secret: {file: KEY}, pace: 2000/s",
            target: "target", push: "id",
            options: ["--limit-per-minute", "600000"], device: { "user_\($0)" }),
    ]

    /// Some of them, in this order.
    static func services(_ names: String...) -> [Service] { names.compactMap { name in all.first { $0.name == name } } }

    let folder: ProjectFolder
    let services: [Service]
    private let servers: [ProjectFolder]
    private var simulators: [RunningVolley] = []
    /// Devices whose push was accepted without an answer, once `accepted` was read.
    private var unanswered: Set<String> = []
    /// How far each ledger was read, and the devices that were taken in what was read.
    private var read: [UInt64], taken = 0

    /// - Parameters:
    ///   - targets: the devices, each with the name of its service.
    ///   - faults: options of `volley simulate` for a service.
    init(
        _ services: [Service], targets: [(service: String, target: String)], faults: (Service) -> [String] = { _ in [] }
    ) throws {
        self.services = services
        servers = try services.map { _ in try ProjectFolder() }
        read = services.map { _ in 0 }
        let rows = targets.map { "\($0.service),\($0.target)" }
        folder = try ProjectFolder(export: (["service,target"] + rows).joined(separator: "\n") + "\n")
        var lines = [
            "runs: runs", "apps:", "  shop:", "    columns: {service: service, token: target}", "    services:",
        ]
        for (service, server) in zip(services, servers) {
            try FileManager.default.removeItem(at: server.url.appendingPathComponent("volley.yaml"))
            let simulator = try VolleyBinary.start(
                ["simulate", "--service", service.name, "--port", "0", "--ledger", "ledger.jsonl", "--json"]
                    + ["--for", FaultScale.isThorough ? "3600" : "200", "--key", "secret"] + service.options
                    + faults(service),
                in: server.url)
            simulators.append(simulator)
            let limit = Date().addingTimeInterval(30)
            while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n"), Date() < limit { usleep(20_000) }
            let url = try #require(try JSONValue(parsing: simulator.outputSoFar)["url"]?.stringValue)
            try restoreKey(of: service.name)
            try folder.write(
                "\(service.name).pem", try Data(contentsOf: server.url.appendingPathComponent("simulator-ca.pem")))
            lines.append(
                "      \(service.name): {\(service.account.replacing("KEY", with: Self.key(of: service.name))), "
                    + "environment: {url: \"\(url)\", ca: \(service.name).pem}}")
        }
        try folder.write("volley.yaml", lines.joined(separator: "\n") + "\n")
        try folder.writeCampaign(content: "title: Spring sale\nbody: 20 % off everything.")
    }

    /// The number of devices, one service after the other.
    convenience init(_ services: [Service] = all, devices: Int, faults: [String] = []) throws {
        let targets = (0..<devices).map { device in
            let service = services[device % services.count]
            return (service.name, service.device(device))
        }
        try self.init(services, targets: targets) { _ in faults }
    }

    deinit { for simulator in simulators { _ = simulator.finish(timeout: 0) } }

    // MARK: Credentials

    /// The file with the credential of a service.
    static func key(of service: String) -> String { "\(service)-key" }

    /// Gives the folder the credential that a service's simulator trusts.
    func restoreKey(of service: String) throws {
        let server = try #require(zip(services, servers).first { $0.0.name == service }).1
        try writeKey(of: service, try String(contentsOf: server.url.appendingPathComponent("secret"), encoding: .utf8))
    }

    /// Gives the folder another credential of a service.
    func writeKey(of service: String, _ text: String) throws {
        try folder.write(Self.key(of: service), text)
        chmod(folder.url.appendingPathComponent(Self.key(of: service)).path, 0o600)
    }

    /// The text of a service's credential.
    func key(of service: String) throws -> String {
        try String(contentsOf: folder.url.appendingPathComponent(Self.key(of: service)), encoding: .utf8)
    }

    // MARK: Ledgers

    /// Answers of all simulators so far, as far as they have written them.
    func answersSoFar() -> Int {
        servers.reduce(0) { count, server in
            let ledger = server.url.appendingPathComponent("ledger.jsonl")
            return count + ((try? Data(contentsOf: ledger))?.count { $0 == UInt8(ascii: "\n") } ?? 0)
        }
    }

    /// How many devices the services answered with 200 so far, as far as the simulators have
    /// written it. Refused pushes may come repeatedly.
    func takenSoFar() -> Int {
        for (place, server) in servers.enumerated() {
            guard let ledger = try? FileHandle(forReadingFrom: server.url.appendingPathComponent("ledger.jsonl")) else {
                continue
            }
            defer { try? ledger.close() }
            // Only new lines: reading a large ledger repeatedly would slow down the measurement.
            guard (try? ledger.seek(toOffset: read[place])) != nil, let data = try? ledger.readToEnd() else { continue }
            let lines = data.prefix((data.lastIndex(of: UInt8(ascii: "\n")) ?? data.startIndex - 1) + 1)
            read[place] += UInt64(lines.count)
            taken += String(decoding: lines, as: UTF8.self).components(separatedBy: "\"status\":200").count - 1
        }
        return taken
    }

    /// Ends the simulators, which complete their ledgers.
    func stop() {
        for simulator in simulators {
            simulator.interrupt()
            #expect(simulator.finish().status == 0)
        }
        simulators = []
    }

    /// The pushes that each service accepted for each of its targets, as often as it did, once the
    /// simulators have ended.
    func accepted() throws -> [String: [String]] {
        stop()
        var pushes: [String: [String]] = [:]
        for (service, server) in zip(services, servers) {
            // A simulator without requests has no ledger.
            let text =
                (try? String(contentsOf: server.url.appendingPathComponent("ledger.jsonl"), encoding: .utf8)) ?? ""
            for line in text.split(separator: "\n") {
                let entry = try JSONValue(parsing: String(line))
                // Getui and RongCloud refuse with the status 200, too.
                let code = entry["code"]?.stringValue ?? entry.int("code").map(String.init) ?? ""
                guard entry.int("status") == 200, ["", "0", "200"].contains(code) else { continue }
                let target = try #require(entry[service.target]?.stringValue)
                pushes["\(service.name) \(target)", default: []].append(entry[service.push]?.stringValue ?? "")
                if entry["answered"] == .bool(false) { unanswered.insert("\(service.name) \(target)") }
            }
        }
        return pushes
    }

    // MARK: Reports

    /// A device's row in the report's CSV.
    struct Line {
        var outcome: String
        var reason: String
    }

    /// Each target's row in the report's CSV, by service and target.
    func lines() throws -> [String: Line] {
        let csv = try folder.volley("report", "last", "--format", "csv", timeout: 600).output.split(separator: "\n")
        let names = try #require(csv.first).split(separator: ",", omittingEmptySubsequences: false)
        let places = try ["device_token", "outcome", "service", "reason"].map {
            try #require(names.firstIndex(of: Substring($0)), "\(names)")
        }
        return csv.dropFirst().reduce(into: [:]) { lines, line in
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            lines["\(cells[places[2]]) \(cells[places[0]])"] = Line(
                outcome: String(cells[places[1]]), reason: String(cells[places[3]]))
        }
    }

    func report() throws -> JSONValue { try folder.volley("report", "last", "--format", "json").json() }

    /// A service's member of a report.
    static func member(_ name: String, of report: JSONValue) -> JSONValue? {
        guard case .array(let parts)? = report["services"] else { return nil }
        return parts.first { $0["service"]?.stringValue == name }
    }

    /// Compares each device's outcome with the ledgers, once the simulators have ended.
    /// - Parameter mayRepeat: devices that may have got it again, as a killed process left them
    ///   unknown. Others only where the service took it without an answer. nil if no device may,
    ///   whatever happened.
    /// - Returns: the pushes that were accepted, by device.
    @discardableResult
    func expectAgreement(
        devices: Int, mayRepeat: Set<String>? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String: [String]] {
        let lines = try lines(), accepted = try accepted()
        #expect(lines.count == devices, sourceLocation: sourceLocation)
        for (device, line) in lines {
            let pushes = accepted[device] ?? [], outcome = line.outcome
            // APNs shows a push that comes again under its id once; the others must not get one
            // again.
            let shown = device.hasPrefix("apns ") ? Set(pushes).count : pushes.count
            let isInDoubt = mayRepeat.map { $0.contains(device) || unanswered.contains(device) } ?? false
            if !isInDoubt {
                #expect(shown <= 1, "\(device) got it \(shown) times: \(pushes)", sourceLocation: sourceLocation)
            }
            if outcome == "accepted" {
                #expect(shown >= 1, "\(device) is accepted, and no ledger has it", sourceLocation: sourceLocation)
            }
            if !["accepted", "unknown"].contains(outcome) {
                #expect(shown == 0, "\(device) is \(outcome), and got it", sourceLocation: sourceLocation)
            }
        }
        #expect(Set(accepted.keys).isSubset(of: lines.keys), sourceLocation: sourceLocation)
        return accepted
    }
}
