import Base
import Testing

@testable import Delivery

@Suite("pacer")
struct PacerTests {
    /// When pushes leave if the loop wakes up to `lateness` nanoseconds late, for this many seconds.
    private func departures(_ pace: Pace, lateness: Int64, seconds: Int64) -> [Int64] {
        var pacer = Pacer(pace)
        var random = SplitMix(seed: 1)
        var now: Int64 = 5_000_000_000
        let end = now + seconds * 1_000_000_000
        var times: [Int64] = []
        while now < end {
            while pacer.take(at: now) { times.append(now) }
            now = max(now + 1, pacer.nextTime ?? now) + (lateness > 0 ? Int64.random(in: 0...lateness, using: &random) : 0)
        }
        return times
    }

    private func most(_ times: [Int64], within span: Int64) -> Int {
        var first = 0
        var most = 0
        for index in times.indices {
            while times[index] - times[first] >= span { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    @Test(
        "never more than the pace in any sliding second", arguments: [1, 2, 7, 99, 100, 101, 1000, 5000], [Int64(0), 1_500_000, 40_000_000])
    func slidingSecond(pushes: Int, lateness: Int64) {
        let times = departures(Pace(pushes: pushes, intervalSeconds: 1), lateness: lateness, seconds: 5)
        #expect(most(times, within: 1_000_000_000) <= pushes)
    }

    @Test("the mean is within 2 % of the pace when the loop wakes a little late", arguments: [1, 10, 100, 1000, 20_000])
    func mean(pushes: Int) {
        let seconds: Int64 = pushes < 100 ? 200 : 5
        let times = departures(Pace(pushes: pushes, intervalSeconds: 1), lateness: 1_500_000, seconds: seconds)
        #expect(Double(times.count) >= 0.98 * Double(pushes * Int(seconds)))
    }

    @Test("a pace by the minute is smooth to the second, and kept in any minute")
    func byTheMinute() {
        let times = departures(Pace(pushes: 100, intervalSeconds: 60), lateness: 1_500_000, seconds: 600)
        #expect(most(times, within: 60_000_000_000) <= 100)
        #expect(most(times, within: 1_000_000_000) <= 2)
        #expect(times.count >= 980)
        let fast = departures(Pace(pushes: 60_000, intervalSeconds: 60), lateness: 1_500_000, seconds: 3)
        #expect(most(fast, within: 1_000_000_000) <= 1000)
    }

    @Test("there is no burst at the beginning, nor after a pause")
    func noBurst() {
        var pacer = Pacer(Pace(pushes: 1000, intervalSeconds: 1))
        var burst = 0
        while pacer.take(at: 1_000_000_000) { burst += 1 }
        #expect(burst == 1)
        burst = 0
        while pacer.take(at: 60_000_000_000) { burst += 1 }
        #expect(burst <= 6)
    }
}
