public import Base
import Synchronization

/// What other threads ask of a running sender, and what it shows of its progress.
public final class SendControl: Sendable {
    /// Why a stop was requested.
    public enum StopRequest: Sendable {
        case interrupted, paused, cancelled
        /// Nothing may go out at this time of day.
        case quietHours

        /// The reason recorded for what is then unsent.
        public var reason: OwnReason {
            switch self {
            case .interrupted: .interrupted
            case .paused: .paused
            case .cancelled: .cancelled
            case .quietHours: .quietHours
            }
        }
    }

    private let request = Mutex<StopRequest?>(nil)
    private let interrupted = Atomic(false)
    /// Pushes that the sender has started so far: in flight, waiting for another attempt, or
    /// settled.
    public let started = WatchedCount()
    private let settled = Atomic(0), answered = Atomic(0)
    /// What each loop is at, by the loop's place.
    private let loops = Mutex<[Int: LoopState]>([:])

    private struct LoopState {
        /// What it waits for; nil for nothing.
        var wait: SendWait?
        var connections: Int
    }
    /// What other workers of the run were answered.
    private let elsewhere = Mutex(AnswerTally())
    private let isOverWithCanary = Atomic(false)
    /// Until when the gate is open, in nanoseconds of the clock that counts on while the machine
    /// sleeps.
    private let openUntil = Atomic(Int64.max)
    /// Woken by requests, and by what is told from elsewhere.
    private let listeners = Mutex<[Wakeup]>([])

    /// A control without requests.
    public init() {}

    /// Tells the sender to submit nothing more, wait a bounded time for answers, settle the rest as
    /// unsent or unknown, and end. Only the first request counts. Safe to call from any thread.
    public func interrupt(_ request: StopRequest = .interrupted) {
        self.request.withLock { $0 = $0 ?? request }
        interrupted.store(true, ordering: .releasing)
        wakeListeners()
    }

    private func wakeListeners() { for listener in listeners.withLock({ $0 }) { listener.wake() } }

    /// Wakes `wakeup` when `interrupt` is called, and at once if it already was; also when the gate
    /// opens, and when others were answered.
    func wakeForNews(_ wakeup: Wakeup) {
        listeners.withLock { $0.append(wakeup) }
        if isInterrupted { wakeup.wake() }
    }

    /// Whether `interrupt` was called.
    public var isInterrupted: Bool { interrupted.load(ordering: .acquiring) }

    /// The request; nil before one is made.
    public var requested: StopRequest? { isInterrupted ? request.withLock { $0 } : nil }

    // MARK: Other workers of the run

    /// Tells what all other workers of the run together have been answered so far by this service.
    /// The campaign's limits (`stop_when`) judge the sum of that and of this sender's own answers,
    /// before the next push leaves. Each call replaces what the last one told. Calls come about
    /// once a second, so a limit may be passed by what leaves in that time.
    /// - Parameter outcomes: answers by outcome; what is unknown or unsent is no answer.
    public func noteElsewhere(_ outcomes: [Outcome: Int]) {
        let tally = AnswerTally(outcomes)
        let isNew = elsewhere.withLock { known in
            defer { known = tally }
            return known != tally
        }
        if isNew { wakeListeners() }
    }

    /// What other members were answered.
    var tallyElsewhere: AnswerTally { elsewhere.withLock { $0 } }

    /// Whether the sender's first pushes, which go ahead of all others, have been answered and
    /// judged well, or it has no such pushes. It stays true until the sender ends, and beyond. A
    /// sender that has fewer pushes than that never says so.
    public var canaryIsOver: Bool { isOverWithCanary.load(ordering: .acquiring) }

    /// Notes that the canary was judged well.
    func noteCanaryOver() { if !canaryIsOver { isOverWithCanary.store(true, ordering: .releasing) } }

    // MARK: The gate

