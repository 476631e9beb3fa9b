import PushServices
import Base
import Reports
import Testing

@testable import Delivery

/// Which answers are from APNs, and which from something on the way.
@Suite("answers that leave in doubt")
struct DoubtfulAnswerTests {
    private func outcome(_ answer: DeliveryMachine.Answer, resends: Bool = false) -> Settlement? {
        var bench = Bench(pushes: 2) {
            $0.resendsUnknown = resends
            $0.retry.maximumAttempts = 1
        }
        bench.warmUp()
        bench.advance()
        bench.machine.answered(1, answer, at: bench.now)
        bench.advance()
        return bench.machine.settlements.last
    }

    @Test(
        "5xx without APNs' JSON and without the push's apns-id is in doubt, whatever else it says",
        arguments: [500, 502, 503, 504, 599], ["", "Bad gateway", "GatewayTimeout"])
    func gateways(status: Int, reason: String) {
        let settlement = outcome(.init(status: status, reason: reason))
        #expect(settlement?.outcome == .unknown && settlement?.status == status)
    }

    @Test("5xx with a reason that Apple documents, or with the push's apns-id, is a refusal")
    func refusals() {
        for reason in ["InternalServerError", "ServiceUnavailable", "Shutdown"] {
            #expect(outcome(.init(status: 503, reason: reason))?.outcome == .failed)
        }
        #expect(outcome(.init(status: 503, id: .own))?.outcome == .failed)
        #expect(outcome(.init(status: 599, reason: "SomethingNew", id: .own))?.outcome == .failed)
    }

    @Test("an answer that was cut off says what its status says for certain: 200 and 410, and nothing else")
    func cutOff() {
        #expect(outcome(.init(status: 200, id: .own, isCutOff: true))?.outcome == .accepted)
        let gone = outcome(.init(status: 410, id: .own, isCutOff: true))
        #expect(gone?.outcome == .invalidToken && gone?.status == 410 && gone?.invalidSince == nil)
        for status in [400, 403, 404, 413, 429, 500, 503] {
            let settlement = outcome(.init(status: status, isCutOff: true))
            #expect(settlement?.outcome == .unknown && settlement?.status == status, "\(status)")
        }
    }

    /// What something other than APNs says with a 410.
    struct StrangeAnswer: Sendable {
        var reason = ""
        var id = ServiceAnswer.Identity.missing
        var isCutOff = false
    }

    @Test(
        "410 without the push's apns-id, and without a reason that Apple documents for it, is not APNs', also when it is cut off: the push is unknown, whatever `unknown` says, and the run stops",
        arguments: [StrangeAnswer(), .init(isCutOff: true), .init(reason: "Gone"), .init(id: .other)], [false, true])
    func stranger(answer: StrangeAnswer, resends: Bool) {
        var bench = Bench(pushes: 5) { $0.resendsUnknown = resends }
        bench.advance()
        bench.machine.answered(
            0, .init(status: 410, reason: answer.reason, id: answer.id, isCutOff: answer.isCutOff), at: bench.now)
        #expect(submitted(bench.advance(seconds: 100)).isEmpty)
        let first = bench.machine.settlements.first
        #expect(first?.outcome == .unknown && first?.status == 410, "\(bench.machine.settlements)")
        #expect(bench.machine.settlements.dropFirst().allSatisfy { $0.outcome == .unsent })
        guard case .stopped(let cause)? = bench.machine.ending?.end else { return #expect(Bool(false), "it goes on") }
        let reason = cause.sentence
        #expect(reason.contains("410 and without an apns-id") && reason.contains("volley doctor"))
    }

    @Test("the push's own apns-id will do for 410, or a reason of APNs'; 200 needs neither")
    func spelling() {
        for id in [ServiceAnswer.Identity.missing, .other] {
            #expect(outcome(.init(status: 200, id: id))?.outcome == .accepted)
            for reason in ["Unregistered", "ExpiredToken"] {
                #expect(outcome(.init(status: 410, reason: reason, id: id))?.outcome == .invalidToken)
            }
        }
        #expect(outcome(.init(status: 410, reason: "SomethingNew", id: .own))?.outcome == .invalidToken)
    }

    @Test(
        "5xx that leaves in doubt sends later requests to a spare server, where there is one", arguments: [false, true])
    func spareServer(isThere: Bool) {
        for service in [RongCloud(), Getui()] as [any PushService] {
            // Not every answer in doubt shows that the server has trouble.
            for (status, leaves) in [(502, isThere), (503, isThere), (200, false)] {
                var bench = Bench(pushes: 1) {
                    ($0.service, $0.hasSpareServers, $0.resendsUnknown) = (service, isThere, false)
                }
                bench.advance()
                bench.machine.answered(0, .init(status: status, isCutOff: true), at: bench.now)
                #expect(bench.machine.actions.contains(.changeServer(name: nil)) == leaves, "\(service.name) \(status)")
                bench.advance()
                // Getui recognizes what comes again.
                let outcomes: [Outcome] = service.recognizesRepeats ? [] : [.unknown]
                #expect(bench.machine.settlements.map(\.outcome) == outcomes, "\(bench.machine.settlements)")
            }
        }
    }

    @Test("what is in doubt is sent again when the campaign says so, after a while")
    func resends() {
        var bench = Bench(pushes: 2)
        bench.warmUp()
        bench.advance()
        bench.answer(1, 504)
        #expect(submitted(bench.advance()).isEmpty)
        #expect(submitted(bench.advance(seconds: 1)) == [1])
        bench.answer(1, 200)
        bench.advance()
        #expect(bench.machine.settlements.last?.outcome == .accepted && bench.machine.settlements.last?.attempts == 2)
    }
}
