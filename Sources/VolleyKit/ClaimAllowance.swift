import Delivery
import Glibc
import Synchronization

/// How far ahead of the wire recipients may be claimed: whoever is claimed when the process dies is unknown afterwards, so it is no more than
/// the sender has begun with, and what it sends in a tenth of a second. The reader's thread asks, the recorder's tells.
///
/// `@unchecked Sendable`: `marks` belongs to the reader's thread, everything else is atomic.
final class ClaimAllowance: @unchecked Sendable {
    private let control: SendControl
    /// Allowed before it is known how fast the run is.
    private let least: Int
    private let claimed = Atomic(0)
    private let recorded = Atomic(0)
    /// What was recorded when, over the last half second.
    private var marks: [(at: ContinuousClock.Instant, recorded: Int)] = []
    private let clock = ContinuousClock()

    private static let secondsAhead = 0.1
    private static let shortestClaimSeconds = 0.02
    private static let memory = Duration.milliseconds(500)

    /// - Parameter least: recipients.
    init(control: SendControl, least: Int) { (self.control, self.least) = (control, max(1, least)) }

    /// Recipients were claimed, and are about to be handed over.
    func noteClaimed(_ count: Int) { claimed.wrappingAdd(count, ordering: .relaxed) }

    /// Outcomes are on the disk.
    func noteRecorded(_ count: Int) { recorded.wrappingAdd(count, ordering: .relaxed) }

    /// Waits until a claim is worth it.
    /// - Parameters:
    ///   - most: recipients at most.
    ///   - isOver: whether there is nothing to wait for any more.
    /// - Returns: how many may be claimed, at least 1.
    func wait(forAtMost most: Int, isOver: () -> Bool) -> Int {
        while true {
            let rate = recordedPerSecond()
            let ahead = claimed.load(ordering: .relaxed) - recorded.load(ordering: .relaxed)
            let room = control.pushesBegun + max(least, Int(rate * Self.secondsAhead)) - ahead
            let worthIt = min(most, max(least / 2, Int(rate * Self.shortestClaimSeconds)))
            if room >= max(1, worthIt) || isOver() { return max(1, min(room, most)) }
            usleep(500)
        }
    }

    private func recordedPerSecond() -> Double {
        let (now, count) = (clock.now, recorded.load(ordering: .relaxed))
        marks.append((now, count))
        while marks.count > 2, now - marks[1].at > Self.memory { marks.removeFirst() }
        let seconds = (now - marks[0].at) / .seconds(1)
        return seconds > 0.01 ? Double(count - marks[0].recorded) / seconds : 0
    }
}
