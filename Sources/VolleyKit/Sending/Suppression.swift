import Audience
import Base
import Campaigns
import Runs

extension FrozenEnvironment {
    /// The list of suppressed devices that counts there. Apple's own servers have one list each, however they are named; one that an authority of the
    /// project's own vouches for is another server under Apple's name.
    package var listName: String {
        switch self {
        case .server("api.push.apple.com", _, nil): "production"
        case .server("api.sandbox.push.apple.com", _, nil), .server("api.development.push.apple.com", _, nil): "sandbox"
        default: name
        }
    }
}

extension SuppressionList {
    /// What planning asks; nil when nobody is suppressed.
    func suppressedDevices() throws -> SuppressedDevices? {
        try withTokens { count, forEach in
            try SuppressedDevices(capacity: count) { insert in try forEach(insert) }
        }
    }

    /// Takes what a run that has ended says of its devices into the list of its app. What goes wrong is said, and changes nothing in how
    /// the run ended.
    static func suppressGone(of run: any RecordedRun, _ observer: RunObserver) {
        do {
            let environment = try run.plan.settings.get().environment
            let list = run.catalog.suppression(app: run.plan.app, environment: environment.listName)
            let change = try list.suppressGone(of: run)
            if change.added + change.renewed > 0 { observer(.suppressed(change.added, list: list.place)) }
            if change.notSuppressed > 0, try run.status().state == .finished { observer(.notSuppressed(change.notSuppressed)) }
        } catch { observer(.suppressionFailed(error)) }
    }
}
