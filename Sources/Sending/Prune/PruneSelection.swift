public import Base
package import Campaigns
import Delivery
import PushServices
public import Runs
import Workspace

/// The runs to prune, and the reasons why others are not pruned.
public struct PruneSelection: Sendable {
    /// The reason why a run that ended long enough ago is not pruned.
    public enum PruneObstacle: String, Sendable {
        case unsent = "a plan that was never sent"
        case underway = "it is being sent"
        case resumable = "it can be resumed"
        case retriable = "some of its devices can be retried"
        /// It lists the devices that a new plan must leave out if the retry cannot continue.
        case retried = "a retry of it is not over"
        /// It lists the devices that another retry must leave out.
        case needed = "the run that it retries can be retried again"
        /// It lists the devices that the older run must leave out.
        case neededBeside = "an older run of its campaign can still be sent or resumed"
        /// Without its recipients, devices would get more pushes than a cap allows.
        case counted = "'frequency' counts its pushes"
        /// Without its recipients, no plan could say which devices have just got a push.
        case reachedLately = "'sent-recently' warns about its devices"
        /// Its figures are incomplete, and pruning would make them final.
        case outdated = "its file does not know all that was sent: put the newest one back, or remove the file"
        case unmarked = "it is not known how far it got: put its .claimed file back"
        /// Pruning would make what is wrong with it final.
        case damaged = "its file is damaged: restore it from a backup"
        case unreadable =
            "it cannot be checked whether its file knows all that was sent, or others need it: sent.db next to it, or a file of its campaign, cannot be read"

        init(_ gap: SendingHistory.Gap) {
            switch gap {
            case .certain, .cancelled: self = .outdated
            case .possible: self = .unmarked
            case .unreadable: self = .unreadable
            }
        }

        /// Whether such a run is pruned only with `--include-stopped`.
        public var needsIncludeStopped: Bool {
            [.resumable, .retriable, .retried, .needed, .neededBeside, .reachedLately].contains(self)
        }
    }

    /// Runs to prune, each with its status at the time of selection: a run may be resumed while the
    /// question is open.
    public private(set) var chosen: [(run: RunFile, status: RunStatus)] = []
    /// Runs that keep their recipients, each with the reason, and until when it holds if that is
    /// known.
    public private(set) var left: [(run: RunFile, why: PruneObstacle, until: Timestamp?)] = []
    /// How many runs ended too recently.
    public private(set) var recent = 0
    /// How many runs were pruned earlier.
    public private(set) var prunedBefore = 0

    /// - Parameter project: whose caps count in addition to those of the runs; nil without
    ///   volley.yaml.
    package init(
        _ runs: [RunFile], endedBefore limit: Timestamp, includesStopped: Bool, _ project: Project?, at now: Timestamp
    ) throws {
        let lookBack = LookBack(runs, project, now: now)
        let retries = Dictionary(grouping: runs) { $0.plan.retryOf ?? "" }
        let known = runs.first.map { HistorySnapshot(of: $0.catalog) }
        var askers = DependentRuns(runs, retries)
        for run in runs {
            defer { run.close() }
            if run.prunedAt != nil {
                prunedBefore += 1
                continue
            }
            guard let status = try run.unlessRemoved({ try $0.status() }) else { continue }
            // A run that was cut off has no end on record, and perhaps no beginning.
            guard (status.finishedAt ?? status.startedAt ?? run.plan.plannedAt) < limit else {
                recent += 1
                continue
            }
            var (why, until): (PruneObstacle?, Timestamp?)
            do {
                why = try Self.obstacle(run, status, known?.gap(of: run), retries[run.plan.id] ?? [])
                let parent = run.plan.retryOf.flatMap { id in runs.first { $0.plan.id == id } }
                if why == nil, !includesStopped {
                    why = try Self.need(of: run, parent: parent, retries, &askers, known)
                }
                if why == nil || includesStopped && why?.needsIncludeStopped ?? false,
                    let need = try lookBack.need(of: run, status)
                {
                    (why, until) = need
                }
            } catch is Diagnostic { why = .unreadable }
            let isKept = why.map { !(includesStopped && $0.needsIncludeStopped) } ?? false
            if !isKept || why == .unreadable, run.pageDamage() != nil { (why, until) = (.damaged, nil) }
            if let why, isKept || why == .damaged {
                left.append((run, why, until))
            } else {
                chosen.append((run, status))
            }
        }
    }

