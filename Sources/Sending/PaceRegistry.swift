import Base
import Delivery
import PushServices
import Runs
import Synchronization

/// The paces of apps: all runs of an app that are sent at the same time keep them together.
final class PaceRegistry: Sendable {
    private struct App: Hashable {
        var name: String
        /// The service whose pace it is; nil for one of the devices of all services.
        var service: String?
        /// Where the pushes go.
        var environments: [FrozenEnvironment]
        /// Part of the identity: if it changed in volley.yaml, only runs that were planned with the new pace share that one.
        var pace: Pace
        /// Only runs without a pace of their own share the service's, which begins slowly.
        var rises: Bool
    }

    private let paces = Mutex<[App: SharedPace]>([:])

    /// The pace that the runs of an app share at a service: the app's for it, or else the service's own; nil if there is none.
    /// - Parameter settings: of the service.
    func ofService(byRunsOf name: String, _ settings: RunSettings) -> SharedPace? {
        let account = settings.firstService, usual = settings.usualPace, batching = account.service.batching
        guard let pace = account.appPace ?? usual?.pace else { return nil }
        return shared(
            App(
                name: name, service: account.service.accountName, environments: [account.environment], pace: pace, rises: usual != nil),
            counting: batching.paceUnit, spare: batching.paceUnit == .targets ? settings.paces.largestRequest - 1 : 0,
            rampSeconds: usual?.rampSeconds ?? 0)
    }

    /// The pace of devices that the runs of an app share, through whichever services; nil if there is none.
    /// - Parameter settings: of all services.
    func ofDevices(byRunsOf name: String, _ settings: RunSettings) -> SharedPace? {
        guard let pace = settings.appDevicePace else { return nil }
        return shared(
            App(name: name, service: nil, environments: settings.services.map(\.environment), pace: pace, rises: false),
            counting: .targets)
    }

    private func shared(_ app: App, counting unit: Batching.PaceUnit, spare: Int = 0, rampSeconds: Double = 0) -> SharedPace {
        paces.withLock { paces in
            let shared = paces[app] ?? SharedPace(app.pace, counting: unit, spare: spare, rampSeconds: rampSeconds)
            paces[app] = shared
            return shared
        }
    }
}
