import Base
import PushServices
import Runs

extension SuppressionList {
    /// Adds the devices with invalid tokens in a run that has ended to the suppression list of its
    /// app. An error is reported to the observer; it does not change how the run ended.
    static func suppressGone(of run: RunFile, _ observer: RunObserver) {
        do {
            let settings = try run.plan.settings.get()
            let areSeveral = settings.services.count > 1
            for (number, settings) in settings.services.enumerated() {
                let service = settings.service
                let list = run.catalog.suppression(app: run.plan.app, service: service, environment: settings.listName)
                let change = try list.suppressGone(of: run, service: number)
                if change.added + change.renewed > 0 { observer(.suppressed(change.added, list: list.place)) }
                if change.notSuppressed > 0, try run.status().state == .finished {
                    observer(
                        .notSuppressed(
                            change.notSuppressed, target: service.target.shortNoun, topicKey: service.account.topic.key,
                            service: areSeveral ? service.displayName : nil))
                }
            }
        } catch { observer(.suppressionFailed(error)) }
    }
}
