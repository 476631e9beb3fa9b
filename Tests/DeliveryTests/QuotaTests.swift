import Base
import PushServices
import Reports
import Testing

@testable import Delivery

/// What a run does once the service says that the sender has used up its quota.
@Suite("quotas")
struct QuotaTests {
    private func bench(pushes: Int = 50, _ change: (inout MachineSettings) -> Void = { _ in }) -> Bench {
        var bench = Bench(pushes: pushes) {
            $0.service = BatchService(1)
            $0.streamsPerConnection = 10
            change(&$0)
        }
        bench.warmUp()
        bench.advance()
        return bench
    }

    /// Advances second by second until something is submitted; returns the seconds and what it was.
    private func wait(_ bench: inout Bench, atMost seconds: Int = 5000) -> (seconds: Int, pushes: [Int]) {
        for second in 1...seconds {
            let pushes = submitted(bench.advance(seconds: 1))
            if !pushes.isEmpty || bench.machine.end != nil { return (second, pushes) }
        }
        return (seconds, [])
    }

    @Test("nothing leaves for a minute, then one push tries, and when it is taken all others follow")
    func hold() {
        var bench = bench()
        bench.answer(1, 429, "QuotaUsedUp")
        for push in 2...10 { bench.answer(push, 200) }
        #expect(submitted(bench.advance()).isEmpty)
        let (seconds, pushes) = wait(&bench)
        #expect((60...72).contains(seconds), "\(seconds)")
        #expect(pushes.count == 1)
        #expect(submitted(bench.advance(seconds: 1)).isEmpty, "one at a time")
        bench.answer(pushes[0], 200)
        #expect(submitted(bench.advance()).count == 10)
    }

    @Test(
        "the wait is what the service asks for, and within bounds whatever that is",
        arguments: [(5.0, 5...6), (0.5, 1...1), (1e12, 86_400...96_000)])
    func asked(seconds: Double, expected: ClosedRange<Int>) {
        var bench = bench { $0.retry.maximumTotalSeconds = 1e6 }
        for push in 1...10 { bench.answer(push, 429, "QuotaUsedUp", retryAfter: seconds) }
        #expect(expected.contains(wait(&bench, atMost: 100_000).seconds))
    }

    @Test(
        "a service that takes a push as its last one gets no other until the time it said, and what is in flight is answered"
    )
    func spent() {
        var bench = bench()
        bench.answer(1, 200) { $0.budgetReturnsAfterSeconds = 20 }
        for push in 2...10 { bench.answer(push, 200) }
        #expect(submitted(bench.advance()).isEmpty)
        let (seconds, pushes) = wait(&bench)
        #expect((20...21).contains(seconds) && pushes.count == 1, "\(seconds) \(pushes)")
        bench.answer(pushes[0], 200)
        #expect(submitted(bench.advance()).count == 10)
        #expect(bench.machine.quota.until == nil)
    }

    @Test("each wait that helped nothing is twice as long, up to an hour, and a push that is taken begins anew")
    func doubling() {
        var bench = bench { $0.retry.maximumTotalSeconds = 1e6 }
        for push in 1...10 { bench.answer(push, 429, "QuotaUsedUp") }
        for expected in [60, 120, 240, 480, 960, 1920, 3600, 3600] {
            let (seconds, pushes) = wait(&bench)
            #expect((expected...expected * 6 / 5 + 1).contains(seconds), "\(seconds) instead of \(expected)")
            bench.answer(pushes[0], 429, "QuotaUsedUp")
        }
        let (_, pushes) = wait(&bench)
        bench.answer(pushes[0], 200)
        let others = submitted(bench.advance())
        bench.answer(others[0], 429, "QuotaUsedUp")
        for push in others.dropFirst() { bench.answer(push, 200) }
        #expect((60...73).contains(wait(&bench).seconds))
    }

