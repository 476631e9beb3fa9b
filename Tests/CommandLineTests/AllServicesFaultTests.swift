import Base
import Foundation
import TestCommands
import Testing

/// One campaign through every service that Volley has, against their strict simulators with faults,
/// killed and resumed: afterwards the report is compared with all ledgers, device by device.
@Suite("every push accounted for, through all services at once", .serialized)
struct AllServicesFaultTests {
    /// Faults of all simulators at the same time.
    struct Mixture: CustomTestStringConvertible, Sendable {
        var name: String
        /// Options of every simulator.
        var options: [String]
        /// Options of those that give out access tokens, and of those whose quota can be set.
        var ofTokens: [String] = [], ofQuotas: [String] = []
        /// Whether it is over within seconds.
        var isQuick = false
        var testDescription: String { name }

        func options(of service: ServicesBench.Service) -> [String] {
            options + (["fcm", "getui"].contains(service.name) ? ofTokens : [])
                + (["fcm", "getui"].contains(service.name) ? ofQuotas : [])
        }
    }

    private static let mixtures = [
        Mixture(
            name: "errors, resets and cuts",
            options: [
                "--latency", "20", "--internal-error-every", "31", "--unavailable-every", "47", "--reset-every", "29",
                "--disconnect-every", "41",
            ], isQuick: true),
        Mixture(
            name: "pages of gateways, early answers, GOAWAY, and tokens that end",
            options: [
                "--latency", "20", "--gateway-every", "53", "--early-answer-every", "9", "--go-away-every", "60",
            ],
            ofTokens: ["--token-seconds", "6"], isQuick: true),
        Mixture(
            name: "429, quotas, and tokens that are revoked",
            options: ["--too-many-requests-every", "997", "--retry-after", "1"],
            ofTokens: ["--messages-per-token", "1900"],
            ofQuotas: ["--limit-per-minute", String(max(100, FaultScale.recipients / 8))]),
        Mixture(
            name: "answers that never come, and connections that fall silent",
            options: ["--silent-every", "499", "--silent-after", "1999", "--latency", "20"]),
    ]

    private static let chosen = {
        let chosen = mixtures.filter {
            (FaultScale.isThorough || $0.isQuick)
                && (FaultScale.mixture.isEmpty || $0.name.contains(FaultScale.mixture))
        }
        precondition(!chosen.isEmpty, "no mixture of faults has '\(FaultScale.mixture)' in its name")
        return chosen
    }()

    /// Devices of all services in turn, and among them some that a service refuses.
    private static func bench(_ mixture: Mixture, devices: Int) throws -> ServicesBench {
        let services = ServicesBench.all
        let targets = (0..<devices).map { number in
            let service = services[number % services.count]
            let isBad = number / services.count % 40 == 7
            return (
                service: service.name,
                target: isBad ? service.refused(number) ?? service.device(number) : service.device(number)
            )
        }
        return try ServicesBench(services, targets: targets) { mixture.options(of: $0) }
    }

    /// Sends the campaign, kills it several times on the way, and resumes it.
    /// - Returns: devices that were unknown after a kill.
    private func sendAndKill(_ bench: ServicesBench, devices: Int) throws -> Set<String> {
        var arguments = ["send", "campaign.yaml", "--yes", "--json"], inDoubt: Set<String> = []
        let kills = max(2, min(FaultScale.kills, 20)), limit = Date().addingTimeInterval(1800)
        var hits = 0
        for kill in 1...kills {
            let running = try VolleyBinary.start(arguments, in: bench.folder.url)
            let goal = devices * kill / (kills + 1)
            while running.isRunning, bench.takenSoFar() < goal, Date() < limit { usleep(20_000) }
            if running.isRunning { hits += 1 }
            Glibc.kill(running.processID, SIGKILL)
            _ = running.finish(timeout: 10)
            inDoubt.formUnion(try bench.lines().filter { $0.value.outcome == "unknown" }.keys)
            arguments = ["resume", "last", "--json"]
        }
        // Too late for the others: pushes that a kill leaves unknown are no longer accepted.
        #expect(hits * 2 >= kills, "\(hits) of \(kills) kills met a run that was being sent")
        let resumed = try bench.folder.volley("resume", "last", "--json", timeout: FaultScale.isThorough ? 1500 : 300)
        #expect([0, 1, 2].contains(resumed.status), "\(resumed)")
        let report = try bench.report()
        #expect(report["state"]?.stringValue == "finished" && report["outcomes"]?.int("unsent") == 0, "\(report)")
        #expect(report["outcomes"]?.sum == devices)
        return inDoubt
    }

    @Test(
        "report and ledgers agree after faults of all of them, kills and resumptions; nobody gets it twice",
        arguments: chosen)
    func agree(mixture: Mixture) throws {
        let devices = FaultScale.recipients
        let bench = try Self.bench(mixture, devices: devices)
        _ = try sendAndKill(bench, devices: devices)
        let lines = try bench.lines()
        let refused = lines.filter { line in bench.services.contains { $0.isRefused(line.key) } }
        #expect(refused.count > devices / 100, "\(refused.count) bad targets")
        // A gateway's page may have replaced the refusal.
        #expect(
            refused.values.allSatisfy { ["invalid_token", "rejected", "unknown"].contains($0.outcome) }, "\(refused)")
        let accepted = try bench.expectAgreement(devices: devices)
        let used = Set(accepted.keys.compactMap { $0.split(separator: " ").first })
        #expect(used.count == bench.services.count, "\(used)")
    }

    @Test(
        "with `unknown: resend` nobody gets it twice but those whose answer was lost, and nobody stays unknown who need not"
    )
    func resent() throws {
        let devices = FaultScale.recipients
        var mixture = Self.mixtures[1]
        // A cut connection may lose answers that are in the ledger.
        mixture.options = ["--latency", "20", "--gateway-every", "53", "--early-answer-every", "9"]
        // Such a short token is usable half of the time: a push that waits for its next attempt
        // misses it again and again.
        mixture.ofTokens = []
        let bench = try Self.bench(mixture, devices: devices)
        try bench.folder.writeCampaign(
            content: "title: Spring sale\nbody: 20 % off everything.", delivery: "unknown: resend")
        let inDoubt = try sendAndKill(bench, devices: devices)
        try bench.expectAgreement(devices: devices, mayRepeat: inDoubt)
    }
}
