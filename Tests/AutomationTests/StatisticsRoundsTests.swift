import Base
import Testing

@testable import Automation

@Suite("when services are asked what became of a run's pushes")
struct StatisticsRoundsTests {
    private func isDue(endedAfter end: Double? = 600, askedAfter asked: Double? = nil, now: Double) -> Bool {
        let start = Timestamp(epochSeconds: 1_800_000_000)
        return StatisticsCollector.isDue(
            startedAt: start, endedAt: end.map { start.adding(seconds: $0) },
            lastAsked: asked.map { start.adding(seconds: $0) },
            now: start.adding(seconds: now))
    }

    @Test("an hour after its end, and then once a day, for seven days after it began")
    func times() {
        #expect(!isDue(now: 4199) && isDue(now: 4200))
        #expect(!isDue(askedAfter: 4200, now: 90_599) && isDue(askedAfter: 4200, now: 90_600))
        #expect(isDue(askedAfter: 500_000, now: 604_799) && !isDue(askedAfter: 500_000, now: 604_800))
        #expect(!isDue(now: 604_800))
    }

    @Test("never while it is sent, before it begins, or with a clock that was set back")
    func others() {
        #expect(!isDue(endedAfter: nil, now: 100_000))
        #expect(!StatisticsCollector.isDue(startedAt: nil, endedAt: nil, lastAsked: nil, now: .now()))
        #expect(!isDue(now: -5000))
    }
}
