import PushServices
import Base
import Reports
import Testing

@testable import Delivery

@Suite("canary")
struct CanaryTests {
    /// A machine with its canary of 100 on its way: slot 0 was accepted, 1 to 99 are in flight.
    private func onTheWay(pushes: Int = 5_000, _ change: (inout MachineSettings) -> Void = { _ in }) -> Bench {
        var bench = Bench(pushes: pushes) {
            $0.canaryPushes = 100
            change(&$0)
        }
        bench.warmUp()
        #expect(submitted(bench.advance()) == Array(1..<100))
        return bench
    }

    private func stopReason(_ bench: Bench) -> String? {
        if case .stopped(let cause) = bench.machine.ending?.end { cause.sentence } else { nil }
    }

    @Test("nothing else goes out before the first hundred are answered, and then everything does")
    func gate() {
        var bench = onTheWay()
        for push in 1..<99 { bench.answer(push, 200) }
        #expect(submitted(bench.advance(seconds: 1)).isEmpty)
        bench.answer(99, 200)
        #expect(submitted(bench.advance()).count == 1000)
    }

    @Test("a smaller audience is a canary as a whole")
    func smallAudience() {
        var bench = Bench(pushes: 30) { $0.canaryPushes = 100 }
        bench.warmUp()
        for push in submitted(bench.advance()) { bench.answer(push, 200) }
        bench.advance()
        #expect(bench.machine.end == .finished)
    }

    @Test(
        "what is refused for now is known, and holds nobody up",
        arguments: [(429, "TooManyRequests"), (503, "ServiceUnavailable"), (410, "Unregistered"), (400, "IdleTimeout")])
    func refusals(answer: (status: Int, reason: String)) {
        var bench = onTheWay()
        for push in 2..<100 { bench.answer(push, 200) }
        bench.answer(1, answer.status, answer.reason)
        #expect(!submitted(bench.advance()).isEmpty)
        #expect(bench.machine.canary.isOver)
    }

    @Test("a push that is let go after its refusals holds up no other of the canary, and takes the place of none")
    func refusedForGood() {
        var bench = Bench(pushes: 20) {
            $0.canaryPushes = 4
            $0.retry.maximumAttempts = 1
        }
        bench.warmUp()
        #expect(submitted(bench.advance()) == [1, 2, 3])
        // The limit fell to one: the first two refusals are a consequence, the third is one too
        // many.
        bench.machine.limitChanged(0, to: 1)
        for push in [1, 2, 3] { bench.machine.streamRefused(push, at: bench.now) }
        var sent: [Int] = []
        for _ in 0..<20 {
            for push in submitted(bench.advance(seconds: 1)) {
                sent.append(push)
                bench.answer(push, 200)
            }
        }
        #expect(Set(sent.prefix(3)) == [1, 2, 3], "\(sent)")
        #expect(sent.count == 19 && bench.machine.end == .finished, "\(sent)")
    }

    @Test("a missing answer holds the rest up only until it is overdue")
    func overdue() {
        var bench = onTheWay()
        bench.advance(seconds: 0.1)
        for push in 2..<100 { bench.answer(push, 200) }
        #expect((0..<29).allSatisfy { _ in submitted(bench.advance(seconds: 0.9)).isEmpty })
        #expect((0..<9).contains { _ in submitted(bench.advance(seconds: 0.9)).contains { $0 >= 100 } })
    }

    @Test("pushes lost with their connection are sent again before the rest, and awaited again")
    func lost() {
        var bench = onTheWay()
        for push in 1..<50 { bench.answer(push, 200) }
        bench.machine.connectionLost(0, cause: "reset by peer", at: bench.now)
        #expect(submitted(bench.advance(seconds: 2)) == [50], "one on a new connection")
        bench.answer(50, 200)
        var others: [Int] = []
        while others.isEmpty {
            let pushes = submitted(bench.advance())
            others = pushes.filter { $0 >= 100 }
            #expect(others.isEmpty || bench.machine.pushes[50..<100].allSatisfy { $0.state == .free })
            for push in pushes where push < 100 { bench.answer(push, 200) }
        }
    }