    /// Lets nothing more be submitted until the gate is opened. What is in flight continues, and
    /// answers count. Each loop looks at the gate whenever it decides what to submit: what it has
    /// decided before, in the turn that is under way, still leaves.
    public func closeGate() { openUntil.store(.min, ordering: .releasing) }

    /// Lets pushes be submitted again: until the gate is closed, or until a moment that may be put
    /// off by the next call. Then it closes by itself, also if the thread that would close it is
    /// held up.
    /// - Parameter end: nanoseconds of CLOCK_BOOTTIME, which counts on while the machine sleeps.
    public func openGate(until end: Int64 = .max) {
        let before = openUntil.exchange(end, ordering: .acquiringAndReleasing)
        if before < .max, before <= bootNanoseconds() { wakeListeners() }
    }

    /// Whether pushes may be submitted now.
    public var isGateOpen: Bool {
        let end = openUntil.load(ordering: .acquiring)
        return end == .max || bootNanoseconds() < end
    }

    // MARK: Progress

    /// Pushes that have their outcome, whether or not the sender has reported it yet.
    public var pushesSettled: Int { settled.load(ordering: .acquiring) }

    /// Requests that the service has answered: what is settled because a connection was lost is no
    /// answer.
    public var requestsAnswered: Int { answered.load(ordering: .acquiring) }

    /// What holds the sender up right now, at most a second old; nil if nothing does.
    public var wait: SendWait? { SendWait.together(loops.withLock { $0.values.map(\.wait) }) }

    /// How many connections are open, at most a second old.
    public var connections: Int { loops.withLock { $0.values.reduce(0) { $0 + $1.connections } } }

    /// Notes what a loop waits for now, and how many connections it has open.
    func note(_ wait: SendWait?, connections: Int, of loop: Int) {
        loops.withLock { $0[loop] = LoopState(wait: wait, connections: connections) }
    }

    /// Notes that a loop has ended: it waits for nothing, and has no connections.
    func forget(_ loop: Int) { loops.withLock { _ = $0.removeValue(forKey: loop) } }

    /// Adds the pushes that a loop has started and settled, and the requests that were answered,
    /// since its last call.
    func add(started: Int, settled: Int, answered: Int = 0) {
        self.answered.wrappingAdd(answered, ordering: .releasing)
        // `settled` first: a thread woken by `started` must find both counts.
        self.settled.wrappingAdd(settled, ordering: .releasing)
        self.started.add(started)
    }
}

/// What holds a sender up right now. Facts only: the code that shows them chooses the words.
public enum SendWait: Hashable, Sendable {
    /// The store that the run is shared through does not answer, so nothing more is submitted.
    case store
    /// There is no connection to the server yet, or none since the last one was lost.
    case connection
    /// The service has taken nothing for this many seconds.
    case outage(seconds: Int)
    /// There has been no token for this many seconds, and one is being fetched; why the last
    /// attempt failed, blank if none did.
    case credential(seconds: Int, trouble: String = "")
    /// The sender has used up its quota, and nothing leaves before this moment.
    case quota(until: Timestamp)
    /// The first pushes go ahead of all others, and this many of their answers are missing.
    case canary(answers: Int)
    /// All pushes are on their way: `answers` are missing, and `again` pushes were refused for now
    /// and wait for another attempt.
    case last(answers: Int, again: Int)
    /// The service was overloaded, so pushes leave at this lower rate.
    case throttle(perSecond: Double)
    /// Every stream that the server allows is in use.
    case server
    /// The pace.
    case pace
}

