import Base
import PushServices
import Testing

@testable import Delivery

/// What is said of the settings, or by something other than the service, while other pushes are
/// accepted.
@Suite("answers about the settings")
struct SettingsDoubtTests {
    /// A run in which 30 pushes are in flight, and `accepted` of them were accepted first.
    private func bench(_ service: any PushService = APNs(), accepted: Int = 1, pushes: Int = 60) -> Bench {
        var bench = Bench(pushes: pushes) { ($0.service, $0.streamsPerConnection, $0.canaryPushes) = (service, 30, 0) }
        bench.advance()
        for push in 0..<accepted { accept(push, &bench) }
        bench.advance()
        return bench
    }

    private func accept(_ push: Int, _ bench: inout Bench) {
        bench.answer(push, 200) { $0.receipt = "projects/p/messages/1" }
    }

    private func outcomes(_ bench: Bench) -> [Int: Outcome] {
        Dictionary(uniqueKeysWithValues: bench.machine.settlements.map { ($0.recipient, $0.outcome) })
    }

    private func cause(_ bench: Bench) -> ServiceStop? {
        if case .stopped(.service(_, let stop))? = bench.machine.ending?.end { stop } else { nil }
    }

    /// Answers that say nothing of a device, by service.
    static let refusals: [(service: any PushService, status: Int, reason: String)] = [
        (APNs(), 404, "BadPath"), (APNs(), 405, "MethodNotAllowed"), (APNs(), 403, "NewlyForbidden"),
        (APNs(), 400, "TopicDisallowed"),
        (FCM(), 403, "PERMISSION_DENIED"), (FCM(), 404, "NOT_FOUND"), (FCM(), 401, "THIRD_PARTY_AUTH_ERROR"),
    ]

    @Test("about one device among others that are accepted, they reject that device alone", arguments: refusals.indices)
    func single(number: Int) {
        let (service, status, reason) = Self.refusals[number]
        var bench = bench(service)
        bench.answer(1, status, reason)
        bench.advance()
        #expect(bench.machine.ending == nil && outcomes(bench)[1] == nil, "what the others get is not known yet")
        accept(2, &bench)
        bench.advance()
        #expect(bench.machine.ending == nil && outcomes(bench)[1] == .rejected)
        #expect(bench.machine.settlements.last { $0.recipient == 1 }?.reason == reason)
    }

    @Test("about the last device, they reject it when nothing else is open", arguments: refusals.indices)
    func last(number: Int) {
        let (service, status, reason) = Self.refusals[number]
        var bench = bench(service, pushes: 2)
        bench.answer(1, status, reason)
        bench.advance()
        #expect(bench.machine.end == .finished && outcomes(bench) == [0: .accepted, 1: .rejected])
    }

    @Test(
        "twenty in a row stop the run; one push shows the cause, and a resumption reaches the others",
        arguments: refusals.indices)
    func repeated(number: Int) {
        let (service, status, reason) = Self.refusals[number]
        var bench = bench(service)
        for push in 1..<20 { bench.answer(push, status, reason) }
        bench.advance()
        #expect(bench.machine.ending == nil)
        for push in 20..<24 { bench.answer(push, status, reason) }
        #expect(cause(bench) == .refused(reason: reason, status: status, clockLagSeconds: nil))
        #expect(outcomes(bench).values.count { $0 == .rejected } == 1 && outcomes(bench)[20] == .rejected)
        #expect((1..<24).filter { outcomes(bench)[$0] == .unsent }.count == 22)
    }

    @Test("a push that is accepted in between begins the count anew, whichever loop sent it", arguments: [false, true])
    func interrupted(byOther: Bool) {
        var bench = bench()
        for push in 1..<20 { bench.answer(push, 403, "NewlyForbidden") }
        if byOther { bench.machine.noteAccepted(at: bench.now) } else { accept(20, &bench) }
        #expect((1..<20).allSatisfy { outcomes(bench)[$0] == .rejected })
        for push in 21..<30 { bench.answer(push, 403, "NewlyForbidden") }
        bench.advance()
        #expect(bench.machine.ending == nil)
    }

    @Test("the first answer of a run stops it, unless it is about a setting that only some devices need")
    func first() {
        for (service, status, reason) in Self.refusals {
            var bench = bench(service, accepted: 0)
            bench.answer(0, status, reason)
            #expect((cause(bench) == nil) == (reason == "THIRD_PARTY_AUTH_ERROR"), "\(reason)")
        }
    }

    @Test("what was kept when a person interrupts the run is unsent, and what is past its deadline is rejected")
    func ends() {
        var bench = bench()
        bench.answer(1, 403, "NewlyForbidden")
        bench.machine.interrupt(at: bench.now)
        #expect(outcomes(bench)[1] == .unsent)
        var late = Bench(pushes: 5) { $0.deadline = Timestamp(epochSeconds: 1_800_000_060) }
        late.warmUp()
        late.advance()
        late.answer(1, 403, "NewlyForbidden")
        late.advance(seconds: 61)
        #expect(outcomes(late)[1] == .rejected)
    }

    @Test(
        "a quota of the day that is used up stops the run at once, whatever was accepted before, and rejects no device")
    func usedUp() {
        var bench = bench(BatchService(1))
        bench.answer(1, 400, "DayUsedUp")
        #expect(cause(bench) == .refused(reason: "DayUsedUp", status: 400, clockLagSeconds: nil))
        bench.answer(2, 400, "DayUsedUp")
        #expect(
            [1, 2, 40].allSatisfy { outcomes(bench)[$0] == .unsent } && !outcomes(bench).values.contains(.rejected))
    }

    // MARK: Strangers

    @Test(
        "a redirection, or a proxy that wants a password, settles no device: the run stops, and all of them are unsent",
        arguments: [302, 407])
    func notPassedOn(status: Int) {
        for service in [APNs(), FCM(), Getui(), RongCloud()] as [any PushService] {
            var bench = bench(service, accepted: 0)
            bench.answer(0, status) { $0.id = .missing }
            #expect(cause(bench) == .notTheService(status: status), "\(service.name)")
            #expect(
                outcomes(bench).count == 60 && outcomes(bench).values.allSatisfy { $0 == .unsent }, "\(service.name)")
        }
    }

    @Test(
        "one of them among accepted pushes is tried again; twenty in a row stop the run, and settle none",
        arguments: [302, 407])
    func among(status: Int) {
        var bench = bench()
        bench.answer(1, status)
        accept(2, &bench)
        #expect(bench.machine.ending == nil && outcomes(bench)[1] == nil)
        for push in 3..<23 { bench.answer(push, status) }
        #expect(cause(bench) == .notTheService(status: status))
        for push in 23..<30 { bench.answer(push, status) }
        #expect(outcomes(bench).filter { $0.value != .accepted }.allSatisfy { $0.value == .unsent })
        #expect([1, 3, 22, 25].allSatisfy { outcomes(bench)[$0] == .unsent })
    }

    @Test(
        "a page without a reason is from no service: where it may have been passed on, the push is in doubt",
        arguments: [400, 401, 403, 404, 405])
    func page(status: Int) {
        for service in [APNs(), FCM(), Getui(), RongCloud()] as [any PushService] {
            var bench = Bench(pushes: 3) { ($0.service, $0.resendsUnknown) = (service, false) }
            bench.advance()
            bench.answer(0, status) { $0.id = .missing }
            #expect(cause(bench) == .notTheService(status: status), "\(service.name)")
            #expect(
                outcomes(bench)[0] == .unknown && bench.machine.settlements.count { $0.outcome == .unsent } == 2,
                "\(service.name)")
        }
    }
}
