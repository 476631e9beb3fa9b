import Foundation
import TestCommands
import Testing

/// Whole campaigns, sent by the real binary to other projects' servers, through other projects'
/// proxies. Each stand-in has a ledger, and the report is compared with it, device by device.
/// `make test-servers` plays all scenarios, `make test` the quick ones.
@Suite("servers of others", .serialized)
struct ForeignServersTests {
    /// Text that the names of the scenarios to play contain; a missing program is then a failure.
    /// Nil for the quick ones.
    private static let wanted = ProcessInfo.processInfo.environment["VOLLEY_FOREIGN_SERVERS"]

    private static func chosen(_ scenarios: [Scenario]) -> [Scenario] {
        guard let wanted else { return scenarios.filter(\.isQuick) }
        return scenarios.filter { wanted.isEmpty || $0.name.contains(wanted) }
    }

    /// Sends, checks what holds in every scenario, and returns the rest for further checks.
    private func judge(_ scenario: Scenario) throws -> Judgement {
        if let missing = scenario.missing {
            let reason = "\(missing) is missing; `make test-servers` gets it"
            if Self.wanted == nil {
                // Otherwise nothing is shown about a cancelled case.
                print("\(scenario.name): skipped, as \(reason)")
                try Test.cancel("\(reason)")
            }
            throw CommandFailure(what: reason)
        }
        let site = try Site(scenario)
        let sent = try site.send()
        let judgement = try Judgement(site)
        if Self.wanted != nil { print("\(scenario.name): exit \(sent.status), \(judgement.summary)") }
        let comment = Comment(rawValue: "\(scenario.name): exit \(sent.status), \(judgement.summary) \(sent.errors)")
        #expect(judgement.outcomes.sum == scenario.devices, comment)
        #expect(
            judgement.claimed.isEmpty,
            "reported as accepted, and were not: \(judgement.claimed.sorted().prefix(3)); \(comment)")
        #expect(
            judgement.denied.isEmpty,
            "accepted, and not reported so: \(judgement.denied.sorted().prefix(3)); \(comment)")
        if scenario.unknown == "skip", !scenario.mayDouble { #expect(judgement.doubled == 0, comment) }
        if case .answersToAll = scenario.fault {
            #expect(sent.status == 130 && judgement.unknown < 30, comment)
        } else {
            #expect([0, 1].contains(sent.status) && judgement.outcomes.int("unsent") == 0, comment)
        }
        return judgement
    }

    @Test(
        "without a fault everybody is accepted once, is reported so, and waits five seconds at most",
        arguments: chosen(Scenario.faultless))
    func faultless(scenario: Scenario) throws {
        let judgement = try judge(scenario)
        let comment = Comment(rawValue: "\(scenario.name): \(judgement.summary)")
        #expect(judgement.unknown <= scenario.mostUnknown, comment)
        #expect(scenario.mostUnknown > 0 || judgement.isExact(devices: scenario.devices), comment)
        #expect(judgement.slowest <= 5000 + scenario.latencyMilliseconds, comment)
    }

    @Test("whatever befalls the servers, with `unknown: skip` nobody gets it twice", arguments: chosen(Scenario.faulty))
    func faulty(scenario: Scenario) throws { _ = try judge(scenario) }

    @Test(
        "nginx that closes after 1,000 requests is sent four fifths of what it is sent when it does not",
        .enabled(
            if: wanted.map { $0.isEmpty || Scenario.limitedNginx.name.contains($0) } == true,
            "compares speeds; `make test-servers` plays it"))
    func goodbyes() throws {
        // They take turns, so that a slow moment hits both.
        let ratios = try (0..<3).map { _ in
            Double(try judge(Scenario.limitedNginx).rate) / Double(try judge(Scenario.unlimitedNginx).rate)
        }
        #expect(ratios.sorted()[1] >= 0.8, "\(ratios)")
    }
}