    @Test("without resending, what is lost is settled and holds nobody up")
    func lostForGood() {
        var bench = onTheWay { $0.resendsUnknown = false }
        bench.machine.connectionLost(0, cause: "reset by peer", at: bench.now)
        #expect(submitted(bench.advance(seconds: 2)) == [100])
    }

    @Test("what was not processed is still part of it")
    func notProcessed() {
        var bench = onTheWay()
        for push in 2..<100 { bench.answer(push, 200) }
        bench.machine.notProcessed(1, at: bench.now)
        #expect(submitted(bench.advance()) == [1])
        bench.answer(1, 200)
        #expect(submitted(bench.advance()).count == 1000)
    }

    @Test("a stream that is refused over and over does not hold the rest up for ever")
    func refusedStream() {
        var bench = onTheWay()
        for push in 2..<100 { bench.answer(push, 200) }
        for _ in 1..<bench.machine.settings.retry.maximumAttempts {
            bench.machine.streamRefused(1, at: bench.now)
            #expect(submitted(bench.advance()) == [1])
        }
        bench.machine.streamRefused(1, at: bench.now)
        #expect(submitted(bench.advance()).count == 1000)
    }

    @Test("mostly bad tokens among the canary stop the run before anything else went out, whichever comes last")
    func badTokens() throws {
        var bench = onTheWay()
        for push in 1..<60 { bench.answer(push, 400, "BadDeviceToken") }
        for push in 60..<100 { bench.answer(push, 200) }
        #expect(submitted(bench.advance()).isEmpty)
        #expect(try #require(stopReason(bench)).contains("BadDeviceToken"))
        #expect(bench.machine.settlements.count { $0.outcome == .unsent } == 4_900)
    }

    @Test("mostly rejections among the canary stop the run as well")
    func rejections() throws {
        var bench = onTheWay()
        for push in 1..<60 { bench.answer(push, 413, "PayloadTooLarge") }
        for push in 60..<100 { bench.answer(push, 200) }
        #expect(submitted(bench.advance()).isEmpty)
        #expect(try #require(stopReason(bench)).contains("PayloadTooLarge"))
    }

    @Test("the campaign's own limits judge the canary when they may judge so few answers", arguments: [100, 101])
    func ownLimits(after: Int) {
        var bench = onTheWay {
            $0.stopLimits = StopLimits()
            $0.stopLimits?.after = after
            $0.stopLimits?.shares[.invalidToken] = StopShare(millionths: 50_000)
        }
        for push in 1..<7 { bench.answer(push, 410, "Unregistered") }
        for push in 7..<100 { bench.answer(push, 200) }
        #expect(submitted(bench.advance()).isEmpty == (after == 100))
        #expect((stopReason(bench) == nil) == (after == 101))
    }

    @Test("a deadline that passes meanwhile ends the wait")
    func deadline() {
        var bench = onTheWay { $0.deadline = Timestamp(epochSeconds: 1_800_000_005) }
        bench.advance(seconds: 5)
        #expect(bench.machine.settlements.count { $0.outcome == .unsent && $0.reason == "Expired" } == 4_900)
    }

    @Test(
        "a canary that an earlier sender of the run began goes on: so many fewer go ahead, and all of them are judged")
    func goesOn() {
        var bench = Bench(pushes: 500) {
            $0.canaryPushes = 100
            $0.earlier.canary = 60
            $0.earlier.ambiguous = 60
        }
        var count = 0
        while case let next = submitted(bench.advance()), !next.isEmpty, bench.machine.ending == nil {
            count += next.count
            for push in next { bench.answer(push, 400, "BadDeviceToken") }
        }
        #expect(count == 40)
        guard case .stopped = bench.machine.ending?.end else {
            Issue.record("\(String(describing: bench.machine.ending))")
            return
        }
    }
}
