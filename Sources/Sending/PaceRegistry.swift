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
    }

    private let paces = Mutex<[App: SharedPace]>([:])

    /// The pace that the runs of an app share; nil when the app has none.
    func shared(byRunsOf name: String, _ settings: RunSettings) -> SharedPace? {
        guard let pace = settings.firstService.appPace else { return nil }
        return paces.withLock { paces in
            let app = App(
                name: name, service: settings.firstService.serviceName, environment: settings.firstService.environment, pace: pace)
            let shared = paces[app] ?? SharedPace(pace, settings.service.batching)
            paces[app] = shared
            return shared
        }
    }
}
