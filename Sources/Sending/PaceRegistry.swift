import Base
import Delivery
import PushServices
import Runs
import Synchronization

/// The paces of apps, one for all runs of an app that go on at the same time.
final class PaceRegistry: Sendable {
    private struct App: Hashable {
        var name: String
        var service: String
        var environment: FrozenEnvironment
        /// One that was changed in volley.yaml meanwhile counts for the runs that were planned with it.
        var pace: Pace
    }

    private let paces = Mutex<[App: SharedPace]>([:])

    /// The pace that the runs of an app share; nil when the app has none.
    func shared(byRunsOf name: String, _ settings: RunSettings) -> SharedPace? {
        guard let pace = settings.appPace else { return nil }
        return paces.withLock { paces in
            let app = App(name: name, service: settings.serviceName, environment: settings.environment, pace: pace)
            let shared = paces[app] ?? SharedPace(pace, settings.service.batching)
            paces[app] = shared
            return shared
        }
    }
}
