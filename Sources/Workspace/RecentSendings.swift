package import Audience
public import Base
import PushServices
public import Runs

/// What was sent to an app's devices in the last hours, whatever the campaign: the same devices usually should not get another push so soon.
///
/// The record next to the runs says what was begun, so that only those runs are opened. A run that cannot be read is left out: these are facts
/// for a warning, and other commands report the run.
public struct RecentSendings: Sendable {
    /// A sending longer ago belongs to another day.
    public static let hours = 12
    /// The most runs that are looked at, newest first.
    private static let mostRuns = 20

    /// A run that may have reached devices.
    public struct Sending: Hashable, Sendable {
        /// The run.
        public let run: String
        /// Its campaign.
        public let campaign: String
        /// How many devices it was planned for.
        public let devices: Int
        /// When it was begun or resumed last.
        public let begunAt: Timestamp
        /// When it reached the last of them, as far as that was read; otherwise as `begunAt`.
        public fileprivate(set) var lastAt: Timestamp
        /// By number of its services, whether its pushes reach devices of the app's present lists.
        fileprivate let counted: [Bool]

        /// nil for a run whose pushes reach none of the devices that these lists are for, and for tests and silent pushes.
        fileprivate init?(_ plan: RunPlan, begunAt: Timestamp, lists: Set<String>) {
            guard !plan.isTest, let settings = try? plan.settings.get(), settings.pushType != .background, !settings.service.choosesDevices
            else { return nil }
            counted = settings.services.map { lists.contains($0.listName) && !$0.environment.isSimulator }
            guard counted.contains(true) else { return nil }
            (run, campaign, devices) = (plan.id, plan.campaign, plan.audience)
            (self.begunAt, lastAt) = (begunAt, begunAt)
        }
    }

    /// Newest first.
    public private(set) var all: [Sending]
    /// The devices, one cap of one push for each of `all`; nil until they are read, and where there was no sending.
    package private(set) var devices: CappedDevices?
    private let since: Timestamp
    private let now: Timestamp

    /// The runs of an app that were begun, or reached a device, since a moment.
    /// - Parameters:
    ///   - settings: runs to other environments do not count, nor do rehearsals, tests and silent pushes.
    ///   - moment: nil for `hours` ago, which is also the earliest.
    ///   - own: a run that does not count.
    public init(
        of app: String, in settings: RunSettings, _ catalog: RunsFolder, since moment: Timestamp? = nil, now: Timestamp,
        besides own: String? = nil
    ) {
        let earliest = now.adding(seconds: -Double(Self.hours * 3600))
        let since = max(moment ?? earliest, earliest)
        (self.since, self.now) = (since, now)
        guard !settings.isRehearsal else {
            all = []
            return
        }
        // A slow run may have begun the day before.
        let begun = HistorySnapshot(of: catalog).begun(since: since.adding(seconds: -86_400))
        all = Array(
            begun.lazy.filter { id, entry in
                id != own && entry.scope.map { !$0.isTest && $0.app == app && settings.sharesList(with: $0.environment) } ?? true
            }.compactMap { id, entry in
                guard let run = try? catalog.open(id) else { return nil }
                defer { run.close() }
                guard run.plan.app == app, (try? run.mayHaveReached(since: since)) ?? false else { return nil }
                return Sending(run.plan, begunAt: entry.begunAt, lists: settings.lists)
            }.prefix(Self.mostRuns))
    }

    /// Reads which devices the runs reached.
    /// - Parameter hash: of the scan that they are for.
    package mutating func readDevices(_ catalog: RunsFolder, hash: KeyedHash) {
        guard !all.isEmpty else { return }
        let caps = all.map { _ in FrequencyCap(pushes: 1, seconds: Self.hours * 3600) }
        var moments = all.map(\.lastAt)
        devices = CappedDevices(caps, hash: hash) { add in
            for (number, sending) in all.enumerated() {
                guard let run = try? catalog.open(sending.run) else { continue }
                defer { run.close() }
                // What was read until a damaged place counts.
                try? run.forEachReached(closing: OwnReason.final) { token, moment, isToCome, service in
                    guard sending.counted[service], isToCome || moment.map({ $0 >= since }) ?? false else { return }
                    add(token) { $0 == number }
                    moments[number] = max(moments[number], isToCome ? now : moment ?? now)
                }
            }
        }
        for number in all.indices { all[number].lastAt = min(moments[number], now) }
    }
}
