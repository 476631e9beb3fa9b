import Base
import Delivery
import PushServices
import Runs
import Synchronization

/// The paces of apps: all runs of an app that are sent at the same time share one.
final class PaceRegistry: Sendable {
    private struct App: Hashable {
        var name: String
        var service: String
        var environment: FrozenEnvironment
        /// Part of the identity: if it changed in volley.yaml, only runs that were planned with the new pace share that one.
        var pace: Pace
        /// Only runs without a pace of their own share the service's, which begins slowly.
        var rises: Bool
    }

    private let paces = Mutex<[App: SharedPace]>([:])

    /// The pace that the runs of an app share; nil when it has none. Where neither the app nor the run has one, it is the service's.
    func shared(byRunsOf name: String, _ settings: RunSettings) -> SharedPace? {
        let account = settings.firstService, usual = account.pace == nil ? account.service.usualPace : nil
        guard let pace = account.appPace ?? usual?.pace else { return nil }
        return paces.withLock { paces in
            let app = App(
                name: name, service: account.service.accountName, environment: account.environment, pace: pace, rises: usual != nil)
            let shared = paces[app] ?? SharedPace(pace, account.service.batching, rampSeconds: usual?.rampSeconds ?? 0)
            paces[app] = shared
            return shared
        }
    }
}

extension ServiceSettings {
    /// The pace at which pushes are sent: the run's, which is never faster than the app's, or else the service's; nil for no limit.
    var pushPace: Pace? { pace ?? service.usualPace?.pace }
}
