public import Base
public import Runs

/// What pruning did, or would do.
public struct Pruning: Sendable {
    /// One run whose recipients were removed.
    public struct Pruned: Sendable {
        /// Its id.
        public var run: String
        /// How many recipients it had.
        public var recipients: Int
        /// The size of its file before, in bytes.
        public var bytesBefore: Int
        /// nil when nothing was done.
        public var bytesAfter: Int?
    }

    /// Whether nothing is to be changed.
    public let isDryRun: Bool
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
    /// What went wrong, run by run.
    public private(set) var failures: [Diagnostic] = []
    /// Whether all of the work was done.
    public private(set) var isDone = false

    /// Nothing is pruned before `prune`.
    public init(isDryRun: Bool, selection: PruneSelection, abandonedPlans: [UnfinishedPlan], broken: [Diagnostic]) {
        (self.isDryRun, self.selection, self.abandonedPlans, self.broken) = (isDryRun, selection, abandonedPlans, broken)
        pruned = selection.chosen.map { Pruned(run: $0.run.plan.id, recipients: $0.run.plan.audience, bytesBefore: $0.run.fileSize) }
    }

    /// Run after run; one that cannot be pruned keeps none of the others.
    /// - Parameter observer: gets the id of the run that comes next.
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
                    Pruned(run: run.plan.id, recipients: run.plan.audience, bytesBefore: before, bytesAfter: run.fileSize))
            } catch { failures.append(error as? Diagnostic ?? Diagnostic("\(error)", file: run.place)) }
        }
        for plan in abandonedPlans where !cancellation.isRequested {
            do { if try plan.remove() { removed.append(plan) } } catch {
                failures.append(error as? Diagnostic ?? Diagnostic("\(error)", file: plan.place))
            }
        }
    }
}

extension Pruning {
    /// Looks which runs are to be pruned.
    /// - Parameters:
    ///   - keepSeconds: runs that ended less long ago are left as they are.
    ///   - includesStopped: also runs that could be resumed or retried.
    ///   - isDryRun: only says what would be done.
    public init(of catalog: any RunCatalog, keepSeconds: Int, includesStopped: Bool, isDryRun: Bool, at now: Timestamp) throws {
        let found = catalog.isThere ? try catalog.list() : RunListing()
        let selection = try PruneSelection(
            found.runs, endedBefore: now.adding(seconds: -Double(keepSeconds)), includesStopped: includesStopped)
        // No run, and of no use to anybody, however recent they are.
        let abandonedPlans = try catalog.unfinishedPlans().filter { !$0.isOwned }
        self.init(isDryRun: isDryRun, selection: selection, abandonedPlans: abandonedPlans, broken: found.broken + found.copies)
    }
}
