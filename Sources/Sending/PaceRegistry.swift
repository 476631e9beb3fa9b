import Base
import Delivery
import PushServices
import Runs
import Synchronization

/// The paces of apps, which all runs of an app that are sent at the same time keep together, and
/// those of campaigns.
///
/// Each pace has a key, under which several machines divide it: the same text on each of them,
/// whatever they started first.
final class PaceRegistry: Sendable {
    private struct App: Hashable {
        var name: String
        /// The service whose pace it is; nil for one of the devices of all services.
        var service: String?
        /// Where the pushes go.
        var environments: [FrozenEnvironment]
        /// Part of the identity: if it changed in volley.yaml, only runs that were planned with the
        /// new pace share that one.
        var pace: Pace
        /// Whether it begins slowly.
        var rises: Bool

        /// `app`, the service or `devices`, where the pushes go, the pace, whether it begins
        /// slowly, and the app's name: `app devices production 5000/s steady shop`. The name, which
        /// may be any text, comes last.
        var key: String {
            let places = environments.map(\.name).joined(separator: ",")
            return "app \(service ?? "devices") \(places) \(pace) \(rises ? "rising" : "steady") \(name)"
        }
    }

    /// A pace that lives as long as its run is sent.
    private struct Campaign { weak var pace: SharedPace? }

    private let paces = Mutex<[App: SharedPace]>([:])
    /// By key.
    private let campaigns = Mutex<[String: Campaign]>([:])

    /// The pace that the runs of an app share at a service: the app's for it, or else the service's
    /// own; nil if neither exists.
    /// - Parameter settings: of the service.
    func ofService(byRunsOf name: String, _ settings: RunSettings) -> SharedPace? {
        app(named: name, settings).map {
            shared($0, counting: settings.unit, spare: settings.spare, rampSeconds: settings.rampSeconds)
        }
    }

    /// The pace of devices that the runs of an app share, through whichever services; nil if the
    /// app has none.
    /// - Parameter settings: of all services.
    func ofDevices(byRunsOf name: String, _ settings: RunSettings) -> SharedPace? {
        devices(ofApp: name, settings).map { shared($0, counting: .targets) }
    }

    /// The pace that a campaign sets for a service; nil if it sets none. It lasts as long as the
    /// caller, or another one, keeps it.
    /// - Parameters:
    ///   - run: the run's id.
    ///   - settings: of the service.
    func ofService(ofRun run: String, _ settings: RunSettings) -> SharedPace? {
        guard let pace = settings.firstService.pace else { return nil }
        return kept(Self.key(run, settings.firstService.serviceName, pace)) {
            SharedPace(pace, counting: settings.unit, spare: settings.spare)
        }
    }

    /// The pace of devices that a campaign sets, through whichever services; nil if it sets none.
    /// It lasts as long as the caller, or another one, keeps it.
    /// - Parameters:
    ///   - run: the run's id.
    ///   - settings: of all services.
    func ofDevices(ofRun run: String, _ settings: RunSettings) -> SharedPace? {
        guard let pace = settings.devicePace else { return nil }
        return kept(Self.key(run, "devices", pace)) { SharedPace(pace, counting: .targets) }
    }

    /// All paces that a run keeps, with the keys under which machines divide them. They are those
    /// that its senders get, as long as the caller keeps them: so a part that is set before the
    /// first sender begins holds for its first push.
    /// - Parameters:
    ///   - run: the run's id.
    ///   - name: its app's.
    ///   - settings: of all services.
    func paces(ofRun run: String, ofApp name: String, _ settings: RunSettings) -> [Keyed] {
        var all: [(key: String, pace: SharedPace?)] = []
        for own in settings.services.indices.map(settings.ofService) {
            if let app = app(named: name, own) { all.append((app.key, ofService(byRunsOf: name, own))) }
            if let pace = own.firstService.pace {
                all.append((Self.key(run, own.firstService.serviceName, pace), ofService(ofRun: run, own)))
            }
        }
        if let app = devices(ofApp: name, settings) { all.append((app.key, ofDevices(byRunsOf: name, settings))) }
        if let pace = settings.devicePace {
            all.append((Self.key(run, "devices", pace), ofDevices(ofRun: run, settings)))
        }
        return all.compactMap { entry in entry.pace.map { Keyed(key: entry.key, pace: $0) } }
    }

    /// A pace with the key under which machines divide it.
    struct Keyed {
        var key: String
        var pace: SharedPace
    }

    /// Parts of paces that runs of this process were given, by the paces' keys and the runs' ids.
    private let parts = Mutex<[String: [String: Int]]>([:])

    /// Lets a run use a part of a pace: the process uses what all of its runs may.
    /// - Parameter part: nil once the run is over. With the last one, all of the pace may be used
    ///   again.
    func setPart(_ part: Int?, of keyed: Keyed, run: String) {
        parts.withLock { parts in
            parts[keyed.key, default: [:]][run] = part
            let all = parts[keyed.key] ?? [:]
            if all.isEmpty { parts[keyed.key] = nil }
            keyed.pace.setPart(all.isEmpty ? nil : min(keyed.pace.pace.pushes, all.values.reduce(0, +)))
        }
    }

    /// What a run uses of a pace: what the process does, less the parts of its other runs.
    func used(of keyed: Keyed, run: String) -> Int {
        parts.withLock { parts in
            let all = parts[keyed.key] ?? [:], own = all[run] ?? 0
            return max(own, keyed.pace.used - all.reduce(0) { $1.key == run ? $0 : $0 + $1.value })
        }
    }

    private func app(named name: String, _ settings: RunSettings) -> App? {
        let account = settings.firstService, usual = settings.usualPace
        guard let pace = account.appPace ?? usual?.pace else { return nil }
        return App(
            name: name, service: account.service.accountName, environments: [account.environment], pace: pace,
            rises: settings.rampSeconds > 0)
    }

    private func devices(ofApp name: String, _ settings: RunSettings) -> App? {
        settings.appDevicePace.map {
            App(name: name, service: nil, environments: settings.services.map(\.environment), pace: $0, rises: false)
        }
    }

    private static func key(_ run: String, _ what: String, _ pace: Pace) -> String { "run \(run) \(what) \(pace)" }

    private func kept(_ key: String, make: () -> SharedPace) -> SharedPace {
        campaigns.withLock { campaigns in
            if let pace = campaigns[key]?.pace { return pace }
            campaigns = campaigns.filter { $0.value.pace != nil }
            let pace = make()
            campaigns[key] = Campaign(pace: pace)
            return pace
        }
    }

    private func shared(_ app: App, counting unit: Batching.PaceUnit, spare: Int = 0, rampSeconds: Double = 0)
        -> SharedPace
    {
        paces.withLock { paces in
            let shared = paces[app] ?? SharedPace(app.pace, counting: unit, spare: spare, rampSeconds: rampSeconds)
            paces[app] = shared
            return shared
        }
    }
}

/// What a pace of requests to a service, as the settings of that service have it, needs to know.
extension RunSettings {
    fileprivate var unit: Batching.PaceUnit { firstService.service.batching.paceUnit }
    /// Where targets count, one request may arrive late.
    fileprivate var spare: Int { unit == .targets ? paces.largestRequest - 1 : 0 }
}
