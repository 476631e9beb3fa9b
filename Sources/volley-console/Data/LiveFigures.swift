import Base
import Runs
import Synchronization

/// The figures of runs that are being sent. Counting those of a large run takes seconds, so it is done for all watchers together, beside their
/// requests, and never for more than a part of the time: the sender reads from the same disk.
final class LiveFigures: Sendable {
    private struct Count {
        var figures: RunFigures?
        var at: ContinuousClock.Instant
        var cost = Duration.zero
        var isUnderWay = false
    }

    private let catalog: RunsFolder
    private let counts = Mutex<[String: Count]>([:])

    /// How much longer counts are good for than counting took, and how long at least.
    private static let rest = 25, least = Duration.seconds(1)
    /// So many recipients are counted at once, within a few hundredths of a second.
    private static let few = 200_000

    init(_ catalog: RunsFolder) { self.catalog = catalog }

    /// The figures of a run: of one that has ended, as it keeps them; of another, as of a moment ago. nil while a large run is counted for the
    /// first time.
    func figures(of run: RunFile) throws -> RunFigures? {
        let id = run.plan.id
        let state = try run.status().state
        guard state == .running || state == .paused else {
            counts.withLock { $0[id] = nil }
            return try run.figures()
        }
        let now = ContinuousClock.now
        let (known, isDue) = counts.withLock { counts in
            let count = counts[id]
            let isDue = count.map { !$0.isUnderWay && now - $0.at >= max(Self.least, $0.cost * Self.rest) } ?? true
            if isDue { counts[id, default: Count(at: now)].isUnderWay = true }
            return (count?.figures, isDue)
        }
        guard isDue else { return known }
        guard run.plan.audience > Self.few else {
            do { return try count(run) } catch {
                forget(id)
                throw error
            }
        }
        do {
            try detachThread { [self] in
                do {
                    let own = try catalog.open(id)
                    defer { own.close() }
                    _ = try count(own)
                } catch { forget(id) }
            }
        } catch { forget(id) }
        return known
    }

    private func count(_ run: RunFile) throws -> RunFigures {
        let begin = ContinuousClock.now
        let figures = try run.figures()
        let end = ContinuousClock.now
        counts.withLock { $0[run.plan.id] = Count(figures: figures, at: end, cost: end - begin) }
        return figures
    }

    /// When the figures of a run that is being sent were counted; nil if they were not.
    func countedAt(_ run: String) -> ContinuousClock.Instant? { counts.withLock { $0[run].flatMap { $0.figures == nil ? nil : $0.at } } }

    /// The next who asks tries again.
    private func forget(_ id: String) { counts.withLock { $0[id]?.isUnderWay = false } }
}
