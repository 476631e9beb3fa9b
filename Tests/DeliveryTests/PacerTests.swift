import Base
import PushServices
import Testing

@testable import Delivery

@Suite("pacer")
struct PacerTests {
    /// When pushes leave if the loop wakes up to `lateness` nanoseconds late, for this many
    /// seconds.
    private func departures(_ pace: Pace, lateness: Int64, seconds: Int64) -> [Int64] {
        var pacer = Pacer(pace)
        var random = SplitMix(seed: 1)
        var now: Int64 = 5_000_000_000
        let end = now + seconds * 1_000_000_000
        var times: [Int64] = []
        while now < end {
            while pacer.take(at: now) { times.append(now) }
            now =
                max(now + 1, pacer.nextTime ?? now)
                + (lateness > 0 ? Int64.random(in: 0...lateness, using: &random) : 0)
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
        "never more than the pace in any sliding second", arguments: [1, 2, 7, 99, 100, 101, 1000, 5000],
        [Int64(0), 1_500_000, 40_000_000])
    func slidingSecond(pushes: Int, lateness: Int64) {
        let times = departures(Pace(pushes: pushes, intervalSeconds: 1), lateness: lateness, seconds: 5)
        #expect(most(times, within: 1_000_000_000) <= pushes)
    }

    @Test(
        "the mean is within 2 % of the pace when the loop wakes a little late", arguments: [1, 10, 100, 1000, 20_000])
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

    @Test(
        "requests of several targets keep the pace in any sliding second, and reach it",
        arguments: [(100, 5), (1000, 111), (1000, 1), (60, 60), (500, 200)], [Int64(0), 1_500_000])
    func targets(_ paced: (pushes: Int, size: Int), lateness: Int64) {
        let (pushes, size) = paced
        var pacer = Pacer(Pace(pushes: pushes, intervalSeconds: 1), counting: .targets), random = SplitMix(seed: 2)
        var now: Int64 = 5_000_000_000
        var times: [Int64] = []
        while now < 25_000_000_000 {
            while pacer.take(size, at: now) { times += Array(repeating: now, count: size) }
            now =
                max(now + 1, pacer.nextTime(for: size) ?? now)
                + (lateness > 0 ? Int64.random(in: 0...lateness, using: &random) : 0)
        }
        #expect(most(times, within: 1_000_000_000) <= pushes)
        #expect(Double(times.count) >= 0.97 * 20 * Double(pushes / size * size), "\(times.count)")
    }

    @Test("requests of several targets keep a pace by the minute in any minute")
    func targetsByTheMinute() {
        var pacer = Pacer(Pace(pushes: 6000, intervalSeconds: 60), counting: .targets)
        var now: Int64 = 0
        var times: [Int64] = []
        while now < 200_000_000_000 {
            if pacer.take(100, at: now) { times += Array(repeating: now, count: 100) }
            now = max(now + 1, pacer.nextTime(for: 100) ?? now)
        }
        #expect(most(times, within: 60_000_000_000) <= 6000 && most(times, within: 1_000_000_000) <= 100)
        #expect(times.count >= 19_000)
    }

    // MARK: - Ramps

    /// How many pushes leave in each second.
    private func ramp(_ pace: Pace, rampSeconds: Double, seconds: Int) -> [Int] {
        var pacer = Pacer(pace, rampSeconds: rampSeconds)
        var counts = [Int](repeating: 0, count: seconds)
        var now: Int64 = 0
        while now < Int64(seconds) * 1_000_000_000 {
            while pacer.take(at: now) { counts[Int(now / 1_000_000_000)] += 1 }
            now = max(now + 1, pacer.nextTime ?? now)
        }
        return counts
    }

    @Test("with a ramp the rate rises in a straight line from a sixtieth of the pace, and then keeps to it")
    func ramp() {
        let counts = ramp(Pace(pushes: 600_000, intervalSeconds: 60), rampSeconds: 60, seconds: 70)
        #expect((200...300).contains(counts[0]), "\(counts[0])")
        #expect(
            (9_000...11_000).contains(counts[..<10].reduce(0, +)), "a small campaign does not wait: \(counts[..<10])")
        #expect((4_700...5_300).contains(counts[29]))
        #expect(zip(counts[..<60], counts[1...60]).allSatisfy { $0 < $1 })
        #expect(counts[61...].allSatisfy { (9_700...10_000).contains($0) })
    }

    @Test("a ramp begins again after a rest as long as itself, and when it is told to")
    func rampAgain() {
        var pacer = Pacer(Pace(pushes: 600, intervalSeconds: 1), rampSeconds: 10)
        var now: Int64 = 0
        func rate() -> Int {
            let end = now + 1_000_000_000
            var count = 0
            while now < end {
                while pacer.take(at: now) { count += 1 }
                now = max(now + 1, pacer.nextTime ?? now)
            }
            return count
        }
        for _ in 0..<12 { _ = rate() }
        #expect(rate() > 560)
        now += 9_000_000_000
        #expect(rate() > 560, "a short rest changes nothing")
        now += 11_000_000_000
        #expect(rate() < 60)
        for _ in 0..<12 { _ = rate() }
        pacer.restartRamp()
        #expect(rate() < 60)
    }
}
