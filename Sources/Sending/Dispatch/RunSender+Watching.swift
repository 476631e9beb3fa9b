import Base
public import Delivery
import Cluster
public import PushServices
import Runs

/// The watch over a run while it is being sent: its progress, and orders from other processes.
extension RunSender {
    /// Reports the progress, and passes on orders from this terminal and others, until the delivery
    /// has ended.
    /// - Parameter moment: when sending must stop; nil for never.
    func watch(_ state: SendState, _ segments: [SegmentSending], until moment: Timestamp?) {
        var meter = ProgressMeter(), silences = segments.map { _ in SilenceWatch() }
        let begin = ContinuousClock.now
        let cancellation = options.cancellation
        while !cancellation.wait(
            milliseconds: segments.isInterrupted ? SendControl.longestRest : rest(until: moment), orUntil: state.ended)
        {
            if cancellation.isRequested, !segments.isInterrupted {
                options.observer(.draining)
                segments.interrupt()
            }
            options.observer(.tick)
            if !segments.isInterrupted {
                carryOutOrders(segments, state)
                let seconds = (ContinuousClock.now - begin) / .seconds(1)
                for place in segments.indices where segments[place].isGoing {
                    listen(to: segments[place], &silences[place], state, at: seconds)
                }
            }
            if let moment, !segments.isInterrupted, clock.now() >= moment { segments.interrupt(.quietHours) }
            let held = segments.wait, access = (held?.segment ?? segments.first { $0.isGoing })?.access ?? services[0]
            if var progress = meter.progress(
                state, waitingFor: held?.wait, pace: access.pace, service: access.service,
                isOneOfSeveral: segments.count { $0.isGoing } > 1 && !(held?.wait == .pace && access.sharesPace))
            {
                progress.claimed = state.claims.value
                // Answers of a run that machines share are recorded in its store.
                if session != nil, progress.wait == .runFile { progress.wait = .delivery(.store) }
                progress.segments = segments.filter(\.isGoing).map(SegmentProgress.init)
                options.observer(.progress(progress))
            }
        }
        options.observer(.progressOver)
    }

    /// Tells when a service does not answer, and when it does again.
    private func listen(
        to segment: SegmentSending, _ silence: inout SilenceWatch, _ state: SendState, at seconds: Double
    ) {
        let service = segment.access.service
        switch silence.look(
            answered: segment.control.requestsAnswered, isWaiting: segment.control.waitsForService, at: seconds)
        {
        case .silent(let seconds):
            // What earlier epochs of the run settled is not counted by this sender.
            let waiting = max(
                0,
                min(
                    segment.segment.ids.count - segment.control.pushesSettled,
                    state.progress.total - state.progress.done))
            options.observer(
                .silent(
                    SilentService(
                        service: service, endpoint: segment.access.address,
                        isConnected: segment.control.connections > 0, seconds: seconds,
                        waiting: waiting)))
        case .answersAgain: options.observer(.answersAgain(service))
        case nil: break
        }
    }

    /// Milliseconds until the next check, so that nothing is sent after `moment`.
    private func rest(until moment: Timestamp?) -> Int {
        guard let moment else { return SendControl.longestRest }
        return Int(
            max(0, min(moment.epochMilliseconds - clock.now().epochMilliseconds, Int64(SendControl.longestRest))))
    }

    /// What people ask for; nil if that cannot be read now.
    var order: RunOrder? {
        guard let session else { return (try? run.status())?.order }
        return session.pendingOrder ?? (try? session.ledger.order())
    }

    /// Carries out the order that another process recorded.
    private func carryOutOrders(_ segments: [SegmentSending], _ state: SendState) {
        if let loss = run.loss(during: .sending) {
            segments.interrupt()
            return state.fail(.ledger(loss))
        }
        session?.steer(segments, state)
        switch order {
        case .pause: segments.interrupt(.paused)
        case .cancel: segments.interrupt(.cancelled)
        case .goOn, nil: break
        }
    }

    /// Waits while the run is paused.
    /// - Returns: how the run ended; nil if it continues.
    func waitWhilePaused() -> RunEnd? {
        options.observer(.paused(run: run.plan.id))
        while true {
            options.cancellation.wait(milliseconds: SendControl.longestRest)
            options.observer(.tick)
            if options.cancellation.isRequested { return .interrupted }
            if let loss = run.loss(during: .paused) { return .stopped(.ledger(loss)) }
            if let end = session?.end { return end }
            switch order {
            case .goOn:
                options.observer(.resumed)
                return nil
            case .cancel: return .cancelled
            case .pause, nil: continue
            }
        }
    }
}

