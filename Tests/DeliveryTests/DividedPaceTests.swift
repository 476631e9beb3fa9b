import Base
import PushServices
import Testing

@testable import Delivery

/// Machines that each have a part of one pace, on a virtual clock.
@Suite("a pace that machines divide")
struct DividedPaceTests {
    private static let second: Int64 = 1_000_000_000

    /// A process: the senders in it keep its part together.
    private struct Machine {
        var shares: PaceArbiter
        var senders: [(member: Int, size: Int, wakesAt: Int64)] = []
        var granted = 0, used = 0
        /// A grant on its way, and when the machine beats next.
        var grant: (part: Int, at: Int64)?
        var beatsAt: Int64
    }

    /// Machines that want other parts all the time, and the coordinator that gives them.
    private struct World {
        let pace: Pace
        var machines: [Machine] = []
        var random: SplitMix
        /// Whether only what was granted last counts, not what is still used.
        var forgetsWhatIsUsed = false
        var departures: [Int64] = []

        init(_ pace: Pace, _ unit: Batching.PaceUnit, seed: UInt64) {
            self.pace = pace
            random = SplitMix(seed: seed)
            let size = unit == .requests ? 1 : Int.random(in: 1...max(1, Int(pace.perSecond / 10)), using: &random)
            for _ in 0..<Int.random(in: 2...4, using: &random) {
                let ramp = Bool.random(using: &random) ? 0.0 : 20
                var machine = Machine(
                    shares: PaceArbiter(pace, counting: unit, spare: size - 1, rampSeconds: ramp),
                    beatsAt: second + Int64.random(in: 0..<second, using: &random))
                machine.shares.setPart(0)
                for _ in 0..<Int.random(in: 1...2, using: &random) {
                    machine.senders.append(
                        (machine.shares.join(weight: 1), Int.random(in: 1...size, using: &random), second))
                }
                machines.append(machine)
            }
        }

        mutating func play(seconds: Int) {
            var now = second
            while now < Int64(seconds + 1) * second {
                for place in machines.indices {
                    if let grant = machines[place].grant, grant.at <= now {
                        machines[place].shares.setPart(grant.part)
                        machines[place].grant = nil
                    }
                    if machines[place].beatsAt <= now { beat(place, at: now) }
                    for sender in machines[place].senders.indices where machines[place].senders[sender].wakesAt <= now {
                        wake(place, sender, at: now)
                    }
                }
                now = max(now + 1, machines.map(Self.nextTime).min() ?? 0)
            }
        }

        private static func nextTime(_ machine: Machine) -> Int64 {
            min(machine.grant?.at ?? .max, machine.beatsAt, machine.senders.map(\.wakesAt).min() ?? .max)
        }

        private mutating func beat(_ place: Int, at now: Int64) {
            machines[place].beatsAt = now + second
            machines[place].used = machines[place].shares.used(at: now)
            let others = machines.indices.reduce(0) {
                $1 == place
                    ? $0
                    : $0 + (forgetsWhatIsUsed ? machines[$1].granted : max(machines[$1].granted, machines[$1].used))
            }
            // Often the same again, so that something is sent.
            let wanted =
                Int.random(in: 0..<4, using: &random) > 0
                ? machines[place].granted : Int.random(in: 0...pace.pushes, using: &random)
            machines[place].granted = max(0, min(wanted, pace.pushes - others))
            // The answer is lost, or takes its time.
            guard Int.random(in: 0..<10, using: &random) > 0 else { return machines[place].grant = nil }
            machines[place].grant = (machines[place].granted, now + Int64.random(in: 0..<second / 2, using: &random))
        }

        private mutating func wake(_ place: Int, _ number: Int, at now: Int64) {
            var sender = machines[place].senders[number]
            while machines[place].shares.take(sender.size, for: sender.member, at: now) {
                departures += Array(repeating: now, count: sender.size)
            }
            let next = max(now + 1, machines[place].shares.nextTime(for: sender.member) ?? now)
            sender.wakesAt = min(next, now + second / 2) + Int64.random(in: 0...3_000_000, using: &random)
            machines[place].senders[number] = sender
        }

