import Base
import Runs

/// The runs of a campaign that count for one of them, and from which moment.
struct RelatedRuns {
    let run: RunFile
    let known: HistorySnapshot
    /// All runs of the campaign that are on record.
    private let begun: [String: SendingHistory.Entry]
    /// The run with its retries; nil if none of them has begun.
    let chain: RunChain?
    private let settings: RunSettings
    private let time: LocalTime?
    /// Whether no run of the chain has begun.
    private let isFresh: Bool
    private let order: EpochSequence
    private let place: EpochSequence.Place?
    private let moment: Timestamp
    /// The first plan of the chain, and the settings that it froze.
    private let first: (plan: RunPlan, settings: RunSettings)

    /// Reads the run's folder.
    package init(_ run: RunFile, _ settings: RunSettings) throws {
        let isFresh = try Self.isFresh(run)
        try self.init(
            run, settings, chain: isFresh ? nil : RunChain(of: run), known: HistorySnapshot(of: run.catalog),
            order: run.catalog.history.order())
    }

    /// - Parameters:
    ///   - chain: the run's chain; nil if no run of it has begun (`isFresh`).
    ///   - known: what is known about the runs of its folder.
    ///   - order: the order of their beginnings.
    /// - Throws: `Diagnostic`: a file or the record cannot be read.
    package init(_ run: RunFile, _ settings: RunSettings, chain: RunChain?, known: HistorySnapshot, order: EpochSequence) throws {
        self.run = run
        self.chain = chain
        self.known = known
        self.order = order
        isFresh = chain == nil
        begun = try known.begun(of: run.plan.campaign)
        let links = chain?.runs ?? [run]
        (self.settings, time) = (settings, settings.schedule?.occurrence)
        place = isFresh ? settings.place : order.beginning(ofAny: Set(links.map(\.plan.id)))
        moment = links.compactMap { try? $0.status().startedAt }.min() ?? run.plan.plannedAt
        let plan = links[0].plan
        first = (plan, plan.id == run.plan.id ? settings : try plan.settings.get())
    }

    /// Whether neither the run nor a run that it retries has begun.
    static func isFresh(_ run: RunFile) throws -> Bool { try run.plan.retryOf == nil && !run.hasBegun() }

    /// Whether another run of the campaign counts for this one, whatever it did.
    func counts(_ other: RunFile) throws -> Bool {
        guard other.plan.app == run.plan.app, !other.plan.isTest, !isOfChain(other.plan.id) else { return false }
        let theirs = try other.plan.settings.get()
        return settings.sharesList(with: theirs.listName) && !isOther(theirs.schedule?.occurrence.map { "\($0)" })
    }

    /// Whether another run of the campaign may count, as far as its mark tells.
    func mayCount(_ other: RunOverview) -> Bool { !isOther(other.occurrence) }

    /// Whether Volley must know which devices another run has reached before it sends more of this one.
    func asks(about other: RunFile) throws -> Bool {
        guard other.plan.id != run.plan.id, let start = try start(of: other), try counts(other) else { return false }
        return try other.hasBegun() && other.mayHaveReached(since: start)
    }

    /// The moment from which the actions of `other` came after this run; nil if it did nothing after it.
    func start(of other: RunFile) throws -> Timestamp? {
        // Pushes that were being sent while this run was planned may have arrived before or after that.
        if first.settings.beside.contains(other.plan.id), try isFresh || !other.claimedWithoutOutcome().isEmpty {
            return Timestamp(epochMilliseconds: 0)
        }
        return try order.start(of: other.plan.id, epoch: other.status().epoch, after: place, at: moment)
    }

    /// Whether a run with unknown recipients may have reached a device since the first run of the chain was planned.
    func isAsked(_ other: String) -> Bool {
        if first.settings.beside.contains(other) { return true }
        if let hasBegun = order.hasBegun(other, after: first.settings.place) { return hasBegun }
        return begun[other].map { $0.begunAt >= first.plan.plannedAt } ?? false
    }

    /// The runs that have begun and whose files are missing or cannot be read.
    func withoutFile(besides there: Set<String>) -> [UnknownRecipients] {
        begun.sorted { $0.key < $1.key }.compactMap { id, entry in
            // A first epoch that was never confirmed pushed nothing. `SendPermission` checks the retries of the chain.
            guard !there.contains(id), !isOfChain(id), !(entry.retryOf.map(isOfChain) ?? false), entry.previousEpoch != "",
                entry.scope.map(counts) ?? true, !isOther(entry.occurrence), isAsked(id)
            else { return nil }
            return .withoutFile(id, in: run.catalog)
        }
    }

    private func counts(_ scope: SendingHistory.Scope) -> Bool {
        scope.app == run.plan.app && settings.sharesList(with: scope.environment) && !scope.isTest
    }

    private func isOfChain(_ id: String) -> Bool { id == run.plan.id || chain?.runs.contains { $0.plan.id == id } ?? false }

    private func isOther(_ theirs: String?) -> Bool {
        guard let time else { return false }
        return theirs.map { $0 != "\(time)" } ?? isFresh
    }
}
