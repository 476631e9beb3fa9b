import Base
import Runs

extension SuppressionList {
    /// Takes what a run that has ended says of its devices into the list of its app. What goes wrong is said, and changes nothing in how
    /// the run ended.
    static func suppressGone(of run: any RecordedRun, _ observer: RunObserver) {
        do {
            let environment = try run.plan.settings.get().environment
            let list = run.catalog.suppression(app: run.plan.app, service: run.plan.service, environment: environment.listName)
            let change = try list.suppressGone(of: run)
            if change.added + change.renewed > 0 { observer(.suppressed(change.added, list: list.place)) }
            if change.notSuppressed > 0, try run.status().state == .finished { observer(.notSuppressed(change.notSuppressed)) }
        } catch { observer(.suppressionFailed(error)) }
    }
}
