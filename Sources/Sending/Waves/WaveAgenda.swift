import Base
import Campaigns
import Runs

/// The next step of a run that is sent in waves. It only decides: it reads no clock and waits for
/// nothing, so that tests can let days pass at once.
struct WaveAgenda {
    /// The next thing to do.
    enum Step: Hashable {
        /// Send to the devices that are left of a wave, and stop when its quiet hours begin, if
        /// they do.
        case deliver(Int, until: Timestamp?)
        /// It is too late for the rest of a wave, by this many seconds.
        case skip(Int, seconds: Int)
        /// Wait until the moment when the wave can be sent; before that, no wave can.
        case wait(until: Timestamp, wave: Int)
        case finished
    }

    private struct Wave {
        var zone: ZoneRules
        var due: Timestamp
        var isOver: Bool
    }

    private let quietHours: QuietHours?
    private let late: LatePolicy
    private let planning: Range<Timestamp>?
    private var waves: [Wave]
    /// When anything was sent last: a wave that waits for its turn behind others is not late.
    private var lastActivity: Timestamp?

    /// - Parameters:
    ///   - waves: the waves in sending order, each with whether it is over.
    ///   - planning: the time during which the run was planned; it does not count as idle.
    ///   - lastActivity: when an earlier process last sent something; nil if none did.
    package init(
        _ waves: [(zone: ZoneRules, due: Timestamp, isOver: Bool)], quietHours: QuietHours?, late: LatePolicy,
        planning: Range<Timestamp>?,
        lastActivity: Timestamp?
    ) {
        self.waves = waves.map { Wave(zone: $0.zone, due: $0.due, isOver: $0.isOver) }
        self.quietHours = quietHours
        self.late = late
        self.planning = planning
        self.lastActivity = lastActivity
    }

    /// The step to take now.
    func next(at now: Timestamp) -> Step {
        let open = waves.indices.filter { !waves[$0].isOver }
        var ready: [(wave: Int, at: Timestamp)] = []
        for number in open {
            let wave = waves[number]
            let moment = quietHours?.end(from: max(wave.due, now), in: wave.zone) ?? max(wave.due, now)
            ready.append((number, moment))
            // Quiet hours do not bring back the time that was missed before them.
            guard wave.due <= now else { continue }
            let seconds = idleSeconds(of: wave, at: now)
            if late.isTooLate(bySeconds: seconds) { return .skip(number, seconds: seconds) }
        }
        guard let first = ready.min(by: { $0.at < $1.at }) else { return .finished }
        guard first.at <= now else { return .wait(until: first.at, wave: first.wave) }
        return .deliver(first.wave, until: quietHours?.begin(from: now, in: waves[first.wave].zone))
    }

    /// How many seconds nothing was done although this wave could have been sent.
    private func idleSeconds(of wave: Wave, at now: Timestamp) -> Int {
        let since = max(wave.due, lastActivity ?? wave.due)
        guard since < now else { return 0 }
        let seconds = audibleSeconds(since..<now, wave.zone)
        guard let planning, planning.overlaps(since..<now) else { return seconds }
        return seconds - audibleSeconds(planning.clamped(to: since..<now), wave.zone)
    }

    private func audibleSeconds(_ times: Range<Timestamp>, _ zone: ZoneRules) -> Int {
        quietHours?.audibleSeconds(from: times.lowerBound, to: times.upperBound, in: zone)
            ?? Int(times.upperBound.epochSeconds - times.lowerBound.epochSeconds)
    }

    /// Notes that something was sent until now.
    mutating func noteActivity(at now: Timestamp) { lastActivity = max(now, lastActivity ?? now) }

    /// Notes that a wave is over.
    mutating func markDone(_ wave: Int) { waves[wave].isOver = true }

    /// Notes that waves continue, because recipients of them are left. Until now others had them,
    /// so they are not late.
    mutating func reopen(_ numbers: [Int], at now: Timestamp) {
        guard !numbers.isEmpty else { return }
        noteActivity(at: now)
        for number in numbers { waves[number].isOver = false }
    }

