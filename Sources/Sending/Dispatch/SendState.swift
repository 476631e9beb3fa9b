import Base
import Delivery
import PushServices
import Runs
import Synchronization
import Workspace

/// The state that the threads of a run share while it is sent.
final class SendState: Sendable {
    let progress: SendProgress
    /// How many settlements of this sending are on the disk.
    let recorded = WatchedCount()
    /// How many claims of the run were made.
    let claims = ClaimCount()
    /// Woken when the delivery has ended.
    let ended: Wakeup
    /// How many recipients may get no more pushes.
    private let cappedCount = Atomic(0)
    /// Why the run cannot continue: the first reason only.
    let failure = Mutex<StopCause?>(nil)
    /// What is known about recipients that get the push again.
    private struct Earlier {
        /// The recorded attempts.
        var attempts: [Int: Int] = [:]
        /// The recipients that may have got the push.
        var inDoubt: Set<Int> = []
    }

    private let earlier = Mutex(Earlier())

    /// - Throws: a `Diagnostic` if no more files can be opened.
    package init(total: Int, settled: [Outcome: Int]) throws(Diagnostic) {
        ended = try Wakeup()
        progress = SendProgress(total: total, settled: settled)
    }

    /// How many recipients were left out because they may get no more pushes.
    var capped: Int { cappedCount.load(ordering: .relaxed) }

    func noteCapped(_ count: Int) { cappedCount.wrappingAdd(count, ordering: .relaxed) }

    func fail(_ cause: StopCause) {
        failure.withLock { $0 = $0 ?? cause }
    }

    @Sendable func noteAttempts(_ attempts: [Int: Int]) {
        if !attempts.isEmpty { earlier.withLock { $0.attempts.merge(attempts) { $1 } } }
    }

    @Sendable func noteInDoubt(_ recipients: [Int]) {
        if !recipients.isEmpty { earlier.withLock { $0.inDoubt.formUnion(recipients) } }
    }

    /// Completes settlements for the record. They get the attempts of earlier sendings to the same
    /// recipient. If a recipient may have got the push earlier, it is recorded as unknown when this
    /// time it is unsent, failed or rejected.
    func completed(_ settlements: [Settlement]) -> [Settlement] {
        earlier.withLock { earlier in
            guard !earlier.attempts.isEmpty || !earlier.inDoubt.isEmpty else { return settlements }
            return settlements.map { settlement in
                var settlement = settlement
                settlement.attempts += earlier.attempts.removeValue(forKey: settlement.recipient) ?? 0
                guard earlier.inDoubt.contains(settlement.recipient) else { return settlement }
                switch settlement.outcome {
                case .unsent: (settlement.outcome, settlement.reason) = (.unknown, OwnReason.noAnswer.rawValue)
                case .failed: settlement.outcome = .unknown
                case .rejected: (settlement.outcome, settlement.reason) = (.unknown, OwnReason.refusedAgain.rawValue)
                case .accepted, .invalidToken, .unknown: break
                }
                return settlement
            }
        }
    }
}

/// The outcomes so far. The recorder's thread counts them, and another thread shows them.
final class SendProgress: Sendable {
    private struct Counts {
        var outcomes = [Int](repeating: 0, count: Outcome.allCases.count)
        /// What other machines have recorded since this sending began.
        var elsewhere = [Int](repeating: 0, count: Outcome.allCases.count)
    }

    private let counts = Mutex(Counts())
    /// How many recipients the run has.
    let total: Int
    private let before: Int

    /// - Parameter settled: the recipients by outcome before this sending began.
    package init(total: Int, settled: [Outcome: Int] = [:]) {
        self.total = total
        before = settled.values.reduce(0, +)
        counts.withLock { counts in
            for (outcome, count) in settled { counts.outcomes[outcome.rawValue] = count }
        }
    }

    func add(_ settlements: [Settlement]) {
        counts.withLock { counts in
            for settlement in settlements { counts.outcomes[settlement.outcome.rawValue] += 1 }
        }
    }

    /// Notes what other machines have recorded since this sending began, in place of what was noted
    /// of it before.
    func note(elsewhere outcomes: [Outcome: Int]) {
        counts.withLock { counts in
            for outcome in Outcome.allCases { counts.elsewhere[outcome.rawValue] = outcomes[outcome, default: 0] }
        }
    }