    @Test("a service that counts by the second is asked again after one, which doubles")
    func short() {
        var bench = bench { ($0.retry.maximumTotalSeconds, $0.retry.firstQuotaSeconds) = (1e6, 1) }
        for push in 1...10 { bench.answer(push, 429, "QuotaUsedUp") }
        for expected in [1, 2, 4, 8, 16] {
            let (seconds, pushes) = wait(&bench)
            #expect((expected...expected * 6 / 5 + 1).contains(seconds), "\(seconds) instead of \(expected)")
            bench.answer(pushes[0], 429, "QuotaUsedUp")
        }
        let (_, pushes) = wait(&bench)
        bench.answer(pushes[0], 200)
        let others = submitted(bench.advance())
        bench.answer(others[0], 429, "QuotaUsedUp")
        for push in others.dropFirst() { bench.answer(push, 200) }
        #expect((1...2).contains(wait(&bench).seconds))
    }

    @Test("it is no attempt: a push that has only one is sent again, with the same number of attempts")
    func attempts() {
        var bench = bench(pushes: 2) { $0.retry.maximumAttempts = 1 }
        for _ in 0..<3 {
            bench.answer(1, 429, "QuotaUsedUp", retryAfter: 20)
            #expect(wait(&bench).pushes == [1])
        }
        bench.answer(1, 200)
        bench.advance()
        #expect(bench.machine.end == .finished)
        #expect(bench.machine.settlements.last?.attempts == 1 && bench.machine.settlements.last?.outcome == .accepted)
    }

    @Test("when it lasts as long as an outage may, the run stops with the service's reason, and nobody has failed")
    func timeout() {
        var bench = bench()
        while bench.machine.end == nil {
            for push in bench.machine.pushes.indices where bench.machine.pushes[push].state == .inFlight {
                bench.answer(push, 429, "QuotaUsedUp")
            }
            bench.advance(seconds: 1)
        }
        guard case .stopped(let cause) = bench.machine.end else {
            Issue.record("it goes on")
            return
        }
        #expect(
            cause.sentence.contains("429 QuotaUsedUp") && cause.sentence.contains("has accepted none for 15 min"),
            "\(cause.sentence)")
        #expect(bench.machine.settlements.allSatisfy { $0.outcome == .accepted || $0.outcome == .unsent })
    }

    @Test(
        "a hold that the service says will outlast the run's patience ends the run at once, with the moment at which it goes on",
        arguments: [429, 200])
    func untilTomorrow(status: Int) {
        var bench = bench()
        bench.answer(1, status, status == 429 ? "QuotaUsedUp" : "", retryAfter: status == 429 ? 5000 : nil) {
            if status == 200 { $0.budgetReturnsAfterSeconds = 5000 }
        }
        let answered = bench.now.wall
        bench.advance(seconds: 1)
        #expect(bench.machine.end == nil, "others are in flight")
        for push in 2...10 { bench.answer(push, 200) }
        bench.advance(seconds: 1)
        guard case .stopped(let cause) = bench.machine.end, let until = cause.heldUntil else {
            Issue.record("it does not stop: \(String(describing: bench.machine.end))")
            return
        }
        #expect((5000...5102).contains(until.epochSeconds - answered.epochSeconds))
        #expect(cause.sentence.contains("used up\(status == 429 ? " (429 QuotaUsedUp)" : "")"), "\(cause.sentence)")
        #expect(bench.machine.settlements.allSatisfy { $0.outcome == .accepted || $0.outcome == .unsent })
        #expect(StopCause(json: cause.json) == cause)
    }

    @Test("what expires during a hold is unsent, and an interruption ends the hold")
    func ends() {
        var late = bench { $0.deadline = Timestamp(epochSeconds: 1_800_000_030) }
        for push in 1...10 { late.answer(push, 429, "QuotaUsedUp") }
        late.advance(seconds: 31)
        #expect(late.machine.end == .finished)
        #expect(
            late.machine.settlements.count { $0.outcome == .unsent && $0.reason == OwnReason.expired.rawValue } == 49)
        var stopped = bench()
        for push in 1...10 { stopped.answer(push, 429, "QuotaUsedUp") }
        stopped.machine.interrupt(at: stopped.now)
        stopped.advance()
        #expect(stopped.machine.end == .interrupted)
    }

    @Test("it says until when it waits")
    func words() {
        var bench = bench()
        for push in 1...10 { bench.answer(push, 429, "QuotaUsedUp", retryAfter: 100) }
        bench.advance()
        guard case .quota(let until) = bench.machine.wait(at: bench.now) else {
            Issue.record("\(String(describing: bench.machine.wait(at: bench.now)))")
            return
        }
        let seconds = until.epochSeconds - bench.now.wall.epochSeconds
        #expect((100...102).contains(seconds))
        #expect(SendWait.together([.quota(until: until), nil, .outage(seconds: 3)]) == .quota(until: until))
    }

    @Test("the canary still waits for a push that the quota held up")
    func canary() {
        var bench = Bench(pushes: 50) {
            ($0.service, $0.canaryPushes) = (BatchService(1), 5)
        }
        bench.warmUp()
        #expect(submitted(bench.advance()) == [1, 2, 3, 4])
        bench.answer(1, 429, "QuotaUsedUp", retryAfter: 10)
        for push in 2...4 { bench.answer(push, 200) }
        #expect(wait(&bench).pushes == [1])
        #expect(submitted(bench.advance(seconds: 1)).isEmpty)
        bench.answer(1, 200)
        #expect(!submitted(bench.advance()).isEmpty)
    }

    @Test("another loop waits as long")
    func otherLoops() {
        let loopGroup = LoopGroup(control: SendControl(), largest: 2)
        var bench = bench()
        for push in 1...10 { bench.answer(push, 200) }
        #expect(loopGroup.hold(until: nil) == .min)
        let end = bench.now.nanoseconds + 30_000_000_000
        #expect(loopGroup.hold(until: end) == end && loopGroup.hold(until: end - 1) == end)
        bench.machine.quota.join(until: loopGroup.hold(until: nil), at: bench.now.nanoseconds)
        let (seconds, pushes) = wait(&bench)
        #expect(seconds == 30 && pushes.count == 1)
        bench.answer(pushes[0], 200)
        bench.machine.quota.join(until: loopGroup.hold(until: nil), at: bench.now.nanoseconds)
        #expect(submitted(bench.advance()).count == 10, "a hold that is over holds nobody")
    }
}

