import Delivery
import Glibc

/// How far ahead of the wire recipients may be claimed: whoever is claimed when the process dies is unknown afterwards, so it is no more than
/// the sender begins with in a tenth of a second, beside those that it has begun with; and none while answers have been waiting longer than
/// that to be recorded, because the disk is slow. Belongs to the reader's thread.
///
/// `@unchecked Sendable`: made by one thread and then used by the reader's alone.
final class ClaimAllowance: @unchecked Sendable {
    private let control: SendControl
    private let recordingLag: RecordingLag
    /// Allowed before it is known how fast the run is.
    private let least: Int
    private var claimed = 0
    /// How many pushes the sender had begun with when, over the last half second.
    private var marks: [(at: ContinuousClock.Instant, started: Int)] = []
    private let clock = ContinuousClock()

    private static let secondsAhead = 0.1
    private static let shortestClaimSeconds = 0.02
    private static let memory = Duration.milliseconds(500)

    /// - Parameter least: recipients.
    init(control: SendControl, recordingLag: RecordingLag = RecordingLag(), least: Int) {
        (self.control, self.recordingLag, self.least) = (control, recordingLag, max(1, least))
    }

    /// Recipients were claimed, and are about to be handed over.
    func noteClaimed(_ count: Int) { claimed += count }

    /// Waits until a claim is worth it.
    /// - Parameters:
    ///   - most: recipients at most.
    ///   - isOver: whether there is nothing to wait for any more.
    /// - Returns: how many may be claimed, at least 1.
    func wait(forAtMost most: Int, isOver: () -> Bool) -> Int {
        while true {
            let started = control.pushesStarted
            let rate = startedPerSecond(started)
            let room = max(least, Int(rate * Self.secondsAhead)) - (claimed - started)
            let worthIt = min(most, max(least / 2, Int(rate * Self.shortestClaimSeconds)))
            let isWorthIt = room >= max(1, worthIt) && recordingLag.seconds < Self.secondsAhead
            if isWorthIt || isOver() { return max(1, min(room, most)) }
            usleep(500)
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
