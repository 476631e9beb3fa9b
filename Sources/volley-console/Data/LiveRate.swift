import Base
import Runs
import Synchronization

/// How fast runs are sent now: what was settled between two looks, over the time in between.
final class LiveRate: Sendable {
    private struct Look {
        var settled: Int
        var at: ContinuousClock.Instant
        var perSecond: Double?
    }

    private let looks = Mutex<[String: Look]>([:])
    /// Since when the count of a run has been the same.
    private let unchanged = Mutex<[String: (settled: Int, since: ContinuousClock.Instant)]>([:])

    /// How long a run has been sent without an outcome, as of its last count, in seconds.
    /// - Parameter now: of the visit.
    func secondsWithoutOutcome(of run: RunSummary, at now: Timestamp) -> Double {
        unchanged.withLock { unchanged in
            guard run.state == .running, let counted = run.countedAt else {
                unchanged[run.id] = nil
                return 0
            }
            if let last = unchanged[run.id], last.settled == run.settled { return (counted - last.since) / .seconds(1) }
            let begun = run.sendingSince.map { Double(now.epochMilliseconds - $0.epochMilliseconds) / 1000 } ?? 0
            // A run without any outcome has been so since sending began, even if no page was open.
            let seconds = run.settled == 0 ? max(0, begun) : 0
            unchanged[run.id] = (run.settled, counted - .seconds(seconds))
            return seconds
        }
    }

    /// Looks at a run.
    /// - Returns: settled recipients a second; nil before the second look, and when nothing was
    ///   counted since.
    func perSecond(of run: RunSummary, at now: ContinuousClock.Instant = .now) -> Double? {
        looks.withLock { looks in
            guard run.state == .running else {
                looks[run.id] = nil
                return nil
            }
            guard let look = looks[run.id] else {
                looks[run.id] = Look(settled: run.settled, at: now, perSecond: nil)
                return nil
            }
            let seconds = (now - look.at) / .seconds(1)
            // Figures are counted again from time to time; until then nothing changes.
            guard seconds >= 1, run.settled != look.settled || seconds > 10 else { return look.perSecond }
            let rate = max(0, Double(run.settled - look.settled) / seconds)
            looks[run.id] = Look(settled: run.settled, at: now, perSecond: rate)
            return rate
        }
    }
}
