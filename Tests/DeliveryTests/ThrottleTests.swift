import Base
import Testing

@testable import Delivery

/// A server that accepts a number of pushes a second and is too busy for the others, and a driver
/// with a virtual clock.
private struct BusyServer: KeepsMachine {
    enum Refusal: CaseIterable, Sendable { case tooManyRequests, unavailable, refusedStream }

    /// How many it accepts a second at a moment (in seconds); a bucket holds a fifth of a second's
    /// worth.
    var capacity: (Double) -> Double
    var refusal = Refusal.unavailable
    var latency: Int64 = 20_000_000
    /// Refused whatever the rate.
    var randomShare = 0.0

    let keeper: MachineKeeper
    private(set) var submissions: [Int64] = []
    private(set) var refusals: [Int64] = []
    private(set) var settlements: [Settlement] = []
    private(set) var nanoseconds: Int64 = 1_000_000_000

    private var answers: [(time: Int64, push: Int, isTaken: Bool)] = []
    private var firstAnswer = 0
    private var bucket = 0.0
    private var bucketAt: Int64 = 0
    private var random = SplitMix(seed: 7)

    init(pushes: Int, capacity: @escaping (Double) -> Double, _ change: (inout MachineSettings) -> Void = { _ in }) {
        var settings = MachineSettings(endpoint: "example.com:443", usesProviderToken: true)
        settings.connections = 1
        settings.jitterSeed = 3
        change(&settings)
        self.capacity = capacity
        keeper = MachineKeeper(settings)
        for recipient in 0..<pushes { _ = machine.add(recipient: recipient, at: now) }
        machine.sourceEnded()
    }

    private var now: Moment {
        Moment(
            nanoseconds: nanoseconds, wall: Timestamp(epochMilliseconds: 1_800_000_000_000 + nanoseconds / 1_000_000))
    }
    /// Since the beginning.
    var seconds: Double { Double(nanoseconds - 1_000_000_000) / 1e9 }

    func count(_ outcome: Outcome) -> Int { settlements.count { $0.outcome == outcome } }

    /// The mean number of pushes in a list per second, between two moments in seconds.
    func rate(_ times: [Int64], from start: Double, to end: Double) -> Double {
        Double(times.count { (start..<end).contains(Double($0 - 1_000_000_000) / 1e9) }) / (end - start)
    }

    /// Runs until the machine ends, or for this many seconds.
    mutating func run(seconds limit: Double) {
        while machine.end == nil, seconds < limit {
            answerDue()
            machine.advance(to: now)
            carryOut()
            settlements += machine.settlements
            machine.settlements.removeAll()
            machine.released.removeAll()
            nanoseconds += 1_000_000
        }
    }

    private mutating func carryOut() {
        while !machine.actions.isEmpty {
            let actions = machine.actions
            machine.actions.removeAll()
            for action in actions {
                switch action {
                case .open(let connection): machine.connectionOpened(connection, at: now)
                case .submit(let push, _):
                    submissions.append(nanoseconds)
                    answers.append((nanoseconds + latency, push, takes()))
                default: break
                }
            }
            machine.advance(to: now)
        }
    }

    private mutating func takes() -> Bool {
        let capacity = capacity(seconds)
        bucket = min(capacity / 5, bucket + capacity * Double(nanoseconds - bucketAt) / 1e9)
        bucketAt = nanoseconds
        guard Double.random(in: 0..<1, using: &random) >= randomShare, bucket >= 1 else { return false }
        bucket -= 1
        return true
    }

    private mutating func answerDue() {
        while firstAnswer < answers.count, answers[firstAnswer].time <= nanoseconds {
            let (_, push, isTaken) = answers[firstAnswer]
            firstAnswer += 1
            guard !isTaken else {
                machine.answered(push, .init(status: 200), at: now)
                continue
            }
            refusals.append(nanoseconds)
            switch refusal {
            case .tooManyRequests: machine.answered(push, .init(status: 429, reason: "TooManyRequests"), at: now)
            case .unavailable: machine.answered(push, .init(status: 503, reason: "ServiceUnavailable"), at: now)
            case .refusedStream: machine.streamRefused(push, at: now)
            }
        }
    }
}

@Suite("adaptive slow-down")
struct ThrottleTests {
    @Test(
        "a server that takes 500 a second is sent about 500 a second, and no push fails",
        arguments: BusyServer.Refusal.allCases)
    fileprivate func settles(refusal: BusyServer.Refusal) {
        var server = BusyServer(pushes: 15_000, capacity: { _ in 500 }) { $0.canaryPushes = 100 }
        server.refusal = refusal
        server.run(seconds: 60)
        #expect(server.count(.accepted) == 15_000)
        #expect(server.seconds < 1.25 * 15_000 / 500, "took \(server.seconds) s")
        let (sent, refused) = (
            server.rate(server.submissions, from: 8, to: 28), server.rate(server.refusals, from: 8, to: 28)
        )
        #expect((450...600).contains(sent), "\(sent) a second")
        #expect(refused < 50, "\(refused) refused a second")
    }

    @Test("however much or little a server takes", arguments: [10.0, 60, 3_000])
    func capacities(capacity: Double) {
        var server = BusyServer(pushes: Int(capacity * 20), capacity: { _ in capacity })
        server.run(seconds: 90)
        #expect(server.count(.failed) == 0)
        #expect(server.count(.accepted) == Int(capacity * 20), "in \(server.seconds) s")
        #expect(server.seconds < 35, "took \(server.seconds) s")
    }