extension SendWait {
    /// Returns what the loops of a sender wait for as a whole; nil if nothing holds up the sender.
    /// - Parameter waits: what each loop waits for; nil for a loop that nothing holds up.
    package static func together(_ waits: [SendWait?]) -> SendWait? {
        let known = waits.compactMap(\.self)
        // The gate is the whole sender's.
        if known.contains(.store) { return .store }
        // All loops wait for the same token.
        let fetches = known.compactMap {
            if case .credential(let seconds, let trouble) = $0 { (seconds, trouble) } else { nil }
        }
        if let (seconds, trouble) = fetches.max(by: { $0.0 < $1.0 }) {
            return .credential(seconds: seconds, trouble: trouble)
        }
        // A quota is the whole sender's.
        let holds = known.compactMap { if case .quota(let until) = $0 { until } else { nil } }
        if let latest = holds.max() { return .quota(until: latest) }
        // An outage or a throttle concerns the service, which all loops share.
        let outages = known.compactMap { if case .outage(let seconds) = $0 { seconds } else { nil } }
        if let longest = outages.max() { return .outage(seconds: longest) }
        let rates = known.compactMap { if case .throttle(let rate) = $0 { rate } else { nil } }
        if !rates.isEmpty { return .throttle(perSecond: rates.reduce(0, +)) }
        guard known.count == waits.count, let first = known.first else { return nil }
        let rest = known.filter { if case .last = $0 { false } else { true } }
        if let other = rest.first { return other }
        return known.dropFirst().reduce(first) { sum, wait in
            guard case .last(let answers, let again) = sum, case .last(let more, let moreAgain) = wait else {
                return sum
            }
            return .last(answers: answers + more, again: again + moreAgain)
        }
    }
}

extension DeliveryMachine {
    /// What keeps pushes from leaving, or the run from ending; nil if nothing does.
    func wait(at now: Moment) -> SendWait? {
        guard end == nil else { return nil }
        if waitsAtGate { return .store }
        guard openPushes > 0 else { return nil }
        if let hold = hold(at: now) { return hold }
        if let since = serviceHealth.lastsSince {
            return .outage(seconds: Int((now.nanoseconds - since) / 1_000_000_000))
        }
        if let since = namesMissingSince { return .outage(seconds: Int((now.nanoseconds - since) / 1_000_000_000)) }
        guard !fresh.isEmpty || !again.isEmpty else {
            return isSourceEnded || ending != nil ? .last(answers: inFlightCount, again: waitingPushes) : nil
        }
        if let since = credentialPendingSince {
            return .credential(seconds: Int((now.nanoseconds - since) / 1_000_000_000), trouble: credentialTrouble)
        }
        if inFlightCount == 0, !connections.contains(where: { $0.state == .open }) {
            return restsForPace(at: now) ? .pace : .connection
        }
        if !canaryAllowsNext { return .canary(answers: canary.awaited) }
        if let rate = throttle.rate, rate < settings.slowestPace { return .throttle(perSecond: rate) }
        if connectionWithRoom() == nil { return .server }
        return pacer == nil && paceArbiter.isEmpty ? nil : .pace
    }

    /// How many connections can take pushes.
    var openConnections: Int { connections.count { $0.state == .open } }

    /// Whether there is or may be something to submit, and the gate is closed.
    private var waitsAtGate: Bool {
        gateClosedSince != nil && ending == nil && !isExpired && !(isSourceEnded && fresh.isEmpty && again.isEmpty)
    }

    /// What the quota makes the sender wait for; nil if nothing. A hold that outlasts the run's
    /// patience is an outage.
    private func hold(at now: Moment) -> SendWait? {
        guard ending == nil, let until = quota.until, until > now.nanoseconds else { return nil }
        if let since = quota.since, let end = quotaDeadline, until > end {
            return .outage(seconds: Int((now.nanoseconds - since) / 1_000_000_000))
        }
        return .quota(until: now.adding(nanoseconds: until - now.nanoseconds).wall)
    }

    private var waitingPushes: Int { waiting.requests.reduce(0) { $0 + Int(pushes[$1].count) } }

    /// With a pace of one push in many minutes, a connection is opened only when the push is nearly
    /// due.
    private func restsForPace(at now: Moment) -> Bool {
        ownPaceTime.map { $0 - now.nanoseconds > Int64(nanosecondsFromSeconds: settings.connectTimeoutSeconds) }
            ?? false
    }
}