    /// How many waves are not over.
    var left: Int { waves.count { !$0.isOver } }

    /// The moment from which the expiry of a wave counts: when it was first sent, or when it last
    /// continued after quiet hours.
    /// - Parameter firstClaim: when the first recipients of the wave were claimed; nil if none
    ///   were.
    static func start(_ firstClaim: Timestamp?, at now: Timestamp, _ quietHours: QuietHours?, _ zone: ZoneRules)
        -> Timestamp
    {
        guard let firstClaim, firstClaim < now else { return now }
        guard let quietHours else { return firstClaim }
        var start = firstClaim
        while true {
            let end = quietHours.end(from: quietHours.begin(from: start, in: zone), in: zone)
            guard end <= now, end > start else { return start }
            start = end
        }
    }
}

extension WaveAgenda {
    /// Collects what is left of a run's waves.
    package init(of run: any RunLedger, _ settings: RunSettings) throws {
        let claims = try run.claims()
        let waves = try run.plan.waves.map { wave in
            let isOver =
                try claims.skippedWaves.contains(wave.ids.lowerBound)
                || claims.claimed.contains(all: wave.ids)
                    && run.plan.segments(of: wave.ids).allSatisfy { segment in
                        let resends = settings.ofService(segment.service).unknownPolicy == .resend
                        return try run.unsettled(
                            in: segment.ids, OpenOutcomes(resendsUnknown: resends, closing: [.frequencyCap])
                        ).isEmpty
                    }
            return (zone: try Sending.zone(of: wave, in: run), due: wave.due, isOver: isOver)
        }
        let schedule = settings.schedule
        self.init(
            waves, quietHours: schedule?.quietHours, late: schedule?.late ?? .send, planning: schedule?.planning,
            lastActivity: claims.last)
    }

    /// Whether it is too late for every wave.
    func isTooLateForAll(at now: Timestamp) -> Bool {
        var agenda = self
        while case .skip(let wave, _) = agenda.next(at: now) { agenda.markDone(wave) }
        return agenda.left == 0
    }
}

/// The time zone of a wave's devices.
func zone(of wave: RunWave, in run: any RunLedger) throws(Diagnostic) -> ZoneRules {
    do throws(Mistake) { return try ZoneDatabase.system.zone(named: wave.zone) } catch {
        throw Diagnostic(error.message, file: run.place, remedy: error.remedy)
    }
}

/// Waves of which this worker has done its part, while others may still have recipients of them in
/// hand, or give them back.
struct SentWaves {
    /// The shortest time between two looks; seconds.
    private static let restSeconds = 2.0
    /// Looking reads the outcomes of the run: it takes up a tenth of the time at most.
    private static let restShare = 10.0

    private(set) var waves: Set<Int> = []
    private var nextLook: ContinuousClock.Instant?

    /// Whether it is time to look.
    var mayBeAsked: Bool { !waves.isEmpty && nextLook.map { .now >= $0 } ?? true }

    /// Adds a wave.
    mutating func insert(_ wave: Int) { waves.insert(wave) }

    /// Notes what a look has found.
    /// - Parameters:
    ///   - start: when it began.
    ///   - unsettled: the waves to look at again.
    mutating func looked(since start: ContinuousClock.Instant, unsettled: Set<Int>) {
        waves = unsettled
        nextLook = .now + .seconds(max(Self.restSeconds, (.now - start) / .seconds(1) * Self.restShare))
    }
}

/// The clock by which a run waits. Tests replace it to let days pass.
struct WaitClock: Sendable {
    package var now: @Sendable () -> Timestamp
    /// Waits for the given number of milliseconds, or until a cancellation is requested.
    var rest: @Sendable (_ milliseconds: Int, Cancellation) -> Void

    /// The system's clock.
    static let system = WaitClock(now: { .now() }, rest: { $1.waitForRequest(atMost: Double($0) / 1000) })
}
