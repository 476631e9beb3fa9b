import Delivery

/// A folder of runs as commands see it: files, the record next to them, times, locks, volley.yaml.
/// Everything that survives a process.
struct RunsFolderModel {
    /// The frozen part.
    struct Plan {
        var recipients: Set<Int>
        var time: Int?
        var needsApproval: Bool
        /// volley.yaml when it was planned.
        var project: Int
        var retryOf: Int?
        /// For a retry: the epoch that the retried run had.
        var parentEpoch = 0
        /// When it was planned, and which runs were being sent then.
        var moment = 0
        var beside: Set<Int> = []
    }

    enum Outcome { case accepted, unknown, unsent }

    /// A run file: a value, so that a copy of it behaves like a copy of a file.
    struct File {
        let plan: Int
        var state = SendGate.Facts.State.planned
        var epoch = 0
        var claimed: Set<Int> = []
        /// When each recipient was last claimed, or got its outcome.
        var reachedAt: [Int: Int] = [:]
        /// How often recipients were reopened to be sent to again, counting each time.
        var takenBack = 0
        var outcomes: [Int: Outcome] = [:]
        var isApproved = false
        var hasStart = false
        /// Whether recipients or settings were edited.
        var isChanged = false

        /// Recipients that it has reached, or may have.
        var reached: Int { claimed.count { outcomes[$0] != .unsent } }

        /// Whether a recipient is still to be sent to, with `unknown: skip`.
        func isLeft(_ device: Int) -> Bool { outcomes[device].map { $0 == .unsent } ?? !claimed.contains(device) }

        /// As `RunFile.claimCount`.
        var claimCount: Int { claimed.count + takenBack }

        var hasBegun: Bool { hasStart || !claimed.isEmpty || epoch != 0 }
    }

    enum Path: Hashable {
        case own(Int), copy(Int)

        /// The order in which they are examined.
        var order: Int {
            switch self {
            case .own(let plan): 2 * plan
            case .copy(let number): 2 * number + 1
            }
        }
    }

    struct Entry {
        var epoch: Int
        var previousEpoch: Int?
        var reached: Int
        var claimed: Int
        var isOver = false
        /// When its first epoch began, and its last.
        var firstBegun: Int, begun: Int

        func names(_ epoch: Int) -> Bool { epoch == self.epoch || epoch == previousEpoch }

        /// Epochs are numbered, so that an older record can be distinguished from an older file.
        /// - Parameter mark: of the plan.
        func isNewer(than file: File, _ mark: Mark?) -> Bool {
            guard file.epoch <= epoch else { return false }
            let isCounting = !isOver && previousEpoch == nil
            guard !isCounting || mark?.epoch == epoch else { return true }
            let claimed = isCounting ? max(claimed, mark?.claimed ?? 0) : claimed
            return !names(file.epoch) || file.reached < reached || file.claimCount < claimed
        }
    }

    /// As `ClaimCounter`: a separate file next to the run, which may be lost.
    struct Mark {
        var epoch: Int
        var claimed: Int
    }

    var plans: [Int: Plan] = [:]
    var files: [Path: File] = [:]
    var record: [Int: Entry] = [:]
    var marks: [Int: Mark] = [:]
    /// The plan that each time belongs to.
    var times: [Int: Int] = [:]
    /// Which command has the lock of a file, since when, and whether to send.
    private(set) var locks: [Path: (command: Int, since: Int, isSending: Bool)] = [:]
    /// What volley.yaml says now: the destination, and whether approval is required.
    var project = 0
    var demandsApproval = false
    private(set) var lastPlan = 0
    /// Counts events, whatever clocks say.
    private(set) var moment = 0

    /// The moment of the present event.
    mutating func next() -> Int {
        moment += 1
        return moment
    }

    /// - Returns: whether no other command has it.
    mutating func lock(_ path: Path, by command: Int, isSending: Bool) -> Bool {
        guard locks[path] == nil else { return false }
        locks[path] = (command, next(), isSending)
        return true
    }

    mutating func unlock(_ path: Path, by command: Int) {
        if locks[path]?.command == command { locks[path] = nil }
    }

    @discardableResult
    mutating func plan(
        _ recipients: Set<Int>, time: Int?, retryOf: Int? = nil, isApproved: Bool = false, project: Int? = nil
    ) -> Int {
        lastPlan += 1
        plans[lastPlan] = Plan(
            recipients: recipients, time: time, needsApproval: demandsApproval, project: project ?? self.project,
            retryOf: retryOf,
            parentEpoch: retryOf.flatMap { files[.own($0)]?.epoch } ?? 0, moment: next(),
            beside: Set(plans.keys.filter { locks[.own($0)]?.isSending ?? false }))
        var file = File(plan: lastPlan)
        file.isApproved = isApproved
        files[.own(lastPlan)] = file
        return lastPlan
    }

