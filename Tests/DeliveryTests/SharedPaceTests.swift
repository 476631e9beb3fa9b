import Base
import Testing

@testable import Delivery

@Suite("a pace that several runs share")
struct SharedPaceTests {
    /// A run that tries to push whenever it is told to, up to `lateness` nanoseconds late; with its
    /// number of pushes.
    private struct Run {
        var share: PaceParticipant
        var lateness: Int64
        var wakesAt: Int64 = 0
        var pushes: [Int64] = []
        var isIdle: (Int64) -> Bool = { _ in false }
        /// It checks at least this often, in nanoseconds.
        var longestSleep: Int64 = 50_000_000
    }

    private let second: Int64 = 1_000_000_000

    private func drive(_ runs: inout [Run], seconds: Double) {
        var random = SplitMix(seed: 5)
        var now = second
        let end = now + Int64(seconds * 1e9)
        while now < end {
            for index in runs.indices where runs[index].wakesAt <= now {
                guard !runs[index].isIdle(now - second) else {
                    runs[index].wakesAt = now + 50_000_000
                    continue
                }
                while runs[index].share.take(at: now) { runs[index].pushes.append(now) }
                let next = min(max(now + 1, runs[index].share.nextTime ?? now), now + runs[index].longestSleep)
                runs[index].wakesAt = next + Int64.random(in: 0...runs[index].lateness, using: &random)
            }
            now = max(now + 1, runs.map(\.wakesAt).min() ?? end)
        }
    }

    private func most(_ times: [Int64]) -> Int {
        let times = times.sorted()
        var (first, most) = (0, 0)
        for index in times.indices {
            while times[index] - times[first] >= second { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    @Test("together never more than the pace in any second, and hardly less", arguments: [20, 100, 3_000], [1, 2, 5])
    func together(pace: Int, count: Int) {
        let shared = SharedPace(Pace(pushes: pace, intervalSeconds: 1))
        var runs = (0..<count).map { _ in Run(share: shared.join(), lateness: 1_000_000) }
        drive(&runs, seconds: 10)
        let all = runs.flatMap(\.pushes)
        #expect(most(all) <= pace)
        #expect(Double(all.count) > 0.95 * Double(pace) * 10)
    }

    @Test("each gets its part, also when another always wakes first", arguments: [50, 1_000])
    func fair(pace: Int) {
        let shared = SharedPace(Pace(pushes: pace, intervalSeconds: 1))
        var runs = [Run(share: shared.join(), lateness: 0), Run(share: shared.join(), lateness: 2_000_000)]
        drive(&runs, seconds: 10)
        let parts = runs.map { Double($0.pushes.count) / Double(pace) / 10 }
        #expect(parts.allSatisfy { (0.45...0.52).contains($0) }, "\(parts)")
    }

    @Test("each gets its part of a slow pace, whoever wakes first, and sleeps until it is its turn")
    func slow() {
        let shared = SharedPace(Pace(pushes: 2, intervalSeconds: 1))
        var runs = [Int64(0), 2_000_000, 5_000_000].map {
            Run(share: shared.join(), lateness: $0, longestSleep: 10 * second)
        }
        drive(&runs, seconds: 60)
        #expect(most(runs.flatMap(\.pushes)) <= 2)
        #expect(runs.allSatisfy { (38...41).contains($0.pushes.count) }, "\(runs.map(\.pushes.count))")
    }

    @Test("who has nothing to send leaves all to the others, and saves nothing up")
    func idle() {
        let shared = SharedPace(Pace(pushes: 1_000, intervalSeconds: 1))
        var runs = [Run(share: shared.join(), lateness: 0), Run(share: shared.join(), lateness: 0)]
        runs[1].isIdle = { $0 < 5_000_000_000 }
        drive(&runs, seconds: 10)
        let early = runs[0].pushes.count { $0 < 6 * second }
        #expect(early > 4_800)
        let late = runs.map { $0.pushes.count { $0 >= 6 * second } }
        #expect(late.allSatisfy { (2_250...2_600).contains($0) }, "\(late)")
    }

    /// Advances machines by a millisecond in turns; everything is accepted at once.
    /// - Parameter secondFrom: when the second one begins; milliseconds.
    /// - Returns: when each made its pushes; nanoseconds.
    private func play(_ benches: inout [Bench], milliseconds: Int, secondFrom: Int = 0) -> [[Int64]] {
        var times = [[Int64]](repeating: [], count: benches.count)
        for step in 0..<milliseconds {
            for index in benches.indices where index == 0 || step >= secondFrom {
                for push in submitted(benches[index].advance(seconds: 0.001)) {
                    times[index].append(benches[index].now.nanoseconds)
                    benches[index].answer(push, 200)
                }
            }
            if step < secondFrom { benches[1].now = benches[0].now }
        }
        return times
    }

    @Test("the machine keeps the shared pace as well as its own")
    func machine() {
        let shared = SharedPace(Pace(pushes: 100, intervalSeconds: 1))
        var benches = (0..<2).map { _ in Bench(pushes: 500) { $0.pace = Pace(pushes: 80, intervalSeconds: 1) } }
        for index in benches.indices { benches[index].machine.paceArbiter = [shared.join()] }
        let times = play(&benches, milliseconds: 3_000)
        #expect(most(times[0] + times[1]) <= 100)
        #expect(times.allSatisfy { most($0) <= 80 && $0.count > 130 }, "\(times.map(\.count))")
    }

    @Test("what another pace held back is caught up by one request, whoever makes it", arguments: [60, 3_600])
    func held(interval: Int) {
        let shared = SharedPace(Pace(pushes: 50 * interval, intervalSeconds: interval))
        let slow = SharedPace(Pace(pushes: 10, intervalSeconds: 60))
        var benches = (0..<2).map { _ in Bench(pushes: 3_000) }
        benches[0].machine.paceArbiter = [shared.join(), slow.join()]
        benches[1].machine.paceArbiter = [shared.join()]
        // The other begins while this one has been held back for seconds, and makes its next push.
        let times = play(&benches, milliseconds: 30_000, secondFrom: 5_991).flatMap(\.self)
        #expect(times.count > 1_000 && most(times) <= 51, "\(most(times)) in a second")
    }

    @Test(
        "a slow service beside a fast one keeps to its own pace, not to less, and the rest of the shared one goes to the other"
    )
    func slowService() {
        let devices = SharedPace(Pace(pushes: 24, intervalSeconds: 1)),
            calls = SharedPace(Pace(pushes: 540, intervalSeconds: 60))
        var benches = (0..<2).map { _ in Bench(pushes: 3_000) }
        benches[0].machine.paceArbiter = [devices.join(weight: 0.5)]
        benches[1].machine.paceArbiter = [calls.join(), devices.join(weight: 0.5)]
        let times = play(&benches, milliseconds: 100_000)
        #expect(most(times[0] + times[1]) <= 24)
        let minute =
            times[1].indices.map { first in times[1][first...].prefix { $0 < times[1][first] + 60 * second }.count }
            .max() ?? 0
        #expect(minute <= 540)
        #expect(times[1].count > 870 && times[0].count + times[1].count > 2_300, "\(times.map(\.count))")
    }
}