        /// The most that left within this many seconds.
        func most(within seconds: Int) -> Int {
            let times = departures.sorted()
            var (first, most) = (0, 0)
            for index in times.indices {
                while times[index] - times[first] >= Int64(seconds) * second { first += 1 }
                most = max(most, index - first + 1)
            }
            return most
        }
    }

    private static let paces = [
        (Pace(pushes: 1, intervalSeconds: 1), 60), (Pace(pushes: 7, intervalSeconds: 1), 60),
        (Pace(pushes: 300, intervalSeconds: 1), 20),
        (Pace(pushes: 3, intervalSeconds: 60), 600), (Pace(pushes: 500, intervalSeconds: 60), 300),
        (Pace(pushes: 20, intervalSeconds: 3600), 10_000),
    ]

    @Test(
        "all machines together never send more than the pace in any of its intervals, however often their parts change",
        arguments: 0..<6)
    func together(kind: Int) {
        let (pace, seconds) = Self.paces[kind]
        let seeds: UInt64 = pace.intervalSeconds > 60 ? 2 : pace.intervalSeconds > 1 ? 6 : 12
        var sent = 0
        for seed in 0..<seeds {
            for unit in [Batching.PaceUnit.requests, .targets] {
                var world = World(pace, unit, seed: seed)
                world.play(seconds: seconds)
                #expect(world.most(within: pace.intervalSeconds) <= pace.pushes, "\(unit), seed \(seed)")
                let perSecond = (pace.pushes + pace.intervalSeconds - 1) / pace.intervalSeconds
                let beyond = pace.intervalSeconds == 1 ? 0 : world.machines.count - 1
                #expect(world.most(within: 1) <= perSecond + beyond, "\(unit), seed \(seed)")
                sent += world.departures.count
            }
        }
        #expect(
            Double(sent) > 0.15 * Double(2 * seeds) * pace.perSecond * Double(seconds),
            "what sends nothing proves nothing: \(sent)")
    }

    @Test("who gives parts must count what is still used, or the pace is exceeded")
    func forgotten() {
        let caught = (UInt64(0)..<12).contains { seed in
            var world = World(Pace(pushes: 300, intervalSeconds: 1), .requests, seed: seed)
            world.forgetsWhatIsUsed = true
            world.play(seconds: 20)
            return world.most(within: 1) > 300
        }
        #expect(caught)
    }

    /// How many leave in this many seconds; the loop wakes up to a millisecond late.
    private func sent(_ shares: inout PaceArbiter, _ member: Int, from start: Int64, seconds: Double, size: Int = 1)
        -> Int
    {
        var now = start, count = 0
        while now < start + Int64(seconds * 1e9) {
            while shares.take(size, for: member, at: now) { count += size }
            now = min(max(now + 1, shares.nextTime(for: member) ?? now), now + Self.second / 2) + 700_000
        }
        return count
    }

    @Test("a part is used up within 3 %, whatever the pace counts", arguments: [1, 10, 300, 1000])
    func reached(part: Int) {
        for (unit, size) in [(Batching.PaceUnit.requests, 1), (.targets, 1), (.targets, 5)] where size <= part {
            var shares = PaceArbiter(Pace(pushes: 1000, intervalSeconds: 1), counting: unit)
            let member = shares.join(weight: 1)
            shares.setPart(part)
            let sent = sent(&shares, member, from: Self.second, seconds: 20, size: size)
            #expect((0.97...1.01).contains(Double(sent) / Double(20 * part)), "\(sent) of \(20 * part)")
        }
    }

    @Test("without a part nothing leaves; a part that grows makes up for nothing, and one that shrinks holds at once")
    func steps() {
        var shares = PaceArbiter(Pace(pushes: 1000, intervalSeconds: 1), counting: .requests)
        let member = shares.join(weight: 1)
        shares.setPart(0)
        let isTaken = shares.take(1, for: member, at: Self.second), next = shares.nextTime(for: member)
        #expect(!isTaken && next == Pacer.never)
        #expect(sent(&shares, member, from: Self.second, seconds: 5) == 0)
        shares.setPart(100)
        #expect((97...100).contains(sent(&shares, member, from: 6 * Self.second, seconds: 1)))
        shares.setPart(1000)
        #expect((950...1000).contains(sent(&shares, member, from: 7 * Self.second, seconds: 1)))
        shares.setPart(10)
        #expect(sent(&shares, member, from: 8 * Self.second, seconds: 1) <= 10, "what left before counts")
        #expect((9...10).contains(sent(&shares, member, from: 10 * Self.second, seconds: 1)))
        shares.setPart(nil)
        #expect((950...1000).contains(sent(&shares, member, from: 11 * Self.second, seconds: 1)))
    }

    @Test("what is used is what has left, so that of a pace by the hour others get what is free at once")
    func used() {
        var shares = PaceArbiter(Pace(pushes: 100, intervalSeconds: 3600), counting: .requests)
        let member = shares.join(weight: 1)
        #expect(shares.used(at: 0) == 100, "all of it, without a part")
        shares.setPart(100)
        #expect(sent(&shares, member, from: Self.second, seconds: 600) == 17)
        shares.setPart(10)
        #expect(shares.used(at: 601 * Self.second) == 17)
        #expect(
            sent(&shares, member, from: 601 * Self.second, seconds: 3000) == 0, "the hour has had more than its part")
        #expect(shares.used(at: 4300 * Self.second) == 10)
        #expect(sent(&shares, member, from: 4300 * Self.second, seconds: 3600) == 10)
    }

    @Test("of what left before the first part was set all may have left just now")
    func unknown() {
        var shares = PaceArbiter(Pace(pushes: 100, intervalSeconds: 1), counting: .requests)
        let member = shares.join(weight: 1)
        #expect(sent(&shares, member, from: Self.second, seconds: 1) > 90)
        shares.setPart(10)
        #expect(shares.used(at: 2 * Self.second) == 100)
        #expect(sent(&shares, member, from: 2 * Self.second, seconds: 0.9) == 0)
        #expect(shares.used(at: 4 * Self.second) == 10)
    }

    @Test("a request that its part has no room for waits, says how much it needs, and holds up nobody")
    func least() {
        var shares = PaceArbiter(Pace(pushes: 100, intervalSeconds: 1), counting: .targets)
        let (large, small) = (shares.join(weight: 1), shares.join(weight: 1))
        shares.setPart(20)
        #expect(shares.leastPart == 1)
        var sent = 0
        for step in Int64(0)..<2_000 {
            let now = Self.second + step * 1_000_000
            let isLargeTaken = shares.take(50, for: large, at: now)
            #expect(!isLargeTaken)
            if shares.take(1, for: small, at: now) { sent += 1 }
        }
        #expect((38...40).contains(sent), "\(sent)")
        #expect(shares.leastPart == 50)
        shares.setPart(50)
        let isTaken = shares.take(50, for: large, at: 5 * Self.second)
        #expect(isTaken)
        var byMinute = Pacer(Pace(pushes: 6000, intervalSeconds: 60), counting: .targets)
        #expect(byMinute.leastPart(for: 5) == 300 && byMinute.leastPart(for: 1) == 1, "a second must have room for it")
        byMinute.setPart(299)
        let isMinuteTaken = byMinute.take(5, at: 0), isOneTaken = byMinute.take(1, at: 0)
        #expect(!isMinuteTaken && isOneTaken)
    }

    @Test("the machine waits for a part, and goes on once there is one")
    func machine() {
        let shared = SharedPace(Pace(pushes: 100, intervalSeconds: 1))
        shared.setPart(0)
        var bench = Bench(pushes: 500) { $0.sharedPaces = [shared] }
        bench.machine.paceArbiter = [shared.join()]
        #expect(submitted(bench.advance(seconds: 1)).isEmpty && bench.machine.wait(at: bench.now) == .pace)
        #expect(
            bench.machine.nextWake(after: bench.now).map { $0 > bench.now.nanoseconds + Self.second } ?? true,
            "it need not ask")
        shared.setPart(50)
        var count = 0
        for _ in 0..<2_000 {
            for push in submitted(bench.advance(seconds: 0.001)) {
                count += 1
                bench.answer(push, 200)
            }
        }
        #expect((96...100).contains(count), "\(count)")
    }
}