    @Test("the rate follows what the server takes, down and up again, and the limit goes when there is none")
    func follows() {
        var server = BusyServer(pushes: 60_000, capacity: { (10..<30).contains($0) ? 300 : 2_000 }) {
            $0.streamsPerConnection = 30
        }
        server.run(seconds: 80)
        let rates = [(2.0, 10.0), (14, 30), (55, 60)].map { server.rate(server.submissions, from: $0.0, to: $0.1) }
        #expect((1_350...1_600).contains(rates[0]), "as fast as 30 streams and 20 ms allow: \(rates)")
        #expect((270...420).contains(rates[1]), "\(rates)")
        #expect(rates[2] > 1_300 || server.machine.end != nil, "\(rates)")
        #expect(server.count(.failed) == 0)
    }

    @Test("never faster than the pace, while slowed down or not")
    func pace() {
        var server = BusyServer(pushes: 6_000, capacity: { $0 < 5 ? 1_000 : 120 }) {
            $0.pace = Pace(pushes: 300, intervalSeconds: 1)
        }
        server.run(seconds: 60)
        let submissions = server.submissions
        #expect(
            submissions.indices.dropFirst(300).allSatisfy { submissions[$0] - submissions[$0 - 300] > 1_000_000_000 })
        #expect(server.count(.failed) == 0)
        #expect(server.rate(submissions, from: 12, to: 40) < 160)
    }

    @Test("refusals that come as often however slowly one sends do not slow a run down for long")
    func unrelated() {
        var server = BusyServer(pushes: 20_000, capacity: { _ in 1_000_000 }) { $0.streamsPerConnection = 20 }
        server.randomShare = 0.2
        server.run(seconds: 60)
        // At best 1,000 a second, a fifth of them refused: 25 s.
        #expect(server.seconds < 33, "took \(server.seconds) s")
    }

    @Test("after an outage the run is as fast as before, soon")
    func outage() {
        var server = BusyServer(pushes: 40_000, capacity: { (5..<25).contains($0) ? 0 : 1_000_000 }) {
            $0.streamsPerConnection = 20
        }
        server.run(seconds: 60)
        #expect(server.rate(server.submissions, from: 1, to: 5) > 900)
        #expect(server.rate(server.submissions, from: 12, to: 25) < 100)
        #expect(server.rate(server.submissions, from: 50, to: 55) > 900)
    }

    @Test("few devices that are hit too often slow nobody down")
    func fewDevices() {
        var throttle = Throttle()
        var windows = [Int32](repeating: 0, count: 9)
        for step in 0..<2_000 {
            let now = Int64(step) * 5_000_000
            if step % 3 == 0 { throttle.noteTaken(submittedAt: now, at: now) }
            throttle.noteRefused(lastWindow: &windows[step % 9], submittedAt: now, at: now)
        }
        #expect(throttle.rate == nil)
    }

    @Test("answers to what was sent before the rate fell do not lower it again")
    func lateAnswers() throws {
        var throttle = Throttle()
        func refuse(_ count: Int, from start: Int64, submittedAt: Int64) {
            for index in 0..<count {
                var none: Int32 = 0
                let now = start + Int64(index) * 1_000_000
                throttle.noteTaken(submittedAt: submittedAt, at: now)
                throttle.noteRefused(lastWindow: &none, submittedAt: submittedAt, at: now)
            }
        }
        refuse(1_010, from: 0, submittedAt: 0)
        let rate = try #require(throttle.rate)
        #expect((900...1_100).contains(rate), "half of 2,000 a second")
        refuse(3_000, from: 1_100_000_000, submittedAt: 0)
        #expect(throttle.rate == rate)
    }

    @Test("a slowed-down run does not make up for a pause")
    func pause() throws {
        var throttle = Throttle()
        for index in 0..<1_010 {
            var none: Int32 = 0
            let now = Int64(index) * 1_000_000
            throttle.noteTaken(submittedAt: now, at: now)
            throttle.noteRefused(lastWindow: &none, submittedAt: now, at: now)
        }
        let rate = try #require(throttle.rate)
        throttle.take(at: 2_000_000_000)
        let resumed: Int64 = 60_000_000_000
        for _ in 0..<100 { throttle.take(at: resumed) }
        let next = Double(try #require(throttle.nextTime) - resumed)
        #expect(next > 100 * 1e9 / rate - 6_000_000)
    }

    @Test("a window in which nothing at all was taken changes no rate")
    func nothingTaken() throws {
        var throttle = Throttle()
        func answer(_ count: Int, from start: Int64, isTaken: (Int) -> Bool) {
            for index in 0..<count {
                var none: Int32 = 0
                let now = start + Int64(index) * 1_000_000
                if isTaken(index) {
                    throttle.noteTaken(submittedAt: now, at: now)
                } else {
                    throttle.noteRefused(lastWindow: &none, submittedAt: now, at: now)
                }
            }
        }
        answer(1_001, from: 0) { $0 % 2 == 0 }
        let rate = try #require(throttle.rate)
        answer(5_000, from: 1_100_000_000) { _ in false }
        #expect(throttle.rate == rate)
        // The window in which the outage ends is a bad one, and no reason to return to the initial
        // rate.
        answer(3_000, from: 6_200_000_000) { _ in true }
        #expect((rate / 10...rate).contains(try #require(throttle.rate)))
    }
}
