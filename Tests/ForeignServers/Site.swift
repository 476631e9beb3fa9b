import Cryptography
import Foundation
import TestCommands
import TestServers

/// A scenario's servers, with a certificate of the test's own authority, and the project that sends
/// to them.
final class Site {
    let folder: ProjectFolder
    private let scenario: Scenario
    private let standInPort: Int
    private let frontPort: Int
    private let proxyPort: Int
    private var standIn: ServerProcess?
    private var front: ServerProcess?
    private var proxy: ServerProcess?
    private var epochs = 0

    init(_ scenario: Scenario) throws {
        self.scenario = scenario
        folder = try ProjectFolder(export: ProjectFolder.export(devices: scenario.devices))
        (standInPort, frontPort, proxyPort) = (try Sockets.freePort(), try Sockets.freePort(), try Sockets.freePort())
        let authority = CertificateAuthority(commonName: "Volley test")
        try folder.write("ca.pem", authority.certificatePEM)
        try folder.write(
            "server.pem", authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"]).pem)
        try folder.write("key.p8", SigningKey.generate().pem)
        chmod(folder.url.appendingPathComponent("key.p8").path, 0o600)
        try startStandIn()
        try startFront()
        try startProxy()
        let port = scenario.front == nil ? standInPort : frontPort
        let way = scenario.proxy.map { "\nproxy: \"\($0.scheme)://127.0.0.1:\(proxyPort)\"" } ?? ""
        try folder.writeProject(
            app:
                "environment: {url: \"https://localhost:\(port)\", ca: ca.pem}\nkey: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}\(way)"
        )
        try folder.writeCampaign(
            content: "title: Hello\nbody: \(String(repeating: "w", count: scenario.bodyCharacters))",
            delivery: "unknown: \(scenario.unknown)")
    }

    deinit {
        proxy = nil
        scenario.proxy?.removeTraces(port: proxyPort)
    }

    // MARK: Servers

    private func startStandIn() throws {
        // Each epoch has its own ledger: its connections are counted from one.
        epochs += 1
        standIn = try scenario.standIn.start(
            scenario.options, scenario.front?.wire ?? .http2, port: standInPort, ledger: ledger(epochs),
            in: folder.url.path)
    }

    private func startFront() throws {
        front = try scenario.front?.start(port: frontPort, backend: standInPort, in: folder.url.path)
    }

    private func startProxy() throws { proxy = try scenario.proxy?.start(port: proxyPort, in: folder.url.path) }

    private func play(_ fault: Scenario.Fault) throws {
        switch fault {
        case .none, .answers, .answersToAll: break
        case .standInKilled:
            // Killed with the value.
            standIn = nil
            try startStandIn()
        case .frontKilled:
            front = nil
            try startFront()
        case .frontReloaded: if let signal = scenario.front?.reloadSignal { front?.signal(signal) }
        case .proxyKilled:
            proxy = nil
            try startProxy()
        }
    }

    // MARK: Sending

    /// Sends the campaign to its end and plays the fault in the meantime.
    /// - Parameter timeout: in seconds.
    func send(timeout: Double = 120) throws -> VolleyBinary.Result {
        let direct = ["https_proxy": "", "HTTPS_PROXY": "", "all_proxy": "", "ALL_PROXY": ""]
        let running = try VolleyBinary.start(
            ["send", "campaign.yaml", "--yes", "--json"], in: folder.url, environment: direct)
        let deadline = Date().addingTimeInterval(timeout)
        if let step = scenario.fault.step {
            var next = step
            while running.isRunning, Date() < deadline {
                if entries().count(where: { $0.what == "accepted" }) >= next {
                    next += step
                    try play(scenario.fault)
                }
                usleep(20_000)
            }
        }
        if case .answersToAll = scenario.fault {
            usleep(20_000_000)
            running.interrupt()
        }
        return running.finish(timeout: max(1, deadline.timeIntervalSinceNow))
    }

    // MARK: The ledger

    /// A line of a stand-in's ledger.
    struct Entry {
        /// seen, accepted or refused.
        var what: Substring
        var token: String
        /// Different from those of other epochs of the server.
        var connection: String
    }

    /// Everything that the stand-ins have noted so far.
    func entries() -> [Entry] {
        (1...epochs).flatMap { epoch in
            let text = (try? String(contentsOfFile: ledger(epoch), encoding: .utf8)) ?? ""
            // The last line may be incomplete.
            return text.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ")
                return words.count == 4
                    ? Entry(what: words[0], token: String(words[1]), connection: "\(epoch) \(words[2])") : nil
            }
        }
    }

    private func ledger(_ epoch: Int) -> String { folder.url.appendingPathComponent("ledger-\(epoch)").path }
}

extension Scenario.Fault {
    /// How many more are accepted between two faults; nil if none is played.
    var step: Int? {
        switch self {
        case .none, .answers, .answersToAll: nil
        case .standInKilled(let step), .frontKilled(let step), .frontReloaded(let step), .proxyKilled(let step): step
        }
    }
}
