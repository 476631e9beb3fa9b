import Audience
import Base
import Campaigns
import Runs

extension SuppressionList {
    /// What planning asks; nil when nobody is suppressed.
    func suppressedDevices() throws -> SuppressedDevices? {
        try withTokens { count, forEach in
            try SuppressedDevices(capacity: count) { insert in try forEach(insert) }
        }
    }

    /// Takes what a run that has ended says of its devices into the list of its app. What goes wrong is said, and changes nothing in how
    /// the run ended.
    static func suppressGone(of run: RunStore, _ observer: RunObserver) {
        do {
            let environment = try run.plan.settings.get().environment
            let list = SuppressionList(of: run, environment: environment.listName)
            let change = try list.suppressGone(of: run)
            if change.added + change.renewed > 0 { observer(.suppressed(change.added, list: list.path)) }
            if change.notSuppressed > 0, try run.status().state == .finished { observer(.notSuppressed(change.notSuppressed)) }
        } catch { observer(.suppressionFailed(error)) }
    }
}