    /// Why others need the recipients of a run.
    /// - Throws: `Diagnostic`: a file of its campaign cannot be read; whether that run needs them
    ///   is not known then.
    private static func need(
        of run: RunFile, parent: RunFile?, _ retries: [String: [RunFile]], _ askers: inout DependentRuns,
        _ known: HistorySnapshot?
    ) throws -> PruneObstacle? {
        if try hasOpenRetry(run.plan.id, retries) { return .retried }
        if let parent, try isNeeded(for: parent, retries[parent.plan.id] ?? []) { return .needed }
        return try askers.ofCampaign(run.plan.campaign, known).contains { try $0.asks(about: run) }
            ? .neededBeside : nil
    }

    /// How long new plans look back at what runs have sent.
    private struct LookBack {
        /// By app: the lengths of the caps, in seconds, and the lists whose devices they are about;
        /// nil for all.
        private var caps: [String: [(seconds: Int, lists: Set<String>?)]] = [:]
        private let now: Timestamp

        /// The next campaigns probably have the caps of those that were sent.
        init(_ runs: [RunFile], _ project: Project?, now: Timestamp) {
            self.now = now
            if let project {
                for app in project.apps {
                    guard let cap = app.frequency else { continue }
                    let lists = try? RunSettings(app, projectFile: project.file, pushType: .alert).lists
                    caps[app.name.value, default: []].append((cap.seconds, lists))
                }
            }
            for run in runs {
                guard let settings = try? run.plan.settings.get() else { continue }
                caps[run.plan.app, default: []] += settings.frequencyCaps.map { ($0.seconds, settings.lists) }
            }
        }

        /// Why plans need the recipients of a run, and until when; nil if they do not.
        func need(of run: RunFile, _ status: RunStatus) throws -> (PruneObstacle, Timestamp)? {
            guard !run.plan.isTest, let settings = try? run.plan.settings.get(), settings.pushType != .background,
                !settings.service.choosesDevices
            else { return nil }
            let outcomes = try run.figures().outcomes
            guard outcomes[.accepted, default: 0] + outcomes[.unknown, default: 0] > 0,
                let last = try status.finishedAt ?? lastReached(by: run)
            else { return nil }
            let counting = caps[run.plan.app, default: []].filter {
                $0.lists.map { !$0.isDisjoint(with: settings.lists) } ?? true
            }
            let counted = last.adding(seconds: Double(counting.map(\.seconds).max() ?? 0))
            if counted > now { return (.counted, counted) }
            let warned = last.adding(seconds: Double(RecentSendings.hours * 3600))
            return !settings.isRehearsal && warned > now ? (.reachedLately, warned) : nil
        }

        /// When a run that was cut off may have reached a device last.
        private func lastReached(by run: RunFile) throws -> Timestamp? {
            var last: Timestamp?
            try run.forEachReached(closing: OwnReason.final) { _, moment, _, _ in
                if let moment { last = max(last ?? moment, moment) }
            }
            return last
        }
    }

    /// The reason not to prune a run; nil if the run and its retries give none.
    /// - Parameter retries: the runs that retry it.
    private static func obstacle(
        _ run: RunFile, _ status: RunStatus, _ gap: SendingHistory.Gap?, _ retries: [RunFile]
    ) throws -> PruneObstacle? {
        if run.isBeingSent { return .underway }
        if let gap { return PruneObstacle(gap) }
        switch status.state {
        case .planned: return .unsent
        case .running, .paused, .stopped: return .resumable
        case .cancelled:
            // A plan that was cancelled before anything was sent cannot be continued.
            guard try run.hasBegun() else { return nil }
            let standing = try retries.filter { try $0.countsAsRetry() }
            return try standing.isEmpty ? .resumable : isRetriable(run, standing) ? .retriable : nil
        case .finished: return try isRetriable(run, retries.filter { try $0.countsAsRetry() }) ? .retriable : nil
        }
    }

