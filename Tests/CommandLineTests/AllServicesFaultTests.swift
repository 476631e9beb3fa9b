import Base
import Foundation
import TestCommands
import Testing

/// One campaign through every service that Volley has, against their strict simulators with faults, killed and resumed: afterwards the report
/// is compared with all ledgers, device by device.
@Suite("every push accounted for, through all services at once", .serialized)
struct AllServicesFaultTests {
    /// A service, as it stands in an app, and how its simulator keeps its ledger.
    private struct Service {
        let name: String
        /// The credential's key and what else is needed, in volley.yaml; `KEY` stands for the file.
        let account: String
        /// The ledger's names for a target and a push.
        let target: String, push: String
        /// Options of its simulator besides the faults.
        var options: [String] = []
        /// A target of a number.
        let device: @Sendable (Int) -> String
    }

    private static let services = [
        Service(
            name: "apns", account: "topic: com.example.shop, key: {file: KEY, id: SIMULATOR1, team: VOLLEYTEAM}", target: "token",
            push: "apns_id", device: { ProjectFolder.token($0) }),
        Service(
            name: "fcm", account: "project: volley-simulator, service_account: {file: KEY}", target: "target", push: "name",
            device: { FCMCampaignTests.Bench.token($0) }),
        Service(
            name: "getui", account: "app_id: SimulatorAppId00000000, app_key: SimulatorAppKey0000000, master_secret: {file: KEY}",
            target: "target", push: "request_id", device: { GetuiCampaignTests.Bench.cid($0) }),
        Service(
            name: "jpush", account: "app_key: 0123456789abcdef01234567, master_secret: {file: KEY}", target: "target", push: "msg_id",
            device: { JPushCampaignTests.Bench.id($0) }),
        Service(
            name: "rongcloud", account: "app_key: volleysimulator, app_secret: {file: KEY}, pace: 2000/s", target: "target", push: "id",
            options: ["--limit-per-minute", "600000"], device: { "user_\($0)" }),
    ]

    /// The simulators, and a folder with an app that goes to all of them.
    private final class Bench {
        let folder: ProjectFolder
        private let servers: [ProjectFolder]
        private var simulators: [RunningVolley] = []

        init(devices: Int, faults: [String]) throws {
            servers = try services.map { _ in try ProjectFolder() }
            var rows = ["service,target"]
            for device in 0..<devices {
                let service = services[device % services.count]
                rows.append("\(service.name),\(service.device(device))")
            }
            folder = try ProjectFolder(export: rows.joined(separator: "\n") + "\n")
            var lines = ["runs: runs", "apps:", "  shop:", "    columns: {service: service, token: target}", "    services:"]
            for (service, server) in zip(services, servers) {
                try FileManager.default.removeItem(at: server.url.appendingPathComponent("volley.yaml"))
                let simulator = try VolleyBinary.start(
                    ["simulate", "--service", service.name, "--port", "0", "--ledger", "ledger.jsonl", "--json"]
                        + ["--for", FaultScale.isThorough ? "1000" : "200"] + service.options + faults, in: server.url)
                simulators.append(simulator)
                let limit = Date().addingTimeInterval(30)
                while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n"), Date() < limit { usleep(20_000) }
                let said = try JSONValue(parsing: simulator.outputSoFar)
                let url = try #require(said["url"]?.stringValue), key = try #require(said["key"]?.stringValue)
                let name = "\(service.name)-key"
                try folder.write(name, try Data(contentsOf: URL(fileURLWithPath: key, relativeTo: server.url)))
                chmod(folder.url.appendingPathComponent(name).path, 0o600)
                try folder.write("\(service.name).pem", try Data(contentsOf: server.url.appendingPathComponent("simulator-ca.pem")))
                lines.append(
                    "      \(service.name): {\(service.account.replacing("KEY", with: name)), "
                        + "environment: {url: \"\(url)\", ca: \(service.name).pem}}")
            }
            try folder.write("volley.yaml", lines.joined(separator: "\n") + "\n")
            try folder.writeCampaign(content: "title: Spring sale\nbody: 20 % off everything.")
        }

        deinit { for simulator in simulators { _ = simulator.finish(timeout: 0) } }

