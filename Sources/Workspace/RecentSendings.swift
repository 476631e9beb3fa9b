package import Audience
public import Base
import PushServices
public import Runs

/// What was sent to an app's devices in the last hours, by any campaign: the same devices usually
/// should not get another push so soon.
///
/// The record next to the runs says what was begun, so that only those runs are opened. It also
/// says which of them cannot be read: then the numbers are a minimum, and nothing fails, as these
/// are facts for a warning.
///
/// ```swift
/// let recent = try RecentSendings(of: "shop", in: run.plan.settings.get(), runs, now: .now())
/// for sending in recent.all { print(sending.campaign, sending.devices) }
/// ```
public struct RecentSendings: Sendable {
    /// A sending longer ago belongs to another day.
    public static let hours = 12
    /// The most runs that are looked at, newest first.
    private static let mostRuns = 20
    /// How long to wait for a run that another program holds; seconds.
    private static let timeoutSeconds = 1.0

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
        /// Whether devices are still to get its push: it is paused, waits for a time, or is being
        /// sent.
        public fileprivate(set) var hasMoreToCome = false
        /// By number of its services, whether its pushes reach devices of the app's present lists.
        fileprivate let counted: [Bool]

        /// nil for a run whose pushes reach none of the devices that these lists are for, and for
        /// tests and silent pushes.
        fileprivate init?(_ plan: RunPlan, begunAt: Timestamp, lists: Set<String>) {
            guard !plan.isTest, let settings = try? plan.settings.get(), settings.pushType != .background,
                !settings.service.choosesDevices
            else { return nil }
            counted = settings.services.map { lists.contains($0.listName) && !$0.environment.isSimulator }
            guard counted.contains(true) else { return nil }
            (run, campaign, devices) = (plan.id, plan.campaign, plan.audience)
            (self.begunAt, lastAt) = (begunAt, begunAt)
        }
    }

    /// Newest first.
    public private(set) var all: [Sending]
    /// Runs of the last hours of which it is not known, or not as a whole, which devices they
    /// reached: the file is gone, damaged, an older copy, or held by another program.
    public private(set) var unread: Set<String> = []
    /// The devices, one cap of one push for each of `all`, and a last one for devices that got none
    /// yet and are still to get one; nil until they are read, and where there was no sending.
    package private(set) var devices: CappedDevices?
    private let since: Timestamp
    private let now: Timestamp

    /// The runs of an app that were begun, or reached a device, since a moment.
    /// - Parameters:
    ///   - settings: runs to other environments do not count, nor do rehearsals, tests and silent
    ///     pushes.
    ///   - moment: nil for `hours` ago, which is also the earliest.
    ///   - own: a run that does not count.
    /// - Throws: `Diagnostic`: the record of what was sent cannot be read.
    public init(
        of app: String, in settings: RunSettings, _ catalog: RunsFolder, since moment: Timestamp? = nil, now: Timestamp,
        besides own: String? = nil
    ) throws {
        let earliest = now.adding(seconds: -Double(Self.hours * 3600))
        let since = max(moment ?? earliest, earliest)
        (self.since, self.now) = (since, now)
        guard !settings.isRehearsal else {
            all = []
            return
        }
        all = []
        let record = HistorySnapshot(of: catalog)
        var ends: EpochSequence?
        // A slow run may have begun the day before.
        for (id, entry) in try record.begun(since: earliest.adding(seconds: -86_400))
        where id != own && all.count < Self.mostRuns {
            guard entry.scope.map({ !$0.isTest && $0.app == app && settings.sharesList(with: $0.environment) }) ?? true
            else { continue }
            do {
                let run = try catalog.open(id, timeoutSeconds: Self.timeoutSeconds)
                defer { run.close() }
                guard run.plan.app == app, try run.mayHaveReached(since: earliest) else { continue }
                _ = try run.plan.settings.get()
                guard let sending = Sending(run.plan, begunAt: entry.begunAt, lists: settings.lists) else { continue }
                if !run.isBeingSent, record.gap(of: run)?.isKnown ?? false { unread.insert(id) }
                if try run.mayHaveReached(since: since) { all.append(sending) }
            } catch {
                // A first epoch that was never confirmed pushed nothing; runs that may be out of
                // scope are left out.
                guard entry.scope != nil, entry.previousEpoch != "" else { continue }
                ends = ends ?? (try? catalog.history.order())
                if ends?.end(of: id).map({ $0 >= earliest }) ?? true { unread.insert(id) }
            }
        }
    }

    /// Says that runs cannot be read; nil if all can be read.
    /// - Parameter campaign: the campaign whose own runs do not count, as another message covers
    ///   them; nil for none.
    public static func words(unread: Set<String>, besidesThoseOf campaign: String? = nil) -> String? {
        let unread = unread.filter { campaign == nil || RunID.campaign(of: $0[...]).map(String.init) != campaign }
        guard !unread.isEmpty else { return nil }
        let named = unread.sorted().reversed().prefix(3).joined(separator: ", "), more = unread.count > 3 ? ", …" : ""
        let runs = "\(TextFormat.counted(unread.count, one: "run")) of the last \(hours) h"
        return
            "\(runs) cannot be read, or not as a whole (\(named)\(more)): more of these devices may have got a push than is known"
    }

    /// Reads which devices the runs reached.
    /// - Parameter hash: of the scan that they are for.
    package mutating func readDevices(_ catalog: RunsFolder, hash: KeyedHash) {
        guard !all.isEmpty else { return }
        var unread = unread
        defer { self.unread = unread }
        let caps = (0...all.count).map { _ in FrequencyCap(pushes: 1, seconds: Self.hours * 3600) }
        var moments = all.map(\.lastAt), hasMoreToCome = all.map { _ in false }
        devices = CappedDevices(caps, hash: hash) { add in
            for (number, sending) in all.enumerated() {
                do {
                    let run = try catalog.open(sending.run, timeoutSeconds: Self.timeoutSeconds)
                    defer { run.close() }
                    try run.forEachReached(closing: OwnReason.final) { token, moment, isToCome, service in
                        guard sending.counted[service] else { return }
                        if let moment, moment >= since {
                            add(token) { $0 == number }
                            moments[number] = max(moments[number], moment)
                        } else if isToCome {
                            add(token) { $0 == all.count }
                            hasMoreToCome[number] = true
                        }
                    }
                } catch {
                    // Everything that was read before a damaged place counts.
                    unread.insert(sending.run)
                }
            }
        }
        for number in all.indices {
            (all[number].lastAt, all[number].hasMoreToCome) = (min(moments[number], now), hasMoreToCome[number])
        }
    }
}