    /// The runs that can send more, themselves or by a retry. They then need to know which devices
    /// other runs of their campaign have reached.
    private struct DependentRuns {
        private let runs: [String: [RunFile]]
        private let all: [RunFile]
        private let retries: [String: [RunFile]]
        private var found: [String: [RelatedRuns]] = [:]
        private var order: EpochSequence?

        init(_ runs: [RunFile], _ retries: [String: [RunFile]]) {
            all = runs
            self.runs = Dictionary(grouping: runs, by: \.plan.campaign)
            self.retries = retries
        }

        mutating func ofCampaign(_ campaign: String, _ known: HistorySnapshot?) throws -> [RelatedRuns] {
            if let found = found[campaign] { return found }
            var searches: [RelatedRuns] = []
            for run in runs[campaign, default: []] where run.prunedAt == nil && !run.plan.isTest {
                defer { run.close() }
                guard let known, try run.unlessRemoved(goesOn) ?? false else { continue }
                let order = try order ?? run.catalog.history.order()
                self.order = order
                searches.append(
                    try RelatedRuns(
                        run, run.plan.settings.get(),
                        chain: RelatedRuns.isFresh(run) ? nil : RunChain(of: run, among: all), known: known,
                        order: order))
            }
            found[campaign] = searches
            return searches
        }

        private func goesOn(_ run: RunFile) throws -> Bool {
            switch try run.status().state {
            case .planned, .running, .paused, .stopped: true
            case .cancelled: try run.hasBegun()
            case .finished: try isRetriable(run, (retries[run.plan.id] ?? []).filter { try $0.countsAsRetry() })
            }
        }
    }

    /// Whether a retry of a run, or a retry of that retry, can still be sent or continued.
    /// - Parameter seen: runs that were looked at; of damaged files, one may retry its own retry.
    private static func hasOpenRetry(_ id: String, _ retries: [String: [RunFile]], seen: Set<String> = []) throws
        -> Bool
    {
        guard !seen.contains(id) else { return false }
        return try (retries[id] ?? []).contains { retry in
            defer { retry.close() }
            switch try retry.status().state {
            case .planned, .running, .paused, .stopped: return true
            case .cancelled where try retry.hasBegun():
                let standing = try (retries[retry.plan.id] ?? []).filter { try $0.countsAsRetry() }
                if standing.isEmpty { return true }
            case .cancelled, .finished: break
            }
            return try hasOpenRetry(retry.plan.id, retries, seen: seen.union([id]))
        }
    }

    /// Whether another retry of the same run must know which devices a retry has taken over.
    private static func isNeeded(for parent: RunFile, _ retries: [RunFile]) throws -> Bool {
        defer { parent.close() }
        guard parent.prunedAt == nil, [.finished, .cancelled].contains(try parent.status().state) else { return false }
        return try isRetriable(parent, retries.filter { try $0.countsAsRetry() })
    }

    /// Whether a retry could send to devices that no retry has taken over yet. The recipients of a
    /// pruned retry are not known, so then no device counts as left.
    private static func isRetriable(_ run: RunFile, _ retries: [RunFile]) throws -> Bool {
        let open: Set<Outcome> = [.failed, .unknown, .unsent]
        let outcomes = try run.figures().outcomes
        guard !run.plan.isTest, open.contains(where: { outcomes[$0, default: 0] > 0 }),
            retries.allSatisfy({ $0.prunedAt == nil })
        else {
            return false
        }
        guard !retries.isEmpty else { return true }
        var taken: Set<Target> = []
        for retry in retries {
            defer { retry.close() }
            try retry.forEachResult { _, recipient, _, _ in taken.insert(recipient.token) }
        }
        var isLeft = false
        try run.forEachResult { _, recipient, settlement, isClaimed in
            isLeft =
                isLeft
                || open.contains(settlement?.outcome ?? (isClaimed ? .unknown : .unsent))
                    && !taken.contains(recipient.token)
        }
        return isLeft
    }
}
