import Base
import Campaigns
import Delivery
import PushServices
import Runs

/// Other runs of the campaign that have reached devices to which this run is still to be sent. They
/// were planned to replace it, for the devices that were left, or by another person at the same
/// time.
struct SupersedingRuns {
    /// Runs that have reached such devices or are being sent to them, in the order of planning.
    private(set) var runs: [RunFile] = []
    /// How many devices of the run they have reached, or may have reached.
    private(set) var reached = 0
    /// How many further devices of the run they are being sent to.
    private(set) var toCome = 0
    /// Runs whose recipients are not known.
    private(set) var unknown: [UnknownRecipients] = []

    /// Searches the run's folder for devices that were reached since the run was planned or, if it
    /// continues or is a retry, since the first run of its chain began. Earlier runs do not count:
    /// the person that plans a campaign again knows about them, and intends to push once more. The
    /// order of beginnings (`EpochSequence`) decides what came later; where it is not on record,
    /// the clock does.
    ///
    /// These do not count: tests, runs of another app or in another environment, runs of its own
    /// chain, and a run that a process is only about to send and whose lock it took after this
    /// run's. Each scheduled time is sent once, so runs for other times do not count; for a plan of
    /// a scheduled time, neither do runs without one.
    /// - Parameter isShared: whether the run goes through a store.
    /// - Returns: nil if no run counts.
    /// - Throws: `Diagnostic`: the folder, the record of what was sent, or a file of the campaign
    ///   cannot be read.
    init?(of run: RunFile, _ settings: RunSettings, isShared: Bool = false) throws {
        if run.plan.isTest { return nil }
        var search = try RelatedRuns(run, settings)
        search.isShared = isShared
        defer { search.chain?.close() }
        var devices = Devices(run, settings)
        var there: Set<String> = []
        let others = try run.catalog.started(of: run.plan.campaign, known: search.known) { mark in
            let mayCount = search.mayCount(mark)
            if !mayCount { there.insert(mark.id) }
            return mayCount
        }
        for other in others {
            defer { other.close() }
            let isThere: Void? = try other.unlessRemoved { other in
                if try search.counts(other) { try inspect(other, search, &devices) }
            }
            if isThere != nil { there.insert(other.plan.id) }
        }
        unknown += search.withoutFile(besides: there)
        (reached, toCome) = (devices.reached.count, devices.toCome.subtracting(devices.reached).count)
        if runs.isEmpty, unknown.isEmpty { return nil }
    }

    private mutating func inspect(_ other: RunFile, _ search: RelatedRuns, _ devices: inout Devices) throws {
        if let gap = search.known.gap(of: other) {
            if gap != .cancelled, search.isAsked(other.plan.id), let gap = LedgerGap(of: other) {
                unknown.append(UnknownRecipients(other.plan.id, gap))
            }
            return
        }
        guard let start = try search.start(of: other) else { return }
        let isAbout = try search.run.yields(to: other)
        guard try isAbout || other.hasBegun() && other.mayHaveReached(since: start) else { return }
        guard other.prunedAt == nil else {
            unknown.append(.pruned(other.plan.id))
            return
        }
        if try devices.note(other, since: start, isAbout: isAbout) { runs.append(other) }
    }

    /// The devices to which a run is still to be sent, by hashes of their tokens.
    private struct Devices {
        private let run: RunFile
        private let settings: RunSettings
        private var left: Set<Int>?
        private(set) var reached: Set<Int> = [], toCome: Set<Int> = []

        init(_ run: RunFile, _ settings: RunSettings) { (self.run, self.settings) = (run, settings) }

        /// Notes the devices that another run shares with this one.
        /// - Returns: whether the other run has reached any of them since a moment or, if it is
        ///   about to be sent, will reach one.
        mutating func note(_ other: RunFile, since start: Timestamp, isAbout: Bool) throws -> Bool {
            let own = try left ?? run.devicesLeft(settings)
            left = own
            var isAny = false
            try other.forEachReached(closing: OwnReason.final) { token, moment, isToCome, _ in
                let hash = UnsafeRawBufferPointer(token).hashed
                guard own.contains(hash) else { return }
                if let moment, moment >= start {
                    reached.insert(hash)
                } else if isAbout, isToCome {
                    toCome.insert(hash)
                } else {
                    return
                }
                isAny = true
            }
            return isAny
        }
    }
}

extension RunFile {
    /// Whether a process is sending `other`, or is about to and took its lock before this run's was
    /// taken. Of two runs that have not begun, the one that was locked first begins.
    func yields(to other: RunFile) throws -> Bool {
        guard let theirs = other.sendingSince else { return false }
        guard let own = sendingSince, try ![.running, .paused].contains(other.status().state) else { return true }
        return (theirs, other.plan.id) < (own, plan.id)
    }

