import Base
import Testing

@testable import Delivery

/// The whole machine, on a virtual clock, against a server that accepts everything: only the pace
/// may slow down a run.
@Suite("pace of a run")
struct PaceKeepingTests {
    private struct Departures {
        var times: [Int64] = []
        private static let second: Int64 = 1_000_000_000

        /// The most in any sliding second.
        var most: Int {
            var first = 0, most = 0
            for index in times.indices {
                while times[index] - times[first] >= Self.second { first += 1 }
                most = max(most, index - first + 1)
            }
            return most
        }

        /// Those of each whole second after the canary.
        func bySecond(after canary: Int) -> [Int] {
            let start = times[canary]
            let seconds = Int((times[times.count - 1] - start) / Self.second)
            return (0..<seconds).map { second in
                times.dropFirst(canary).count { ($0 - start) / Self.second == Int64(second) }
            }
        }
    }

    /// Plays a whole run.
    /// - Parameters:
    ///   - lateness: the most nanoseconds by which the loop wakes too late; epoll counts
    ///     milliseconds.
    ///   - latency: nanoseconds until an answer.
    private func departures(_ pace: Pace, pushes: Int, lateness: Int64, latency: Int64) -> Departures {
        var bench = Bench(pushes: pushes) {
            $0.pace = pace
            $0.canaryPushes = 100
        }
        var random = SplitMix(seed: 7)
        var departures = Departures()
        var answers = IndexQueue()
        var dueTimes: [Int64] = []
        while bench.machine.end == nil {
            for push in submitted(bench.advance()) {
                departures.times.append(bench.now.nanoseconds)
                answers.append(push)
                dueTimes.append(bench.now.nanoseconds + latency)
            }
            let answered = pushes - bench.machine.openPushes
            let nextAnswer = answered < dueTimes.count ? dueTimes[answered] : .max
            let wake = min(bench.machine.nextWake(after: bench.now) ?? .max, nextAnswer)
            guard bench.machine.end == nil, wake < .max else { break }
            let late = lateness > 0 ? Int64.random(in: 0...lateness, using: &random) : 0
            bench.now = bench.now.adding(nanoseconds: max(wake - bench.now.nanoseconds, 1) + late)
            while pushes - bench.machine.openPushes < dueTimes.count,
                dueTimes[pushes - bench.machine.openPushes] <= bench.now.nanoseconds
            {
                guard let push = answers.removeFirst() else { break }
                bench.answer(push, 200)
            }
        }
        return departures
    }

    @Test(
        "within 2 % of it in every whole second, and never above it in any", arguments: [100, 500, 2000],
        [Int64(0), 1_000_000])
    func reached(pushes: Int, lateness: Int64) {
        let departures = departures(
            Pace(pushes: pushes, intervalSeconds: 1), pushes: pushes * 6, lateness: lateness, latency: 30_000_000)
        #expect(departures.times.count == pushes * 6)
        #expect(departures.most <= pushes)
        let seconds = departures.bySecond(after: 100)
        #expect(seconds.count >= 5 - 100 / pushes)
        #expect(seconds.allSatisfy { Double($0) >= 0.98 * Double(pushes) }, "\(seconds)")
    }
}
