import Base
import PushServices
import Runs
import Sending
import Workspace

/// Asks services what became of the pushes of the last week's runs: an hour after a run ended, and then once a day. What they say is kept in
/// the runs, where reports find it.
struct StatisticsRounds {
    /// For so many days after it began, a run is asked about: after a week a phone that was off does not get a push any more.
    static let days = 7
    static let secondsAfterEnd = 3600.0
    static let secondsBetween = 86_400.0
    /// Between two looks at the runs.
    static let secondsPerLook = 3600.0

    let catalog: RunsFolder
    let choice: ProjectChoice
    let context: SendingContext
    let observer: ScheduleObserver
    /// When runs were asked about by this process, whether the services answered or not.
    private var triedAt: [String: Timestamp] = [:]
    /// Files that were named as damaged.
    private var damaged: Set<String> = []

    init(catalog: RunsFolder, choice: ProjectChoice, context: SendingContext, observer: ScheduleObserver) {
        self.catalog = catalog
        self.choice = choice
        self.context = context
        self.observer = observer
    }

    /// Whether a run is to be asked about now.
    /// - Parameter lastAsked: nil if it was never asked about.
    static func isDue(startedAt: Timestamp?, endedAt: Timestamp?, lastAsked: Timestamp?, now: Timestamp) -> Bool {
        guard let startedAt, let endedAt, startedAt <= now, now < startedAt.adding(seconds: Double(days) * 86_400) else { return false }
        return lastAsked.map { now >= $0.adding(seconds: secondsBetween) } ?? (now >= endedAt.adding(seconds: secondsAfterEnd))
    }

    /// Looks at all runs, and asks about those that are due.
    mutating func look(at now: Timestamp, until cancellation: Cancellation) {
        guard let listing = try? catalog.list() else { return }
        for mistake in listing.broken where damaged.insert(mistake.file ?? "").inserted { observer(.damaged(mistake)) }
        let runs = listing.runs
        triedAt = triedAt.filter { now < $0.value.adding(seconds: Self.secondsBetween) }
        for run in runs {
            if cancellation.isRequested { return }
            guard isDue(run, at: now) else { continue }
            triedAt[run.plan.id] = now
            do {
                let writable = try catalog.open(run.plan.id, readOnly: false)
                let troubles = try askStatistics(of: writable, in: choice, context, at: now)
                try writable.closeIntoOneFile()
                for trouble in troubles { observer(.statisticsMissing(run.plan, trouble)) }
            } catch is CancellationError { return } catch {
                observer(.statisticsMissing(run.plan, Diagnostic(explaining: error)))
            }
        }
    }

    /// Tests, rehearsals and runs that a process is sending are not asked about.
    private func isDue(_ run: RunFile, at now: Timestamp) -> Bool {
        guard triedAt[run.plan.id] == nil, !run.plan.isTest, run.plan.services.contains(where: { $0.statistics != nil }),
            let status = try? run.status(), status.state.hasEnded, let settings = try? run.plan.settings.get(), !settings.isRehearsal,
            let asked = try? run.statistics()
        else { return false }
        let last = asked.map(\.askedAt).max()
        return Self.isDue(startedAt: status.startedAt, endedAt: status.finishedAt, lastAsked: last, now: now) && !run.isBeingSent
    }
}
