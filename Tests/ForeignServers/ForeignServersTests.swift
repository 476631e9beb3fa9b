import Foundation
import TestCommands
import Testing

/// Whole campaigns, sent by the real binary to servers that nobody of Volley wrote, through proxies that nobody of Volley wrote. Each stand-in
/// has a ledger, and the report is held against it, device by device. `make test-servers` plays all scenarios, `make test` the quick ones.
@Suite("servers of others", .serialized)
struct ForeignServersTests {
    /// What the names of the scenarios hold that are to be played; then what is missing is a mistake. Nil for the quick ones that can be played.
    private static let wanted = ProcessInfo.processInfo.environment["VOLLEY_FOREIGN_SERVERS"]

    private static func chosen(_ scenarios: [Scenario]) -> [Scenario] {
        guard let wanted else { return scenarios.filter { $0.isQuick && $0.missing == nil } }
        return scenarios.filter { wanted.isEmpty || $0.name.contains(wanted) }
    }

    /// Sends, judges what holds in each scenario, and returns the rest for more judgement.
    private func judge(_ scenario: Scenario) throws -> Judgement {
        if let missing = scenario.missing { throw CommandFailure(what: "\(missing) is missing; `make test-servers` gets it") }
        let site = try Site(scenario)
        let sent = try site.send()
        let judgement = try Judgement(site)
        if Self.wanted != nil { print("\(scenario.name): exit \(sent.status), \(judgement.summary)") }
        let comment = Comment(rawValue: "\(scenario.name): exit \(sent.status), \(judgement.summary) \(sent.errors)")
        #expect([0, 1].contains(sent.status), comment)
        #expect(judgement.outcomes.sum == scenario.devices && judgement.outcomes.int("unsent") == 0, comment)
        // nginx logs an answer once it is sent; what kills it in between takes the line along.
        #expect(judgement.claimed.isEmpty, "reported as accepted, and were not: \(judgement.claimed.prefix(3)); \(comment)")
        #expect(judgement.denied.isEmpty, "were accepted, and are not reported so: \(judgement.denied.prefix(3)); \(comment)")
        if scenario.known != .answersBeyondGoAway { #expect(judgement.doubled == 0, comment) }
        return judgement
    }

    @Test(
        "without a fault everybody is accepted once, is reported so, and waits five seconds at most", arguments: chosen(Scenario.faultless))
    func faultless(scenario: Scenario) throws {
        let judgement = try judge(scenario)
        let comment = Comment(rawValue: "\(scenario.name): \(judgement.summary)")
        #expect(judgement.unknown <= scenario.mostUnknown, comment)
        #expect(scenario.mostUnknown > 0 || judgement.isExact(devices: scenario.devices), comment)
        #expect(judgement.slowest <= 5000 + scenario.latencyMilliseconds, comment)
    }

    @Test("whatever befalls the servers, with `unknown: skip` nobody gets it twice", arguments: chosen(Scenario.faulty))
    func faulty(scenario: Scenario) throws { _ = try judge(scenario) }
}