extension SendControl {
    /// The longest time between two checks while a run is sent, in milliseconds: a removed run file
    /// is noticed within a fifth of a second.
    static let longestRest = 200

    /// Waits for a sender, and interrupts it if it is asked to end.
    /// - Parameters:
    ///   - ended: woken by the sender's thread at its end.
    ///   - cancellation: the request to end.
    ///   - draining: called before the sender is interrupted.
    ///   - rest: milliseconds until the next tick.
    ///   - tick: called after each rest.
    func wait(
        until ended: Wakeup, _ cancellation: Cancellation, draining: () -> Void, rest: () -> Int = { longestRest },
        tick: () -> Void = {}
    ) {
        while !cancellation.wait(milliseconds: rest(), orUntil: ended) {
            if cancellation.isRequested, !isInterrupted {
                draining()
                interrupt()
            }
            tick()
        }
    }
}

/// What a run that is being sent waits for.
public enum ProgressWait: Hashable, Sendable {
    /// Something about the service or the pace.
    case delivery(SendWait)
    /// Answers have arrived and cannot be written into the run file.
    case runFile

    /// Whether the run makes no progress until the wait ends.
    public var isTrouble: Bool {
        switch self {
        case .delivery(.store), .delivery(.outage), .delivery(.connection), .delivery(.quota), .delivery(.credential),
            .runFile:
            true
        case .delivery: false
        }
    }
}

/// A service that has taken no push for a while although devices wait for it.
public struct SilentService: Sendable {
    /// The service.
    public var service: any PushService
    /// Its host and port, and the proxy on the way to it, as a phrase.
    public var endpoint: String
    /// Whether a connection to it is open.
    public var isConnected: Bool
    /// For how long it has taken none, in seconds.
    public var seconds: Int
    /// The recipients without an outcome that are sent through it now.
    public var waiting: Int
}

/// Notices when a service takes no push although some wait for it. A value; the caller passes the
/// time, in seconds.
struct SilenceWatch {
    /// What there is to tell.
    enum News: Hashable { case silent(seconds: Int), answersAgain }

    /// After each time that it was told, twice as long, so that a slow service does not fill a log.
    private static let firstTimeout = 4.0, longestTimeout = 600.0

    private var timeout = Self.firstTimeout
    private var answered = 0
    private var since: Double?
    private var isTold = false

    /// - Parameters:
    ///   - answered: how many requests the service has answered.
    ///   - isWaiting: whether some wait for the service rather than for the pace, the disk or an
    ///     order.
    mutating func look(answered: Int, isWaiting: Bool, at seconds: Double) -> News? {
        if answered != self.answered {
            defer { (self.answered, since, isTold) = (answered, nil, false) }
            return isTold ? .answersAgain : nil
        }
        guard isWaiting else {
            since = nil
            return nil
        }
        let begin = since ?? seconds
        since = begin
        guard !isTold, seconds - begin >= timeout else { return nil }
        isTold = true
        timeout = min(timeout * 2, Self.longestTimeout)
        return .silent(seconds: Int(seconds - begin))
    }
}

extension SendControl {
    /// Whether pushes wait for the service: also behind a pace, while any that has left has no
    /// outcome.
    var waitsForService: Bool {
        switch wait {
        case .store, .quota: false
        case let wait: wait?.isForService ?? false || started.value > pushesSettled
        }
    }
}

extension SendWait {
    /// Whether pushes wait for the service itself: for a connection, a token or an answer.
    var isForService: Bool {
        switch self {
        case .connection, .outage, .credential, .canary, .server: true
        case .last(let answers, _): answers > 0
        case .store, .quota, .throttle, .pace: false
        }
    }
}

/// Notices when answers arrive but are not written into the run file. A value; the caller passes
/// the time.
struct RecordingWatch {
    private static let timeoutSeconds = 2.0

    private var recorded = 0
    private var stuckSince: Double?

    /// Whether the same answers have waited for two seconds.
    /// - Parameters:
    ///   - answered: how many settlements were handed over to be recorded.
    ///   - recorded: how many settlements are on the disk.
    mutating func isStuck(answered: Int, recorded: Int, at seconds: Double) -> Bool {
        guard answered > recorded, recorded == self.recorded, let since = stuckSince else {
            self.recorded = recorded
            stuckSince = answered > recorded ? seconds : nil
            return false
        }
        return seconds - since >= Self.timeoutSeconds
    }
}
