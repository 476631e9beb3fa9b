public import Base
public import Campaigns
public import Runs
public import Sending
import Synchronization

/// Delivers notices to the receivers that volley.yaml names. Sending a run never waits for a notice
/// and never fails because of one: a notice that cannot be delivered is a warning.
///
/// ```swift
/// let notices = Notices(project, retries: .short, .silent)
/// notices.notify(of: .begins)
/// notices.finish(until: try Cancellation())
/// ```
public final class Notices: Sendable {
    /// When further attempts are made, and when they end.
    public struct RetrySchedule: Sendable {
        /// The pause after the first failure; it doubles after each further one.
        package var firstPauseSeconds = 0.5
        package var longestPauseSeconds = 30.0
        /// How long after a notice was posted attempts are made; there is always at least one.
        package var totalSeconds: Double

        /// For commands that end when their run does.
        public static let short = RetrySchedule(totalSeconds: 25)
        /// For a process that continues to run anyway.
        package static let long = RetrySchedule(totalSeconds: 300)

        /// The seconds to wait after `failures` failed attempts in a row.
        /// - Parameter asked: the seconds that the receiver asked for; nil if it named none.
        package func pause(after failures: Int, asked: Int?) -> Double {
            let usual = firstPauseSeconds * Double(1 << min(failures - 1, 20))
            return min(max(usual, Double(asked ?? 0)), longestPauseSeconds)
        }
    }

    private struct Channel: Sendable {
        var app: String?
        var events: Set<NoticeEvent>
        var queue: BoundedQueue<Posted>
        var thread: WorkerThread<Void>
    }

    private struct Posted: Sendable {
        var notice: Notice
        var at: ContinuousClock.Instant
    }

    /// How long a command waits at its end for notices that are not delivered yet.
    public static let longestFlushSeconds = 30.0
    /// How long it waits after it was told to end.
    package static let interruptedFlushSeconds = 5.0
    /// How long it then waits until commands are killed.
    private static let endingSeconds = 2.0

    /// The notices that wait for one receiver; further ones are dropped. A receiver that is
    /// unreachable for that long has a larger problem.
    private static let longestQueue = 1_000

    private let observer: NoticeObserver
    private let channels: Mutex<[Channel]>
    private let signals: Signals?

    /// The signals between the channels' threads and the thread that waits for them.
    private struct Signals {
        /// Woken by each thread at its end.
        let ended: Wakeup
        /// Ends the pauses between attempts.
        let givingUp: Cancellation

        init() throws(Diagnostic) { (ended, givingUp) = (try Wakeup(), try Cancellation()) }
    }

    /// Starts a thread for each receiver that the project or one of its apps names. The observer is
    /// now told of receivers that cannot be used, for example because its secret is missing.
    /// - Parameter project: nil for no receivers.
    public init(_ project: Project?, retries: RetrySchedule, _ observer: NoticeObserver) {
        self.observer = observer
        var signals: Signals?
        var channels: [Channel] = []
        for (app, target) in project?.noticeTargets ?? [] {
            guard let project else { break }
            do throws(Diagnostic) {
                let proxy = app?.proxy ?? project.proxy
                let way = try NoticeChannel(target, projectFile: project.file, proxy: proxy, observer)
                let queue = BoundedQueue<Posted>(capacity: Self.longestQueue)
                let known: Signals
                if let signals { known = signals } else { known = try Signals() }
                signals = known
                let thread = try WorkerThread("notices", ringing: known.ended) { [givingUp = known.givingUp] in
                    Self.deliver(queue, by: way, retries, givingUp, observer)
                }
                channels.append(Channel(app: app?.name.value, events: target.events, queue: queue, thread: thread))
            } catch {
                var warning = error
                warning.severity = .warning
                observer(.unreachable(warning))
            }
        }
        self.channels = Mutex(channels)
        self.signals = signals
    }

