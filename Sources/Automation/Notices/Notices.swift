import Base
package import Campaigns
package import Runs
package import Sending
import Synchronization

/// Tells those whom volley.yaml names. Nothing waits for it while a run is being sent, and nothing fails with it: what cannot be delivered is a
/// warning.
package final class Notices: Sendable {
    /// When another attempt is made, and when no more.
    package struct RetrySchedule: Sendable {
        /// After the first failure; twice as long after each further one.
        package var firstPauseSeconds = 0.5
        package var longestPauseSeconds = 30.0
        /// From a notice's own moment on; at least one attempt is always made.
        package var totalSeconds: Double

        /// For commands that end when their run does.
        package static let short = RetrySchedule(totalSeconds: 25)
        /// For a process that goes on anyway.
        package static let long = RetrySchedule(totalSeconds: 300)

        /// Seconds to wait after `failures` attempts in a row.
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

    /// How long a command waits at its end for those who are hard to tell.
    package static let longestFlushSeconds = 30.0

    /// More of them wait for nobody: whoever cannot be reached for so long has other worries.
    private static let longestQueue = 1_000

    private let observer: NoticeObserver
    private let channels: Mutex<[Channel]>
    private let signals: Signals?

    /// What the threads of the channels and who waits for them tell one another.
    private struct Signals {
        /// Rung by each thread at its end.
        let ended: Wakeup
        /// Ends the pauses between attempts.
        let givingUp: Cancellation

        init() throws(Diagnostic) { (ended, givingUp) = (try Wakeup(), try Cancellation()) }
    }

    /// Those whom a project names, with those of its apps. Who cannot be told (a secret is missing) is said now.
    /// - Parameter project: nil for nobody.
    package init(_ project: Project?, patience: RetrySchedule, _ observer: NoticeObserver) {
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
                    Self.deliver(queue, by: way, patience, givingUp, observer)
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

    /// Tells whoever wants to know, later and elsewhere. Of what belongs to no app that is known, everybody is told.
    func post(_ notice: Notice) {
        channels.withLock { channels in
            for channel in channels where channel.events.contains(notice.event) {
                if let app = notice.app, let wanted = channel.app, wanted != app { continue }
                if !channel.queue.putIfNotFull(Posted(notice: notice, at: ContinuousClock.now)) {
                    observer(.dropped(notice.event, waiting: Self.longestQueue))
                }
            }
        }
    }

    /// Waits until all were told, or cannot be, and takes no more. What is under way after so long is given up.
    package func finish(withinSeconds limit: Double) {
        let channels = channels.withLock { channels in
            defer { channels = [] }
            return channels
        }
        for channel in channels { channel.queue.close() }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(limit)
        while case let now = clock.now, now < end, channels.contains(where: { !$0.thread.isFinished }) {
            signals?.ended.wait(atMost: now.duration(to: end) / .seconds(1))
        }
        // A pause between two attempts ends at once, and an attempt after its time limit; the process may end before that.
        signals?.givingUp.request()
        for channel in channels where channel.thread.isFinished { channel.thread.join() }
    }

    private static func deliver(
        _ queue: BoundedQueue<Posted>, by way: NoticeChannel, _ patience: RetrySchedule, _ givingUp: Cancellation,
        _ observer: NoticeObserver
    ) {
        while let posted = queue.take() {
            let notice = posted.notice
            if let failure = deliver(posted, by: way, patience, givingUp) {
                observer(.failed(notice.event, run: notice.run, channel: way.name, reason: failure))
            }
        }
    }

    /// - Returns: why nobody was told; nil when somebody was.
    private static func deliver(_ posted: Posted, by way: NoticeChannel, _ patience: RetrySchedule, _ givingUp: Cancellation) -> String? {
        let clock = ContinuousClock()
        let end = posted.at + .seconds(patience.totalSeconds)
        var failures = 0
        while true {
            switch way.attempt(posted.notice, now: .now()) {
            case .delivered: return nil
            case .refused(let failure): return failure
            case .failed(let failure, let asked):
                failures += 1
                let pause = patience.pause(after: failures, asked: asked)
                guard clock.now + .seconds(pause) < end else { return "\(failure) (\(failures) \(TextFormat.plural(failures, "attempt")))" }
                givingUp.waitForRequest(atMost: pause)
                if givingUp.isRequested { return failure }
            }
        }
    }
}

extension Notices {
    /// Tells of a run's beginning and its end, as it is sent.
    /// - Parameter occurrence: the time of the schedule that it belongs to.
    package func tell(of event: RunEvent, occurrence: String? = nil) {
        switch event {
        case .started(let run): post(Notice(.started, of: run, occurrence: occurrence))
        case .ended(let run): post(Notice(ofEndedRun: run, occurrence: occurrence))
        default: break
        }
    }

    /// Tells of one thing in a command that ends with it.
    package static func tell(_ event: NoticeEvent, of run: any RecordedRun, _ project: Project, _ observer: NoticeObserver) {
        let notices = Notices(project, patience: .short, observer)
        notices.post(Notice(event, of: run))
        notices.finish(withinSeconds: longestFlushSeconds)
    }
}

extension Project {
    /// Everybody who is named, with the app whose runs they are told of; nil for all apps.
    package var noticeTargets: [(app: App?, target: NoticeTarget)] {
        notices.map { (nil, $0) } + apps.flatMap { app in app.notices.map { (app, $0) } }
    }
}
