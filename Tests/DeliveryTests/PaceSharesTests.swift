import Base
import PushServices
import Testing

@testable import Delivery

/// Senders of a run that keep one pace together, on a virtual clock.
@Suite("senders that share a pace by what they have to send")
struct PaceSharesTests {
    private struct Sender {
        var left: Int
        /// The devices of a request.
        var size = 1
        /// The least time between its requests, in seconds.
        var rest = 0.0
        /// When it gives up, in seconds.
        var stopsAt = Double.infinity
        var member = 0
        var wakesAt: Int64 = 1_000_000_000
        var times: [Int64] = []
    }

    private let second: Int64 = 1_000_000_000

    /// Plays senders to their end; each wakes up to a millisecond late.
    private func play(_ pace: Pace, _ senders: [Sender], seed: UInt64 = 1) -> [Sender] {
        var senders = senders, shares = PaceArbiter(pace, counting: .targets), random = SplitMix(seed: seed)
        let all = senders.reduce(0) { $0 + $1.left }
        for place in senders.indices {
            senders[place].member = shares.join(weight: Double(senders[place].left) / Double(all))
        }
        var going = Array(senders.indices)
        while let place = going.min(by: { senders[$0].wakesAt < senders[$1].wakesAt }) {
            let now = senders[place].wakesAt, isStopped = Double(now - second) / 1e9 >= senders[place].stopsAt
            var rest: Int64 = 1
            while senders[place].left > 0, !isStopped {
                let count = min(senders[place].size, senders[place].left)
                guard shares.take(count, for: senders[place].member, at: now) else { break }
                senders[place].times += Array(repeating: now, count: count)
                senders[place].left -= count
                if senders[place].rest > 0 {
                    rest = Int64(senders[place].rest * 1e9)
                    break
                }
            }
            if senders[place].left == 0 || isStopped {
                shares.leave(senders[place].member)
                going.removeAll { $0 == place }
            }
            let next = max(now + rest, shares.nextTime(for: senders[place].member) ?? 0)
            senders[place].wakesAt = next + Int64.random(in: 0...1_000_000, using: &random)
        }
        return senders
    }

    private func most(_ senders: [Sender], within seconds: Int = 1) -> Int {
        let times = senders.flatMap(\.times).sorted()
        var (first, most) = (0, 0)
        for index in times.indices {
            while times[index] - times[first] >= Int64(seconds) * second { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    /// How long a sender took, in seconds.
    private func end(_ senders: [Sender]) -> Double {
        Double((senders.flatMap(\.times).max() ?? second) - second) / 1e9
    }

    @Test(
        "never more than the pace in a second, and all of it is used, whatever their parts and requests",
        arguments: UInt64(0)..<40)
    func together(seed: UInt64) {
        var random = SplitMix(seed: seed)
        let pace = Int.random(in: 100...2000, using: &random)
        let senders = (0..<Int.random(in: 2...4, using: &random)).map { _ in
            Sender(
                left: Int.random(in: 1...pace * 3, using: &random),
                size: Bool.random(using: &random) ? 1 : Int.random(in: 1...pace / 9, using: &random))
        }
        let all = senders.reduce(0) { $0 + $1.left }
        let sent = play(Pace(pushes: pace, intervalSeconds: 1), senders, seed: seed)
        #expect(most(sent) <= pace && sent.allSatisfy { $0.left == 0 })
        #expect(end(sent) <= 1.06 * Double(all) / Double(pace) + 0.2, "\(end(sent)) s for \(all) at \(pace)/s")
    }

    @Test("each gets its part, so that they end together")
    func parts() {
        let sent = play(
            Pace(pushes: 1000, intervalSeconds: 1),
            [Sender(left: 8000), Sender(left: 1500), Sender(left: 500, size: 50)])
        let ends = sent.map { end([$0]) }
        #expect(ends.allSatisfy { (9...10.4).contains($0) }, "\(ends)")
    }

    @Test("what an ended or stopped sender leaves goes to the others, once its last second is over")
    func ended() {
        let senders = [Sender(left: 5000, stopsAt: 2), Sender(left: 3000), Sender(left: 2000)]
        let sent = play(Pace(pushes: 1000, intervalSeconds: 1), senders)
        #expect(most(sent) <= 1000)
        #expect((900...1050).contains(sent[0].times.count))
        // 6,000 devices in all.
        #expect((5.9...6.4).contains(end(sent)), "\(end(sent))")
        let rest = sent[1].times.count { $0 > 4 * second && $0 <= 5 * second }
        #expect((570...620).contains(rest), "by what they have to send: \(rest)")
    }

    @Test("what a slower sender does not use goes to the others as well")
    func slower() {
        let sent = play(
            Pace(pushes: 1000, intervalSeconds: 1), [Sender(left: 5000, size: 10, rest: 0.1), Sender(left: 5000)])
        #expect(most(sent) <= 1000 && (5.4...5.9).contains(end([sent[1]])), "\(end([sent[1]]))")
    }

    @Test(
        "slow paces are kept in any second and in any of their intervals",
        arguments: [
            Pace(pushes: 1, intervalSeconds: 1), Pace(pushes: 3, intervalSeconds: 1),
            Pace(pushes: 20, intervalSeconds: 60),
            Pace(pushes: 100, intervalSeconds: 60), Pace(pushes: 6000, intervalSeconds: 60),
        ])
    func slow(pace: Pace) {
        let size = max(1, Int(pace.perSecond) / 5)
        let sent = play(pace, [Sender(left: 150), Sender(left: 120, size: size), Sender(left: 30)])
        #expect(most(sent) <= max(1, Int(pace.perSecond.rounded(.up))))
        #expect(most(sent, within: pace.intervalSeconds) <= pace.pushes)
        #expect(end(sent) <= 1.06 * 300 / pace.perSecond + 0.2, "\(end(sent))")
    }
}