    /// Queues a notice for each receiver of its event, and returns at once. A notice without an app
    /// goes to the receivers of all apps.
    func post(_ notice: Notice) {
        channels.withLock { channels in
            for channel in channels where channel.events.contains(notice.event) {
                if let app = notice.app, let wanted = channel.app, wanted != app { continue }
                if !channel.queue.putIfNotFull(Posted(notice: notice, at: ContinuousClock.now)) {
                    observer(.dropped(notice, waiting: Self.longestQueue))
                }
            }
        }
    }

    /// Closes the queues and waits until every notice is delivered or has failed. Gives up what is
    /// unfinished after `limit` seconds, and kills commands that still run.
    /// - Parameter cancellation: once it is requested, five more seconds are the limit.
    public func finish(withinSeconds limit: Double = longestFlushSeconds, until cancellation: Cancellation) {
        let channels = channels.withLock { channels in
            defer { channels = [] }
            return channels
        }
        for channel in channels { channel.queue.close() }
        guard let signals else { return }
        let clock = ContinuousClock()
        var end = clock.now + .seconds(limit)
        var isInterrupted = false
        func wait() {
            while case let now = clock.now, now < end, channels.contains(where: { !$0.thread.isFinished }) {
                if cancellation.isRequested, !isInterrupted {
                    isInterrupted = true
                    end = min(end, now + .seconds(Self.interruptedFlushSeconds))
                }
                let milliseconds = pollTimeout(now.duration(to: end) / .seconds(1))
                if cancellation.wait(milliseconds: Int(milliseconds), orUntil: signals.ended) { signals.ended.clear() }
            }
        }
        wait()
        // A pause between two attempts ends at once, and so does a command. A webhook ends at its
        // time limit; the process may end before that.
        signals.givingUp.request()
        end = clock.now + .seconds(Self.endingSeconds)
        wait()
        for channel in channels where channel.thread.isFinished { channel.thread.join() }
    }

    private static func deliver(
        _ queue: BoundedQueue<Posted>, by way: NoticeChannel, _ retries: RetrySchedule, _ givingUp: Cancellation,
        _ observer: NoticeObserver
    ) {
        while let posted = queue.take() {
            let notice = posted.notice
            if let failure = deliver(posted, by: way, retries, givingUp) {
                observer(.failed(notice, channel: way.name, reason: failure))
            }
        }
    }

    /// Tries to deliver a notice until it succeeds, is refused, or runs out of time.
    /// - Returns: why it was not delivered; nil if it was.
    private static func deliver(
        _ posted: Posted, by way: NoticeChannel, _ retries: RetrySchedule, _ givingUp: Cancellation
    ) -> String? {
        let clock = ContinuousClock()
        let end = posted.at + .seconds(retries.totalSeconds)
        var failures = 0
        while true {
            if givingUp.isRequested { return "Volley ended before" }
            switch way.attempt(posted.notice, now: .now(), until: givingUp) {
            case .delivered: return nil
            case .refused(let failure): return failure
            case .failed(let failure, let asked):
                failures += 1
                let pause = retries.pause(after: failures, asked: asked)
                guard clock.now + .seconds(pause) < end else {
                    return "\(failure) (\(failures) \(TextFormat.plural(failures, one: "attempt")))"
                }
                givingUp.waitForRequest(atMost: pause)
                if givingUp.isRequested { return failure }
            }
        }
    }
}

extension Notices {
    /// Posts a notice when a run begins and when it ends.
    /// - Parameter occurrence: the time of the schedule that the run belongs to.
    public func notify(of event: RunEvent, occurrence: String? = nil) {
        switch event {
        case .started(let run): post(Notice(.started, of: run, occurrence: occurrence))
        case .ended(let run): post(Notice(ofEndedRun: run, occurrence: occurrence))
        default: break
        }
    }

    /// Delivers a single notice about a run, and waits for it. For commands that end afterwards.
    /// - Parameter cancellation: as for `finish`.
    public static func notify(
        _ event: NoticeEvent, of run: RunFile, _ project: Project, until cancellation: Cancellation,
        _ observer: NoticeObserver
    ) {
        let notices = Notices(project, retries: .short, observer)
        notices.post(Notice(event, of: run))
        notices.finish(until: cancellation)
    }
}