        /// Answers of all simulators so far, as far as they have written them.
        func answersSoFar() -> Int {
            servers.reduce(0) { count, server in
                let ledger = server.url.appendingPathComponent("ledger.jsonl")
                return count + ((try? Data(contentsOf: ledger))?.count { $0 == UInt8(ascii: "\n") } ?? 0)
            }
        }

        /// The pushes that each service accepted for each of its targets, as often as it did, once the simulators have ended.
        func accepted() throws -> [String: [String]] {
            for simulator in simulators {
                simulator.interrupt()
                #expect(simulator.finish().status == 0)
            }
            simulators = []
            var pushes: [String: [String]] = [:]
            for (service, server) in zip(services, servers) {
                let text = try String(contentsOf: server.url.appendingPathComponent("ledger.jsonl"), encoding: .utf8)
                for line in text.split(separator: "\n") {
                    let entry = try JSONValue(parsing: String(line))
                    // Getui and RongCloud refuse with the status 200, too.
                    let code = entry["code"]?.stringValue ?? entry.int("code").map(String.init) ?? ""
                    guard entry.int("status") == 200, ["", "0", "200"].contains(code) else { continue }
                    let target = try #require(entry[service.target]?.stringValue)
                    pushes["\(service.name) \(target)", default: []].append(entry[service.push]?.stringValue ?? "")
                }
            }
            return pushes
        }

        /// The outcome of each target by the report's CSV.
        func outcomes() throws -> [String: String] {
            let csv = try folder.volley("report", "last", "--format", "csv", timeout: 600).output.split(separator: "\n")
            let names = try #require(csv.first).split(separator: ",", omittingEmptySubsequences: false)
            let places = try ["device_token", "outcome", "service"].map { try #require(names.firstIndex(of: Substring($0)), "\(names)") }
            return csv.dropFirst().reduce(into: [:]) { outcomes, line in
                let cells = line.split(separator: ",", omittingEmptySubsequences: false)
                outcomes["\(cells[places[2]]) \(cells[places[0]])"] = String(cells[places[1]])
            }
        }
    }

    private static let faults = [
        "--latency", "20", "--internal-error-every", "31", "--unavailable-every", "47", "--reset-every", "29", "--disconnect-every", "41",
    ]

    @Test("report and ledgers agree after faults of all of them, kills and resumptions; nobody gets it twice")
    func agree() throws {
        let devices = FaultScale.recipients
        let bench = try Bench(devices: devices, faults: Self.faults)
        var arguments = ["send", "campaign.yaml", "--yes", "--json"]
        for kill in 1...max(2, min(FaultScale.kills, 20)) {
            let running = try VolleyBinary.start(arguments, in: bench.folder.url)
            let goal = devices * kill / (max(2, min(FaultScale.kills, 20)) + 1)
            while running.isRunning, bench.answersSoFar() < goal { usleep(20_000) }
            Glibc.kill(running.processID, SIGKILL)
            _ = running.finish(timeout: 10)
            arguments = ["resume", "last", "--json"]
        }
        let resumed = try bench.folder.volley("resume", "last", "--json", timeout: 900)
        #expect([0, 1, 2].contains(resumed.status), "\(resumed)")
        let report = try bench.folder.volley("report", "last", "--format", "json").json()
        #expect(report["state"]?.stringValue == "finished" && report["outcomes"]?.int("unsent") == 0, "\(report)")
        #expect(report["outcomes"]?.sum == devices)
        let outcomes = try bench.outcomes(), accepted = try bench.accepted()
        #expect(outcomes.count == devices)
        for (device, outcome) in outcomes {
            let pushes = accepted[device] ?? []
            // APNs shows a push that comes again under its id once; the others must not get one again.
            let shown = device.hasPrefix("apns ") ? Set(pushes).count : pushes.count
            #expect(shown <= 1, "\(device) got it \(shown) times: \(pushes)")
            if outcome == "accepted" { #expect(shown == 1, "\(device) is accepted, and no ledger has it") }
            if !["accepted", "unknown"].contains(outcome) { #expect(shown == 0, "\(device) is \(outcome), and got it") }
        }
        #expect(Set(accepted.keys).isSubset(of: outcomes.keys))
        let used = Set(accepted.keys.compactMap { $0.split(separator: " ").first })
        #expect(used.count == Self.services.count, "\(used)")
    }
}
