import Delivery

/// A folder of runs as commands see it: files, the record beside them, times, locks, volley.yaml. Everything that survives a process.
struct RunFolderModel {
    /// What was frozen.
    struct Plan {
        var recipients: Set<Int>
        var time: Int?
        var needsApproval: Bool
        /// volley.yaml when it was planned.
        var project: Int
        var retryOf: Int?
        var plannedAt: Int
    }

    enum Outcome { case accepted, unknown, unsent }

    /// A run file: a value, so that a copy of it is what a copy of a file is.
    struct File {
        let plan: Int
        var state = SendGate.Facts.State.planned
        var life = 0
        var claimed: Set<Int> = []
        var outcomes: [Int: Outcome] = [:]
        var isApproved = false
        var hasStart = false
        /// Whether recipients or settings were edited.
        var isChanged = false

        /// Recipients that it has reached, or may have.
        var reached: Int { claimed.count { outcomes[$0] != .unsent } }

        var hasBegun: Bool { hasStart || !claimed.isEmpty || life != 0 }
    }

    enum Path: Hashable { case own(Int), copy(Int) }

    struct Entry {
        var life: Int
        var formerLife: Int?
        var reached: Int
        var begunAt: Int

        func isNewer(than file: File) -> Bool { (file.life != life && file.life != formerLife) || file.reached < reached }
    }

    var plans: [Int: Plan] = [:]
    var files: [Path: File] = [:]
    var record: [Int: Entry] = [:]
    /// The plan that has a time.
    var times: [Int: Int] = [:]
    var locks: [Path: Int] = [:]
    /// What volley.yaml says now: where to, and whether somebody must approve.
    var project = 0
    var demandsApproval = false
    var now = 0
    private(set) var lastPlan = 0
    private var lastLife = 0

    mutating func newLife() -> Int {
        lastLife += 1
        return lastLife
    }

    @discardableResult
    mutating func plan(_ recipients: Set<Int>, time: Int?, retryOf: Int? = nil, isApproved: Bool = false, project: Int? = nil) -> Int {
        lastPlan += 1
        plans[lastPlan] = Plan(
            recipients: recipients, time: time, needsApproval: demandsApproval, project: project ?? self.project, retryOf: retryOf,
            plannedAt: now)
        var file = File(plan: lastPlan)
        file.isApproved = isApproved
        files[.own(lastPlan)] = file
        return lastPlan
    }

    /// The run that a chain of retries begins with.
    func root(of plan: Int) -> Int { plans[plan]?.retryOf.map(root) ?? plan }

    /// As `RunChain.standingRetries`.
    func standingRetries(of plan: Int) -> [File] {
        plans.keys.sorted().filter { plans[$0]?.retryOf == plan }.compactMap { files[.own($0)] }.filter {
            $0.state != .cancelled || $0.hasBegun
        }
    }

    /// As `RunGate.look`.
    func facts(of path: Path, _ step: SendGate.Step) -> SendGate.Facts? {
        guard let file = files[path], let plan = plans[file.plan] else { return nil }
        let entry = record[file.plan]
        var facts = SendGate.Facts(
            isInPlace: path == .own(file.plan), isOutdated: entry?.isNewer(than: file) ?? false, state: file.state,
            hasBegun: file.hasBegun || entry.map { $0.formerLife != file.life } ?? false, isUnchanged: !file.isChanged,
            settingsHold: plan.project == project, lacksApproval: (plan.needsApproval || demandsApproval) && !file.isApproved,
            isRetried: step == .goOn && !standingRetries(of: file.plan).isEmpty, parentWentOn: false, isTooLate: false, time: .unscheduled)
        if let parent = plan.retryOf {
            let state = files[.own(parent)]?.state
            facts.parentWentOn = state == .underway || state == .planned || record[parent].map { $0.begunAt > plan.plannedAt } ?? false
        }
        if plan.retryOf == nil, let time = plan.time {
            facts.time = times[time].map { $0 == file.plan ? .own : .taken } ?? .free
        }
        return facts
    }

    /// As `SendingRecord.begin`.
    mutating func note(_ life: Int, of path: Path) -> Bool {
        guard let file = files[path] else { return false }
        let known = record[file.plan]
        if let known, known.isNewer(than: file) { return false }
        record[file.plan] = Entry(life: life, formerLife: file.life, reached: file.reached, begunAt: now)
        return true
    }

    /// As `RunStore.begin`.
    mutating func begin(_ path: Path, as life: Int, _ step: SendGate.Step) -> Bool {
        guard let state = files[path]?.state, step == .begin ? state == .planned : state == .underway || state == .cancelled else {
            return false
        }
        files[path]?.state = .underway
        files[path]?.life = life
        files[path]?.hasStart = true
        return true
    }
}
