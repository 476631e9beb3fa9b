package import Base
package import Runs

/// What pruning did, or would do.
package struct Pruning {
    package struct Pruned {
        package var run: String
        package var recipients: Int
        package var bytesBefore: Int
        /// nil when nothing was done.
        package var bytesAfter: Int?
    }

    package let isDryRun: Bool
    package let selection: PruneSelection
    package let abandonedPlans: [UnfinishedPlan]
    package let broken: [Diagnostic]
    package private(set) var pruned: [Pruned]
    package private(set) var removed: [UnfinishedPlan] = []
    package private(set) var failures: [Diagnostic] = []
    package private(set) var isDone = false

    package init(isDryRun: Bool, selection: PruneSelection, abandonedPlans: [UnfinishedPlan], broken: [Diagnostic]) {
        (self.isDryRun, self.selection, self.abandonedPlans, self.broken) = (isDryRun, selection, abandonedPlans, broken)
        pruned = selection.chosen.map { Pruned(run: $0.run.plan.id, recipients: $0.run.plan.audience, bytesBefore: $0.run.fileSize) }
    }

    /// Run after run; one that cannot be pruned keeps none of the others.
    /// - Parameter observer: is told which run comes next.
    package mutating func prune(at now: Timestamp, _ cancellation: Cancellation, _ observer: Observer<String>) {
        isDone = true
        pruned = []
        for (run, status) in selection.chosen {
            if cancellation.isRequested {
                failures.append(Diagnostic("interrupted; the runs that are not named below are as they were"))
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
    package init(of catalog: any RunCatalog, keepSeconds: Int, includesStopped: Bool, isDryRun: Bool, at now: Timestamp) throws {
        let found = catalog.isThere ? try catalog.list() : RunListing()
        let selection = try PruneSelection(
            found.runs, endedBefore: now.adding(seconds: -Double(keepSeconds)), includesStopped: includesStopped)
        // No run, and of no use to anybody, however recent they are.
        let abandonedPlans = try catalog.unfinishedPlans().filter { !$0.isOwned }
        self.init(isDryRun: isDryRun, selection: selection, abandonedPlans: abandonedPlans, broken: found.broken + found.copies)
    }
}
