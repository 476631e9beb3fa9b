import Base
import Delivery
import PushServices
import Synchronization

/// The limit on how far ahead of the wire recipients may be claimed. If the process dies, claimed
/// devices without an outcome are unknown. So the reader claims no more than the sender starts in a
/// tenth of a second, in addition to the pushes that it has started. It claims nothing while the
/// disk is slow and the answers of a fifth of a second are not recorded yet.
///
/// `@unchecked Sendable`: one thread creates it, and then only the reader's thread uses it.
final class ClaimBudget: @unchecked Sendable {
    private let control: SendControl
    private let recorded: WatchedCount
    /// Wakes the reader from a wait.
    private let wakeup: Wakeup
    // The limits until the speed of the run is known.
    private let least: Int
    private let leastUnrecorded: Int
    private var claimed = 0
    /// How many pushes the sender had started at which moment, over the last half second.
    private var marks: [(at: ContinuousClock.Instant, started: Int)] = []
    private let clock = ContinuousClock()

    private static let secondsAhead = 0.1
    private static let secondsUnrecorded = 0.2
    private static let shortestClaimSeconds = 0.02
    private static let memory = Duration.milliseconds(500)

    /// - Parameters:
    ///   - recorded: how many settlements are on the disk.
    ///   - paces: the paces of the service's requests, which should be full.
    ///   - wakeup: woken by others once there is nothing more to wait for.
    package init(control: SendControl, recorded: WatchedCount, paces: RequestPaces, wakeup: Wakeup) {
        self.control = control
        self.recorded = recorded
        self.wakeup = wakeup
        least = paces.pushesAhead ?? max(256, paces.batching.largestTargets)
        leastUnrecorded = paces.pushesPerSecond.map { max(1, Int($0 * Self.secondsUnrecorded)) } ?? 5000
    }

    /// Notes that recipients were claimed and are about to be handed over.
    func noteClaimed(_ count: Int) { claimed += count }

    /// Waits until a claim is large enough to be worth it.
    /// - Parameters:
    ///   - limit: the most recipients to claim.
    ///   - isOver: whether there is nothing more to wait for.
    /// - Returns: how many may be claimed, at least 1.
    func wait(forAtMost limit: Int, isOver: () -> Bool) -> Int {
        while true {
            let started = control.started.value
            let rate = startedPerSecond(started)
            let ahead = max(least, Int(rate * Self.secondsAhead))
            let room = ahead - (claimed - started)
            let worthIt = max(1, min(limit, max(least / 2, Int(rate * Self.shortestClaimSeconds))))
            // Read in this order: a push is settled before it is recorded.
            let wanted = control.pushesSettled - max(leastUnrecorded, Int(rate * Self.secondsUnrecorded))
            let isRecording = recorded.value >= wanted
            if room >= worthIt && isRecording || isOver() { return max(1, min(room, limit)) }
            // Wake on counts, not on time: time alone only lowers the measured rate.
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

/// How many claims of a run were made, counted by all threads that claim.
final class ClaimCount: Sendable {
    private let count = Mutex(0)

    /// Counts on from the claims of earlier epochs and rounds.
    func start(at claims: Int) { count.withLock { $0 = claims } }

    /// The claims so far.
    var value: Int { count.withLock { $0 } }

    /// Counts claims, and notes their new number.
    /// - Parameter note: called with the number of claims so far, one call after the other; returns
    ///   false if it could not be noted.
    func add(_ claims: Int, noting note: (Int) -> Bool) -> Bool {
        count.withLock { count in
            count += claims
            return note(count)
        }
    }
}
