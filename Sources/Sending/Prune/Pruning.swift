public import Base
public import Campaigns
public import Runs

/// The pruning of runs: what it would do and, afterwards, what it did.
///
/// ```swift
/// var pruning = try Pruning(
///     of: runs, project, keepSeconds: 90 * 86_400, includesStopped: false, at: .now())
/// pruning.isDryRun = true
/// pruning.prune(at: .now(), try Cancellation(), .silent)
/// ```
public struct Pruning: Sendable {
    /// A run whose recipients were removed, or would be.
    public struct Pruned: Sendable {
        /// The run's id.
        public var run: String
        /// How many recipients it had.
        public var recipients: Int
        /// The size of its file before, in bytes.
        public var bytesBefore: Int
        /// The size of its file afterwards, in bytes; nil if nothing was done.
        public var bytesAfter: Int?
    }

    /// Whether this is a dry run, which changes nothing.
    public var isDryRun: Bool
    /// Which runs are pruned, and which stay.
    public let selection: PruneSelection
    /// Files of plans whose process ended before they were complete.
    public let abandonedPlans: [UnfinishedPlan]
    /// Run files that cannot be read.
    public let broken: [Diagnostic]
    /// Runs that were pruned; in a dry run, those that would be.
    public private(set) var pruned: [Pruned]
    /// Abandoned plans that were removed.
    public private(set) var removed: [UnfinishedPlan] = []
    /// The errors, run by run.
    public private(set) var failures: [Diagnostic] = []
    /// Whether `prune` was called.
    public private(set) var isDone = false

    /// Prepares the pruning of a selection. Nothing is pruned before `prune`.
    public init(isDryRun: Bool, selection: PruneSelection, abandonedPlans: [UnfinishedPlan], broken: [Diagnostic]) {
        self.isDryRun = isDryRun
        self.selection = selection
        self.abandonedPlans = abandonedPlans
        self.broken = broken
        pruned = selection.chosen.map {
            Pruned(run: $0.run.plan.id, recipients: $0.run.plan.audience, bytesBefore: $0.run.fileSize)
        }
    }

    /// Prunes run after run, and removes abandoned plans. A run that cannot be pruned does not stop
    /// the others.
    /// - Parameter observer: called with the id of the run that is next.
    public mutating func prune(at now: Timestamp, _ cancellation: Cancellation, _ observer: Observer<String>) {
        isDone = true
        pruned = []
        for (run, status) in selection.chosen {
            if cancellation.isRequested {
                failures.append(Diagnostic("interrupted; runs that are not named below are unchanged"))
                break
            }
            observer(run.plan.id)
            let before = run.fileSize
            do {
                try run.prune(at: now, ifStill: status)
                pruned.append(
                    Pruned(
                        run: run.plan.id, recipients: run.plan.audience, bytesBefore: before, bytesAfter: run.fileSize))
            } catch { failures.append(Diagnostic(explaining: error, file: run.place)) }
        }
        for plan in abandonedPlans where !cancellation.isRequested {
            do { if try plan.remove() { removed.append(plan) } } catch {
                failures.append(Diagnostic(explaining: error, file: plan.place))
            }
        }
    }
}

extension Pruning {
    /// Selects the runs to prune.
    /// - Parameters:
    ///   - project: whose `frequency` counts; nil without volley.yaml.
    ///   - keepSeconds: how long ago a run must have ended, in seconds.
    ///   - includesStopped: whether runs that could be resumed or retried are pruned too.
    public init(of catalog: RunsFolder, _ project: Project?, keepSeconds: Int, includesStopped: Bool, at now: Timestamp)
        throws
    {
        let found = catalog.isThere ? try catalog.list() : RunListing()
        let selection = try PruneSelection(
            found.runs, endedBefore: now.adding(seconds: -Double(keepSeconds)), includesStopped: includesStopped,
            project, at: now)
        // An abandoned plan has no use, however recent it is.
        let abandonedPlans = try catalog.unfinishedPlans().filter { !$0.isOwned }
        self.init(
            isDryRun: false, selection: selection, abandonedPlans: abandonedPlans, broken: found.broken + found.copies)
    }
}