    /// Hashes of the device tokens that the run is still to be sent to.
    fileprivate func devicesLeft(_ settings: RunSettings) throws -> Set<Int> {
        var left: Set<Int> = []
        for segment in plan.segments {
            try addDevicesLeft(segment.ids, settings.ofService(segment.service), to: &left)
        }
        return left
    }

    private func addDevicesLeft(_ ids: Range<Int>, _ service: RunSettings, to left: inout Set<Int>) throws {
        let resendsUnknown = service.unknownPolicy == .resend
        // What a service recognizes is sent again.
        let isLostSettled = if case .none = service.service.repeatProtection { !resendsUnknown } else { false }
        let lost = try isLostSettled ? claimedWithoutOutcome() : []
        let open = OpenOutcomes(resendsUnknown: resendsUnknown, closing: OwnReason.final)
        for start in stride(from: ids.lowerBound, to: ids.upperBound, by: 10_000) {
            let range = start..<min(start + 10_000, ids.upperBound)
            try forEachPush(in: range, PushSelection(unsettled: open)) { push in
                // Claimed and never settled: recorded as unknown when the run continues, so nothing
                // is sent to it.
                if push.mayHaveArrived, lost.contains(where: { $0.contains(push.id) }) { return }
                left.insert(UnsafeRawBufferPointer(push.token).hashed)
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// A 64-bit hash, with a new key in each process.
    fileprivate var hashed: Int {
        var hasher = Hasher()
        hasher.combine(bytes: self)
        return hasher.finalize()
    }
}

extension Timestamp {
    /// When a plan was made that could not ask the store: it counts as older than all that other
    /// machines have sent, as this machine's clock may have been ahead.
    static var unknownInStore: Timestamp { Timestamp(epochMilliseconds: 0) }
}

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
    /// Whether the run goes through a store. Where volley.yaml names none, no plan has a date of
    /// it.
    fileprivate(set) var isShared = false

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
    package init(
        _ run: RunFile, _ settings: RunSettings, chain: RunChain?, known: HistorySnapshot, order: EpochSequence
    ) throws {
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

    /// Whether Volley must know which devices another run has reached before it sends more of this
    /// one.
    func asks(about other: RunFile) throws -> Bool {
        guard other.plan.id != run.plan.id, let start = try start(of: other), try counts(other) else { return false }
        return try other.hasBegun() && other.mayHaveReached(since: start)
    }

    /// The moment from which the actions of `other` came after this run; nil if it did nothing
    /// after it.
    func start(of other: RunFile) throws -> Timestamp? {
        // Pushes that were being sent while this run was planned may have arrived before or after
        // that.
        if first.settings.beside.contains(other.plan.id), try isFresh || !other.claimedWithoutOutcome().isEmpty {
            return Timestamp(epochMilliseconds: 0)
        }
        // What other machines did is dated by the store's clock, and in no order of this machine's.
        if try other.copiedAt() != nil {
            return first.settings.plannedInStore ?? (isFresh && isShared ? .unknownInStore : moment)
        }
        return try order.start(of: other.plan.id, epoch: other.status().epoch, after: place, at: moment)
    }

    /// Whether a run with unknown recipients may have reached a device since the first run of the
    /// chain was planned.
    func isAsked(_ other: String) -> Bool {
        if first.settings.beside.contains(other) { return true }
        if let hasBegun = order.hasBegun(other, after: first.settings.place) { return hasBegun }
        return begun[other].map { $0.begunAt >= first.plan.plannedAt } ?? false
    }

    /// The runs that have begun and whose files are missing or cannot be read.
    func withoutFile(besides there: Set<String>) -> [UnknownRecipients] {
        begun.sorted { $0.key < $1.key }.compactMap { id, entry in
            // A first epoch that was never confirmed pushed nothing. `SendPermission` checks the
            // retries of the chain.
            guard !there.contains(id), !isOfChain(id), !(entry.retryOf.map(isOfChain) ?? false),
                entry.previousEpoch != "",
                entry.scope.map(counts) ?? true, !isOther(entry.occurrence), isAsked(id)
            else { return nil }
            return .withoutFile(id, in: run.catalog)
        }
    }

    private func counts(_ scope: SendingHistory.Scope) -> Bool {
        scope.app == run.plan.app && settings.sharesList(with: scope.environment) && !scope.isTest
    }

    private func isOfChain(_ id: String) -> Bool {
        id == run.plan.id || chain?.runs.contains { $0.plan.id == id } ?? false
    }

    private func isOther(_ theirs: String?) -> Bool {
        guard let time else { return false }
        return theirs.map { $0 != "\(time)" } ?? isFresh
    }
}
