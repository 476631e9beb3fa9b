import Base
import Delivery
import PushServices

/// How far ahead of the wire recipients may be claimed: whoever is claimed when the process dies is unknown afterwards, so it is no more than
/// the sender begins with in a tenth of a second, beside those that it has begun with; and nobody while the answers of a fifth of a second
/// are not recorded yet, because the disk is slow. Belongs to the reader's thread.
///
/// `@unchecked Sendable`: made by one thread and then used by the reader's alone.
final class ClaimBudget: @unchecked Sendable {
    private let control: SendControl
    private let recorded: WatchedCount
    /// Ends a wait.
    private let wakeup: Wakeup
    // Allowed before it is known how fast the run is.
    private let least: Int
    private let leastUnrecorded: Int
    private var claimed = 0
    /// How many pushes the sender had begun with when, over the last half second.
    private var marks: [(at: ContinuousClock.Instant, started: Int)] = []
    private let clock = ContinuousClock()

    private static let secondsAhead = 0.1
    private static let secondsUnrecorded = 0.2
    private static let shortestClaimSeconds = 0.02
    private static let memory = Duration.milliseconds(500)

    /// - Parameters:
    ///   - recorded: settlements that are on the disk.
    ///   - pace: of the run; nil when it goes as fast as it can.
    ///   - batching: of the service, whose requests are to be full.
    ///   - wakeup: woken by others once there is nothing to wait for any more.
    package init(control: SendControl, recorded: WatchedCount, pace: Pace?, batching: Batching = .single, wakeup: Wakeup) {
        (self.control, self.recorded, self.wakeup) = (control, recorded, wakeup)
        least = pace.map(batching.pushesAhead) ?? max(256, batching.largestTargets)
        leastUnrecorded =
            pace.map { max(1, Int($0.perSecond * Self.secondsUnrecorded * Double(batching.pushesCountedAsOne))) } ?? 5000
    }

    /// Recipients were claimed, and are about to be handed over.
    func noteClaimed(_ count: Int) { claimed += count }

    /// Waits until a claim is worth it.
    /// - Parameters:
    ///   - limit: recipients at most.
    ///   - isOver: whether there is nothing to wait for any more.
    /// - Returns: how many may be claimed, at least 1.
    func wait(forAtMost limit: Int, isOver: () -> Bool) -> Int {
        while true {
            let started = control.started.value
            let rate = startedPerSecond(started)
            let ahead = max(least, Int(rate * Self.secondsAhead))
            let room = ahead - (claimed - started)
            let worthIt = max(1, min(limit, max(least / 2, Int(rate * Self.shortestClaimSeconds))))
            // Asked in this order: what is recorded was settled before.
            let wanted = control.pushesSettled - max(leastUnrecorded, Int(rate * Self.secondsUnrecorded))
            let isRecording = recorded.value >= wanted
            if room >= worthIt && isRecording || isOver() { return max(1, min(room, limit)) }
            // Time alone changes nothing: it only makes the run look slower.
            if room < worthIt {
                control.started.wake(wakeup, when: claimed - ahead + worthIt)
            } else {
                recorded.wake(wakeup, when: wanted)
            }
            wakeup.wait()
        }
    }

    private func startedPerSecond(_ started: Int) -> Double {
        let now = clock.now
        marks.append((now, started))
        while marks.count > 2, now - marks[1].at > Self.memory { marks.removeFirst() }
        let seconds = (now - marks[0].at) / .seconds(1)
        return seconds > 0.01 ? Double(started - marks[0].started) / seconds : 0
    }
}