    /// Recorded recipients by outcome.
    var outcomes: [Outcome: Int] {
        let counts = counts.withLock { $0 }
        return Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map {
                ($0, counts.outcomes[$0.rawValue] + counts.elsewhere[$0.rawValue])
            })
    }

    /// How many recipients are recorded.
    var done: Int { counts.withLock { $0.outcomes.reduce(0, +) + $0.elsewhere.reduce(0, +) } }

    /// How many recipients this sending has recorded.
    var doneHere: Int { counts.withLock { $0.outcomes.reduce(0, +) } - before }
}

/// A segment while it is sent. It has a reader, a sender, a queue between them and a brake of its
/// own; segments share the record and what is known of the run (`SendState`).
final class SegmentSending: Sendable {
    let segment: RunSegment
    let access: ServiceAccess
    let control = SendControl()
    let batches: BoundedQueue<PushBatch>
    /// Receipts of its service's answers that are not on the disk yet.
    let receipts = ReceiptQueue()
    /// How many of its settlements are on the disk.
    let recorded = WatchedCount()
    /// Limits how far ahead of the wire its recipients are claimed.
    let allowance: ClaimBudget
    private let isEnded = Atomic(false)

    /// - Parameter queue: the most batches between its reader and its sender.
    /// - Throws: a `Diagnostic` if no more files can be opened.
    init(_ segment: RunSegment, _ access: ServiceAccess, queue: Int) throws(Diagnostic) {
        self.segment = segment
        self.access = access
        batches = BoundedQueue(capacity: queue)
        let claiming = try Wakeup()
        batches.wakeWhenClosed(claiming)
        allowance = ClaimBudget(
            control: control, recorded: recorded, paces: access.paces, wakeup: claiming)
    }

    /// Whether its sender still runs.
    var isGoing: Bool { !isEnded.load(ordering: .acquiring) }

    func noteEnd() { isEnded.store(true, ordering: .releasing) }
}

extension [SegmentSending] {
    /// Tells all senders to end. Only the first request counts.
    func interrupt(_ request: SendControl.StopRequest = .interrupted) {
        for segment in self { segment.control.interrupt(request) }
    }

    var isInterrupted: Bool { contains { $0.control.isInterrupted } }

    /// What was asked of the senders; nil for nothing.
    var requested: SendControl.StopRequest? { lazy.compactMap(\.control.requested).first }

    /// What holds up the segments that are still sent, with one that it holds up; nil if nothing
    /// does.
    var wait: (wait: SendWait, segment: SegmentSending)? {
        let going = filter(\.isGoing), waits = going.map(\.control.wait)
        guard let wait = SendWait.together(waits), let place = waits.firstIndex(where: { $0 != nil }) else {
            return nil
        }
        // An outage of one service is more to know than the pace of another.
        let telling = waits.firstIndex { $0.map { SendWait.together([$0, wait]) == $0 && $0 == wait } ?? false }
        return (wait, going[telling ?? place])
    }
}

/// How a run reaches one of its services.
package struct ServiceAccess: Sendable {
    /// The run's settings as the service sees them.
    let settings: RunSettings
    let way: Route
    let route: ProxyRoute

    /// The way to the service.
    enum Route: Sendable {
        case open(Endpoint, Credentials)
        /// Its credentials cannot be used, for this reason: the run's other services are sent to.
        case closed(Diagnostic)
    }

    /// Why nothing can be sent through it; nil if something can.
    var obstacle: StopCause? {
        guard case .closed(let why) = way else { return nil }
        return .service(service.name, .credentialsUnusable(because: why.description))
    }

    var service: any PushService { settings.service }

    /// Where its pushes go, and the proxy on the way, as a phrase; blank where none can be sent.
    var address: String { if case .open(let endpoint, _) = way { endpoint.description + route.proxyText } else { "" } }

    /// The paces that its requests keep.
    var paces: RequestPaces { settings.paces }

    /// The one that people are told of; nil for as fast as the service takes pushes.
    var pace: Pace? { paces.targets ?? paces.calls }

    /// Whether that pace is one of all services together.
    var sharesPace: Bool { paces.targets != settings.servicePaces.targets }

    var resendsUnknown: Bool { settings.unknownPolicy == .resend }

    /// Whether it recognizes what it gets a second time, so that calls are named.
    var isProtected: Bool { if case .none = service.repeatProtection { false } else { true } }

    /// How many threads render for it, including the one that claims: one for every three loops.
    /// For a push, loops need about four times as much of a core as rendering does.
    func renderers(threads: Int) -> Int { paces.isEmpty ? max(1, (threads + 2) / 3) : 1 }
}
