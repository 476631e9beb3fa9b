import Base
import PushServices

@testable import Delivery

/// Senders that keep one pace together, as the segments of a run do, drawn from a seed: they have
/// different numbers of devices, requests of different sizes, wake late, are slow, join late, end,
/// and stop.
struct SimulatedShares {
    private struct Sender {
        var member: Int
        var left: Int
        /// The most devices of a request.
        var size: Int
        /// How late it wakes at most, and the least time between its requests.
        var lateness: Int64, rest: Int64
        /// When it gives up, whatever is left.
        var stopsAt: Int64
        var wakesAt: Int64
    }

    private let pace: Pace
    private var shares: PaceArbiter
    private var senders: [Sender] = []
    private var random: SplitMix
    private var departures: [Int64] = []
    private var violation: Violation?

    /// What did not hold; nil if everything did.
    static func violation(of seed: UInt64) -> Violation? {
        var simulation = SimulatedShares(seed: seed)
        simulation.run()
        return simulation.violation
    }

    private init(seed: UInt64) {
        random = SplitMix(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x5AA2_E5)
        let kind = random.below(4)
        pace =
            kind == 0
            ? Pace(pushes: random.between(1, 5), intervalSeconds: 1)
            : kind == 1
                ? Pace(pushes: random.between(1, 300), intervalSeconds: 60)
                : Pace(pushes: random.between(6, 200), intervalSeconds: 1)
        shares = PaceArbiter(pace, counting: .targets)
        var counts: [Int] = []
        for _ in 0..<random.between(2, 4) {
            counts.append(random.oneIn(3) ? random.between(1, 5) : random.between(10, 120))
        }
        for count in counts { addSender(count, of: counts.reduce(0, +)) }
    }

    private mutating func addSender(_ count: Int, of all: Int) {
        let begin = Span.second, isSlow = random.oneIn(4)
        senders.append(
            Sender(
                member: shares.join(weight: Double(count) / Double(all)), left: count,
                size: random.oneIn(2) ? 1 : random.between(1, max(1, Int(pace.perSecond))),
                lateness: random.oneIn(2) ? 0 : random.span(0, 40 * Span.millisecond),
                rest: isSlow ? random.span(0, Span.second) : 0,
                stopsAt: random.oneIn(4) ? begin + random.span(0, 4 * Span.second) : .max,
                wakesAt: begin + (random.oneIn(3) ? random.span(0, 2 * Span.second) : 0)))
    }

    private mutating func run() {
        while violation == nil, let next = senders.indices.min(by: { senders[$0].wakesAt < senders[$1].wakesAt }) {
            wake(next, at: senders[next].wakesAt)
        }
    }

    private mutating func wake(_ place: Int, at now: Int64) {
        var sender = senders[place]
        while sender.left > 0, now < sender.stopsAt {
            let count = min(sender.size, sender.left)
            guard shares.take(count, for: sender.member, at: now) else { break }
            sender.left -= count
            judge(count, at: now)
            if sender.rest > 0 { break }
        }
        guard sender.left > 0, now < sender.stopsAt else {
            shares.leave(sender.member)
            senders.remove(at: place)
            return
        }
        sender.wakesAt =
            max(now + max(1, sender.rest), shares.nextTime(for: sender.member) ?? 0) + random.span(0, sender.lateness)
        senders[place] = sender
    }

    private mutating func judge(_ count: Int, at now: Int64) {
        for _ in 0..<count { departures.append(now) }
        let perSecond = (pace.pushes + pace.intervalSeconds - 1) / pace.intervalSeconds
        for (span, limit) in [(1, perSecond), (pace.intervalSeconds, pace.pushes)] where departures.count > limit {
            if now - departures[departures.count - 1 - limit] <= Int64(span) * Span.second {
                violation = Violation(
                    invariant: .pace, text: "more than \(limit) pushes of several senders within \(span) s",
                    time: now - Span.second)
            }
        }
    }
}
