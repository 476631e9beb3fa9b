import PushServices
import Base
import Reports
import Testing

@testable import Delivery

/// A run stops only with helpful words: what happened, and what to check.
@Suite("why a run stops")
struct StopReasonsTests {
    /// apns.md, "Response": the effect of an answer.
    enum Effect: Sendable { case settles, retries, stops }

    static let rows: [(status: Int, reasons: String, effect: Effect)] = [
        (400, "BadDeviceToken DeviceTokenNotForTopic", .settles),
        (
            400,
            "BadCollapseId BadExpirationDate BadMessageId BadPriority BadTopic DuplicateHeaders InvalidPushType MissingDeviceToken MissingTopic "
                + "PayloadEmpty TopicDisallowed", .stops
        ), (400, "IdleTimeout", .retries), (403, "ExpiredProviderToken", .retries),
        (
            403,
            "InvalidProviderToken MissingProviderToken BadCertificate BadCertificateEnvironment BadEnvironmentKeyInToken BadEnvironmentKeyIdInToken "
                + "UnrelatedKeyIdInToken Forbidden SomethingNew", .stops
        ), (404, "BadPath", .stops), (405, "MethodNotAllowed", .stops), (410, "Unregistered ExpiredToken", .settles),
        (413, "PayloadTooLarge", .settles),
        (429, "TooManyRequests TooManyProviderTokenUpdates", .retries), (418, "SomethingNew", .settles),
    ]

    private func reason(_ bench: Bench) -> String? {
        if case .stopped(let cause) = bench.machine.ending?.end { cause.sentence } else { nil }
    }