    /// The first run of a chain of retries.
    func root(of plan: Int) -> Int { plans[plan]?.retryOf.map(root) ?? plan }

    /// As `RunChain.standingRetries`.
    func standingRetries(of plan: Int) -> [File] {
        plans.keys.sorted().filter { plans[$0]?.retryOf == plan }.compactMap { files[.own($0)] }.filter {
            $0.state != .cancelled || $0.hasBegun
        }
    }

    /// As `SendPermission.look`.
    func facts(of path: Path, _ step: SendGate.Step) -> SendGate.Facts? {
        guard let file = files[path], let plan = plans[file.plan] else { return nil }
        let entry = record[file.plan]
        var facts = SendGate.Facts(
            isInPlace: path == .own(file.plan), isOutdated: entry?.isNewer(than: file, marks[file.plan]) ?? false,
            state: file.state,
            hasBegun: file.hasBegun || entry.map { $0.previousEpoch != file.epoch } ?? false,
            isUnchanged: !file.isChanged,
            settingsHold: plan.project == project,
            lacksApproval: (plan.needsApproval || demandsApproval) && !file.isApproved,
            isRetried: step == .goOn
                && (!standingRetries(of: file.plan).isEmpty || !begunRetries(of: file.plan).isEmpty),
            parentWentOn: false, isTooLate: false, runsBesideAnother: step == .begin && runsBesideAnother(path),
            isSuperseded: step != .retry && isSuperseded(path), time: .unscheduled)
        if let parent = plan.retryOf {
            let state = files[.own(parent)]?.state
            facts.parentWentOn =
                record[parent].map { !$0.names(plan.parentEpoch) } ?? (state == .underway || state == .planned)
            if step == .begin {
                facts.isRetried = siblings(of: file.plan).contains { !hasDisjointRecipients($0, file.plan) }
            }
        }
        if plan.retryOf == nil, let time = plan.time {
            let isSent = record.keys.contains { plans[$0]?.time == time && root(of: $0) != file.plan }
            facts.time = isSent ? .taken : times[time].map { $0 == file.plan ? .own : .taken } ?? .free
        }
        return facts
    }

    /// Retries that were begun, according to the record; not those that were abandoned before they
    /// began (`abandonedRetries`).
    func begunRetries(of plan: Int) -> [Int] {
        record.keys.sorted().filter { retry in
            guard plans[retry]?.retryOf == plan else { return false }
            guard let former = record[retry]?.previousEpoch, let file = files[.own(retry)] else { return true }
            return !(file.state == .cancelled && !file.hasBegun && file.epoch == former)
        }
    }

    /// Other begun retries of the run that a plan retries.
    func siblings(of plan: Int) -> [Int] {
        guard let parent = plans[plan]?.retryOf else { return [] }
        return begunRetries(of: parent).filter { $0 != plan }
    }

    /// If a sibling's file is gone, it is unknown which devices it reached.
    private func hasDisjointRecipients(_ sibling: Int, _ plan: Int) -> Bool {
        guard files[.own(sibling)] != nil, let own = plans[plan]?.recipients else { return false }
        return plans[sibling]?.recipients.isDisjoint(with: own) ?? false
    }

    /// As `SendingHistory.begin`; nil if it refuses, otherwise the new epoch.
    mutating func note(_ path: Path, siblings seen: [Int]) -> Int? {
        guard let file = files[path], let plan = plans[file.plan] else { return nil }
        if let known = record[file.plan], known.isNewer(than: file, marks[file.plan]) { return nil }
        if plan.retryOf == nil, let time = plan.time,
            record.keys.contains(where: { plans[$0]?.time == time && root(of: $0) != file.plan })
        {
            return nil
        }
        if !begunRetries(of: file.plan).isEmpty || !Set(siblings(of: file.plan)).isSubset(of: seen) { return nil }
        if let parent = plan.retryOf, let entry = record[parent], !entry.names(plan.parentEpoch) { return nil }
        let now = next()
        record[file.plan] = Entry(
            epoch: file.epoch + 1, previousEpoch: file.epoch, reached: file.reached, claimed: file.claimCount,
            firstBegun: record[file.plan]?.firstBegun ?? now, begun: now)
        marks[file.plan] = Mark(epoch: file.epoch + 1, claimed: file.claimCount)
        return file.epoch + 1
    }

    /// As `RunFile.begin`.
    mutating func begin(_ path: Path, as epoch: Int, _ step: SendGate.Step) -> Bool {
        guard let state = files[path]?.state,
            step == .begin ? state == .planned : state == .underway || state == .cancelled
        else {
            return false
        }
        files[path]?.state = .underway
        files[path]?.epoch = epoch
        files[path]?.hasStart = true
        return true
    }
}
