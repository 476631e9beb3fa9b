import Base
import Testing

@testable import Delivery

/// What a sender reports that it waits for.
@Suite("what a sender waits for")
struct SendWaitTests {
    private func wait(_ bench: Bench) -> SendWait? { bench.machine.wait(at: bench.now) }

    @Test("before there is a connection it is the connection, and with none left to send nothing")
    func connection() {
        let bench = Bench(pushes: 3)
        #expect(wait(bench) == .connection)
        #expect(wait(Bench(pushes: 0)) == nil)
    }

    @Test("the first pushes go ahead of all others, then their answers are what is missing")
    func canary() {
        var bench = Bench(pushes: 500) { $0.canaryPushes = 100 }
        bench.warmUp()
        bench.advance()
        #expect(wait(bench) == .canary(answers: 99))
        for push in 1..<90 { bench.answer(push, 200) }
        bench.advance()
        #expect(wait(bench) == .canary(answers: 10))
    }

    @Test("without a pace it is the server that all streams are in use of, with one the pace")
    func serverAndPace() {
        var bench = Bench(pushes: 500) { $0.streamsPerConnection = 10 }
        bench.warmUp()
        bench.advance()
        #expect(wait(bench) == .server)
        var paced = Bench(pushes: 500) { $0.pace = Pace(pushes: 10, intervalSeconds: 1) }
        paced.warmUp()
        paced.advance()
        #expect(wait(paced) == .pace)
    }

    @Test("with a pace of one push an hour the connection that is not there yet is nothing to wait for")
    func slowPace() {
        var bench = Bench(pushes: 3) { $0.pace = Pace(pushes: 1, intervalSeconds: 3600) }
        bench.warmUp()
        bench.machine.connectionLost(0, cause: "idle", at: bench.now)
        bench.machine.actions.removeAll()
        #expect(wait(bench) == .pace)
    }

    @Test("in the end it is the answers that are missing, and those that were refused and are tried again")
    func last() {
        var bench = Bench(pushes: 10)
        bench.warmUp()
        bench.advance()
        for push in 1..<6 { bench.answer(push, 200) }
        bench.answer(6, 503, "ServiceUnavailable", retryAfter: 30)
        bench.advance()
        #expect(wait(bench) == .last(answers: 3, again: 1))
        for push in 7..<10 { bench.answer(push, 200) }
        bench.advance()
        #expect(wait(bench) == .last(answers: 0, again: 1))
    }

    @Test("a service that takes nothing is an outage, with how long it has lasted")
    func outage() {
        var bench = Bench(pushes: 1000)
        bench.warmUp()
        for _ in 0..<300 {
            for push in bench.machine.pushes.indices where bench.machine.pushes[push].state == .inFlight {
                bench.answer(push, 500, "InternalServerError")
            }
            bench.advance(seconds: 0.1)
        }
        guard case .outage(let seconds) = wait(bench) else {
            Issue.record("it is \(String(describing: wait(bench)))")
            return
        }
        #expect((25...30).contains(seconds))
    }

    @Test(
        "of several loops one that nothing holds up speaks for all; outages and refusals are the service's; last answers add up"
    )
    func together() {
        #expect(SendWait.together([]) == nil)
        #expect(SendWait.together([.server, nil]) == nil)
        #expect(
            SendWait.together([.last(answers: 2, again: 1), .last(answers: 3, again: 0)]) == .last(answers: 5, again: 1)
        )
        #expect(SendWait.together([.last(answers: 2, again: 1), .server]) == .server)
        #expect(SendWait.together([nil, .outage(seconds: 5), .outage(seconds: 9)]) == .outage(seconds: 9))
        #expect(
            SendWait.together([nil, .throttle(perSecond: 100), .throttle(perSecond: 50.5)])
                == .throttle(perSecond: 150.5))
    }

    @Test("loops are told apart by their place, and one that has ended waits for nothing")
    func loops() {
        let control = SendControl()
        #expect(control.wait == nil)
        control.note(.pace, connections: 0, of: 0)
        #expect(control.wait == .pace)
        control.note(nil, connections: 0, of: 1)
        #expect(control.wait == nil)
        control.forget(1)
        #expect(control.wait == .pace)
    }
}