    /// One to four complete sentences, which somewhere say what to do.
    private func expectHelp(_ reason: String?, sourceLocation: SourceLocation = #_sourceLocation) {
        guard let reason else {
            Issue.record("it does not stop", sourceLocation: sourceLocation)
            return
        }
        #expect(
            reason.hasSuffix(".") && !reason.contains("  ") && !reason.contains(".."), "\(reason)",
            sourceLocation: sourceLocation)
        #expect(
            reason.first?.isUppercase == true || reason.hasPrefix("example.com") || reason.first?.isNumber == true,
            "\(reason)")
        let advice = ["Check ", "check ", "Ask ", "Resume ", "resume ", "report it", "Set the clock", "Set the clock"]
        #expect(advice.contains { reason.contains($0) }, "\(reason)", sourceLocation: sourceLocation)
        #expect(reason.count < 600, "\(reason)", sourceLocation: sourceLocation)
    }

    @Test(
        "every refusal of apns.md settles, is tried again, or stops with its reason and advice", arguments: rows.indices
    )
    func refusals(row: Int) {
        let (status, reasons, effect) = Self.rows[row]
        for reason in reasons.split(separator: " ").map(String.init) {
            var bench = Bench(pushes: 3)
            bench.advance()
            bench.answer(0, status, reason)
            #expect((self.reason(bench) != nil) == (effect == .stops), "\(reason)")
            #expect(bench.machine.settlements.contains { $0.recipient == 0 } == (effect != .retries), "\(reason)")
            guard effect == .stops else { continue }
            expectHelp(self.reason(bench))
            #expect(self.reason(bench)?.contains("\(reason) (\(status))") == true)
        }
    }

    @Test(
        "every connection that cannot be had says why and what to check",
        arguments: [
            ConnectionFailure.untrusted("self-signed certificate"), .notHTTP2,
            .certificateRefused("alert bad certificate"),
            .misconfigured("no such file"), .proxyRefused(.credentials("407")), .proxyRefused(.forbidden("403")),
            .proxyRefused(.untrusted("self-signed certificate")),
        ])
    func connections(failure: ConnectionFailure) {
        var bench = Bench(pushes: 3) { $0.proxy = "proxy:3128" }
        bench.advance()
        bench.machine.connectionFailed(0, failure, at: bench.now)
        expectHelp(reason(bench))
    }

    @Test("a server that cannot be reached, at all or any more", arguments: [false, true], [nil, "proxy:3128"])
    func unreachable(hasAnswered: Bool, proxy: String?) {
        var bench = Bench(pushes: 30) {
            $0.proxy = proxy
            $0.retry.maximumTotalSeconds = 100
        }
        if hasAnswered { bench.warmUp() }
        for _ in 0..<500 where bench.machine.end == nil {
            bench.advance(seconds: 0.9)
            for connection in bench.machine.connections.indices
            where bench.machine.connections[connection].state == .open {
                bench.machine.connectionFailed(connection, .unreachable("Connection refused"), at: bench.now)
            }
        }
        guard case .stopped(let cause) = bench.machine.end else {
            Issue.record("it does not stop")
            return
        }
        let reason = cause.sentence
        expectHelp(reason)
        #expect(reason.contains("example.com:443") && reason.contains(proxy ?? "example.com"))
    }

    @Test("a service that refuses everything for long")
    func trouble() {
        var bench = Bench(pushes: 5_000) { $0.retry.maximumTotalSeconds = 100 }
        bench.warmUp()
        for _ in 0..<2_000 where bench.machine.ending == nil {
            for push in submitted(bench.advance(seconds: 0.1)) { bench.answer(push, 503, "ServiceUnavailable") }
        }
        expectHelp(reason(bench))
        #expect(reason(bench)?.contains("503 ServiceUnavailable") == true)
    }

    @Test("shares that are too large", arguments: [(400, "BadDeviceToken"), (413, "PayloadTooLarge")])
    func shares(answer: (status: Int, reason: String)) {
        var bench = Bench(pushes: 500)
        bench.warmUp()
        for push in submitted(bench.advance()).prefix(200) where bench.machine.ending == nil {
            bench.answer(push, answer.status, answer.reason)
        }
        expectHelp(reason(bench))
        #expect(reason(bench)?.contains(answer.reason) == true)
    }

    @Test("the campaign's own limits", arguments: StopLimits.outcomes)
    func limits(outcome: Outcome) {
        var bench = Bench(pushes: 500) {
            $0.stopLimits = StopLimits()
            $0.stopLimits?.after = 100
            $0.stopLimits?.shares[outcome] = StopShare(millionths: 10_000)
            $0.retry.maximumAttempts = 1
        }
        bench.warmUp()
        let answers: [Outcome: (Int, String)] = [
            .invalidToken: (410, "Unregistered"), .rejected: (413, "PayloadTooLarge"),
            .failed: (503, "ServiceUnavailable"),
        ]
        let (status, reason) = answers[outcome] ?? (200, "")
        bench.advance()
        for push in 1...100 {
            if push % 4 == 0 { bench.answer(push, status, reason) } else { bench.answer(push, 200) }
        }
        bench.advance()
        expectHelp(self.reason(bench))
        #expect(self.reason(bench)?.contains(outcome.name) == true && self.reason(bench)?.contains(reason) == true)
    }

    // MARK: Clocks

    private func refused(_ reason: String, serverAheadSeconds: Double?, ageSeconds: Double? = nil) -> String? {
        var bench = Bench(pushes: 3)
        bench.advance()
        var answer = DeliveryMachine.Answer(status: 403, reason: reason)
        answer.serverTime = serverAheadSeconds.map { bench.now.wall.adding(seconds: $0) }
        bench.machine.answered(0, answer, at: bench.now)
        if reason == "ExpiredProviderToken" { bench.machine.tokenRefused(ageSeconds: ageSeconds, at: bench.now) }
        return self.reason(bench)
    }

    @Test("a wrong clock is named with its difference, as far as it is known")
    func clocks() {
        #expect(
            refused("ExpiredProviderToken", serverAheadSeconds: 4_000, ageSeconds: 300) == """
                APNs calls the provider token expired although it is only 5 min 0 s old, and allows no newer one within 20 minutes. This machine's \
                clock is 1 h 6 min behind the server's. Set the clock, then resume the run.
                """)
        #expect(
            refused("ExpiredProviderToken", serverAheadSeconds: nil, ageSeconds: 300) == """
                APNs calls the provider token expired although it is only 5 min 0 s old, and allows no newer one within 20 minutes. A token is good for \
                an hour, so this machine's clock seems to be at least 55 min 0 s behind the server's. Set the clock, then resume the run.
                """)
        #expect(
            refused("InvalidProviderToken", serverAheadSeconds: -600)?.contains("10 min 0 s ahead of the server's")
                == true)
        #expect(refused("InvalidProviderToken", serverAheadSeconds: -20)?.contains("ahead of") == false)
        #expect(refused("TopicDisallowed", serverAheadSeconds: -600)?.contains("ahead of") != true)
        for (reason, ahead) in [
            ("ExpiredProviderToken", nil), ("InvalidProviderToken", -600.0), ("ExpiredProviderToken", 600),
        ] {
            expectHelp(refused(reason, serverAheadSeconds: ahead))
        }
    }
}