@Suite("refusals that may be for the message")
struct RefusedLikeAllTests {
    private func bench(_ change: (inout MachineSettings) -> Void = { _ in }) -> Bench {
        Bench(pushes: 50) {
            $0.service = BatchService(1)
            change(&$0)
        }
    }

    @Test("the first answer of a run stops it, and one device is rejected")
    func first() {
        var bench = bench()
        bench.advance()
        bench.answer(0, 400, "BadMessage")
        bench.advance()
        #expect(
            bench.machine.end
                == .stopped(.service("apns", .refused(reason: "BadMessage", status: 400, clockLagSeconds: nil))))
        #expect(bench.machine.settlements.count { $0.outcome == .rejected } == 1)
        #expect(bench.machine.settlements.count { $0.outcome == .unsent } == 49)
    }

    @Test("answers that refuse other devices do not speak for the message")
    func afterOthers() {
        var bench = bench()
        bench.advance()
        bench.answer(0, 410, "Unregistered")
        bench.advance()
        bench.answer(1, 400, "BadMessage")
        bench.advance()
        guard case .stopped = bench.machine.end else {
            Issue.record("it goes on")
            return
        }
    }

    @Test(
        "once a push was accepted, in this epoch or an earlier one, it concerns that push alone",
        arguments: [true, false])
    func later(isEarlier: Bool) {
        var bench = bench { $0.earlier.hasAccepted = isEarlier }
        bench.advance()
        if !isEarlier {
            bench.answer(0, 200)
            bench.advance()
        }
        bench.answer(isEarlier ? 0 : 1, 400, "BadMessage")
        bench.advance()
        #expect(bench.machine.ending == nil)
        #expect(bench.machine.settlements.last?.outcome == .rejected)
    }
}
