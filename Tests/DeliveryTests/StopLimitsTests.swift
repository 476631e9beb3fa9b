import PushServices
import Base
import Glibc
import Reports
import Testing

@testable import Delivery

@Suite("the campaign's own limits")
struct StopLimitsTests {
    private func limits(_ outcome: Outcome, _ percent: Int, after: Int) -> StopLimits {
        var limits = StopLimits()
        limits.shares[outcome] = StopShare(millionths: percent * 10_000)
        limits.after = after
        return limits
    }

    /// A machine with 1,000 pushes in flight: slots 1 to 1,000.
    private func busy(_ limits: StopLimits, _ change: (inout MachineSettings) -> Void = { _ in }) -> Bench {
        var bench = Bench(pushes: 5_000) {
            $0.stopLimits = limits
            change(&$0)
        }
        bench.warmUp()
        bench.advance()
        return bench
    }

    private func reason(_ bench: Bench) -> String? {
        if case .stopped(let cause) = bench.machine.ending?.end { cause.sentence } else { nil }
    }

    @Test("a share that is reached is allowed; one that is passed stops the run, with all figures and what to check")
    func passed() {
        var bench = busy(limits(.invalidToken, 20, after: 100))
        for push in 1...79 { bench.answer(push, 200) }
        for push in 80...99 { bench.answer(push, 410, "Unregistered") }
        bench.advance()
        #expect(reason(bench) == nil, "20 of 100")
        bench.answer(100, 410, "Unregistered")
        bench.advance()
        #expect(
            reason(bench) == """
                20.8 % of the answers so far were invalid_token (21 of 101), and delivery.stop_when in the campaign allows 20%. The last reason was \
                Unregistered. Check that the export is recent and belongs to this app, and check its environment and topic in volley.yaml. \
                An old list simply has many dead tokens: then raise the limit in the campaign, and plan it again. This run keeps the limit that \
                it was planned with.
                """)
    }

    @Test("nothing is judged before so many answers")
    func after() {
        var bench = busy(limits(.rejected, 1, after: 200))
        for push in 1...80 { bench.answer(push, 413, "PayloadTooLarge") }
        for push in 81...198 { bench.answer(push, 200) }
        bench.advance()
        #expect(reason(bench) == nil)
        bench.answer(199, 200)
        bench.advance()
        #expect(reason(bench)?.contains("PayloadTooLarge (413)") == true)
        #expect(reason(bench)?.contains("80 of 200") == true)
    }

    @Test("pushes that outlived their retries count as failed, those that wait for one do not count yet")
    func failed() {
        var bench = busy(limits(.failed, 5, after: 100)) { $0.retry.maximumAttempts = 2 }
        for push in 1...6 { bench.answer(push, 503, "ServiceUnavailable") }
        for push in 7...200 { bench.answer(push, 200) }
        bench.advance()
        #expect(reason(bench) == nil)
        for push in 201...400 { bench.answer(push, 200) }
        for push in submitted(bench.advance(seconds: 1)) where push <= 6 {
            bench.answer(push, 503, "ServiceUnavailable")
        }
        bench.advance()
        #expect(reason(bench) == nil, "6 of 401")
        for push in 401...430 { bench.answer(push, 503, "ServiceUnavailable") }
        for push in submitted(bench.advance(seconds: 1)) where (401...430).contains(push) {
            bench.answer(push, 503, "ServiceUnavailable")
        }
        bench.advance()
        #expect(reason(bench)?.contains("were failed (") == true)
        #expect(reason(bench)?.contains("ServiceUnavailable") == true)
    }

    @Test("what is unknown or unsent is no answer")
    func unknown() {
        var bench = busy(limits(.invalidToken, 50, after: 1)) { $0.resendsUnknown = false }
        bench.machine.connectionLost(0, cause: "reset by peer", at: bench.now)
        bench.advance(seconds: 1)
        #expect(bench.machine.tally.answers == 1)
        #expect(reason(bench) == nil)
    }

    @Test("the loops of a run are judged together")
    func loops() {
        var bench = busy(limits(.rejected, 10, after: 1000))
        for push in 1...60 { bench.answer(push, 413, "PayloadTooLarge") }
        for push in 61...499 { bench.answer(push, 200) }
        bench.advance()
        #expect(reason(bench) == nil)
        bench.machine.tallyOfOthers = AnswerTally(accepted: 458, rejected: 42)
        bench.advance()
        #expect(reason(bench)?.contains("102 of 1,000") == true)
    }

    @Test("a limit that neither of two members passes alone is passed by the sum")
    func members() throws {
        let control = SendControl(), loopGroup = LoopGroup(control: control, largest: 1)
        let loop = try loopGroup.join(Wakeup())
        var bench = busy(limits(.rejected, 10, after: 1000))
        for push in 1...60 { bench.answer(push, 413, "PayloadTooLarge") }
        for push in 61...499 { bench.answer(push, 200) }
        // What has been told before is replaced, not added to.
        for told in [
            [Outcome.accepted: 300, .rejected: 35], [.accepted: 458, .rejected: 40, .unknown: 70, .unsent: 9],
        ] {
            control.noteElsewhere(told)
            bench.machine.tallyOfOthers = loopGroup.exchange(bench.machine.tally, of: loop)
            bench.advance()
            #expect(reason(bench) == nil, "100 of 998")
        }
        control.noteElsewhere([.accepted: 458, .rejected: 42])
        bench.machine.tallyOfOthers = loopGroup.exchange(bench.machine.tally, of: loop)
        #expect(submitted(bench.advance()).isEmpty, "judged before the next push")
        #expect(reason(bench)?.contains("102 of 1,000") == true)
    }

    @Test("a limit that others passed stops a sender that has seen no such answer, and no reason is made up")
    func elsewhere() {
        var bench = busy(limits(.rejected, 10, after: 100))
        bench.machine.tallyOfOthers = AnswerTally(accepted: 100, rejected: 100)
        bench.advance()
        #expect(reason(bench)?.contains("allows 10%. Check the campaign's content") == true)
    }

    @Test("news from others wakes the loops, once for each")
    func news() throws {
        let control = SendControl(), wakeup = try Wakeup()
        control.wakeForNews(wakeup)
        func isWoken() -> Bool {
            var watched = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&watched, 1, 0) == 1
        }
        #expect(!isWoken())
        control.noteElsewhere([.accepted: 1])
        #expect(isWoken())
        wakeup.clear()
        control.noteElsewhere([.accepted: 1])
        #expect(!isWoken(), "nothing new")
        control.closeGate()
        #expect(!isWoken())
        control.openGate()
        #expect(isWoken())
    }

    @Test("what the loops count is told to all others")
    func exchange() throws {
        let loopGroup = LoopGroup(control: SendControl(), largest: 3)
        let (first, second, third) = (
            try loopGroup.join(Wakeup()), try loopGroup.join(Wakeup()), try loopGroup.join(Wakeup())
        )
        #expect(loopGroup.exchange(AnswerTally(accepted: 5, failed: 1), of: first) == AnswerTally())
        #expect(loopGroup.exchange(AnswerTally(rejected: 2), of: second) == AnswerTally(accepted: 5, failed: 1))
        #expect(loopGroup.exchange(AnswerTally(accepted: 7), of: first) == AnswerTally(rejected: 2))
        #expect(loopGroup.exchange(AnswerTally(), of: third) == AnswerTally(accepted: 7, rejected: 2))
    }

    @Test("a run whose last answers pass a limit is finished: there is nothing left to stop")
    func nothingLeft() {
        var bench = Bench(pushes: 20) { $0.stopLimits = limits(.invalidToken, 1, after: 20) }
        bench.warmUp()
        for push in submitted(bench.advance()) { bench.answer(push, 410, "Unregistered") }
        bench.advance()
        #expect(bench.machine.end == .finished)
    }

    @Test("what stops every run does so below the campaign's limits, too")
    func floor() {
        var bench = busy(limits(.invalidToken, 90, after: 100_000))
        for push in 1...250 { bench.answer(push, 400, "BadDeviceToken") }
        bench.advance()
        #expect(reason(bench)?.contains("environment") == true)
    }

    @Test(
        "a share reads as it is written",
        arguments: [(1, "0.0001%"), (5_000, "0.5%"), (10_000, "1%"), (123_400, "12.34%"), (1_000_000, "100%")])
    func notation(millionths: Int, text: String) {
        #expect(StopShare(millionths: millionths).description == text)
    }

    @Test("answers of earlier senders of the run are judged with those to come")
    func earlier() {
        for earlier in [[Outcome.accepted: 79, .invalidToken: 19], [:]] {
            var bench = busy(limits(.invalidToken, 20, after: 100)) { $0.earlier.judged = earlier }
            bench.answer(1, 410, "Unregistered")
            bench.advance()
            #expect(reason(bench) == nil)
            bench.answer(2, 410, "Unregistered")
            bench.advance()
            #expect(earlier.isEmpty ? reason(bench) == nil : reason(bench)?.contains("(21 of 101)") ?? false)
        }
    }
}
