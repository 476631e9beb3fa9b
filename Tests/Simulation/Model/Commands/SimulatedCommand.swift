import Base
import Delivery

/// A process that works on a run: through the gate, then sending, one step at a time. It may die
/// between any two steps.
struct SimulatedCommand {
    enum Work {
        case gate(SendGate.Action)
        /// Claimed, and not pushed yet.
        case sending(left: [Int])
        case over
    }

    let number: Int
    let path: RunsFolderModel.Path
    let step: SendGate.Step
    private var gate: SendGate
    private var epoch = 0
    private var siblings: [Int] = []
    private(set) var work: Work
    private(set) var refusal: SendGate.Refusal?
    private(set) var isAdmitted = false
    /// What the gate saw.
    private(set) var seen: SendGate.Facts?
    /// What volley.yaml said when it was read.
    private(set) var project = 0
    /// The retry that it made, to be sent next.
    private(set) var retry: Int?

    init(_ number: Int, _ step: SendGate.Step, _ path: RunsFolderModel.Path) {
        (self.number, self.step, self.path) = (number, step, path)
        gate = SendGate(step)
        work = .gate(gate.start())
    }

    var isOver: Bool { if case .over = work { true } else { false } }

    /// Whether it may be sending.
    var isSending: Bool { if case .sending = work { true } else { false } }

    /// Does one step.
    /// - Parameter failing: how often, per thousand, the last note next to the runs cannot be
    ///   written.
    /// - Returns: the device that a push went to.
    mutating func doNext(_ folder: inout RunsFolderModel, _ random: inout SplitMix, failing: Int) -> Int? {
        switch work {
        case .gate(let action): work = next(after: action, &folder, &random, failing)
        case .sending(let left): return send(left, &folder, &random)
        case .over: break
        }
        return nil
    }

    /// The process is killed: the system releases its lock.
    mutating func die(_ folder: inout RunsFolderModel) {
        folder.unlock(path, by: number)
        work = .over
    }

    // MARK: - The gate, as `SendPermission` drives it

    private mutating func next(
        after action: SendGate.Action, _ folder: inout RunsFolderModel, _ random: inout SplitMix, _ failing: Int
    ) -> Work {
        switch action {
        case .lock:
            guard folder.files[path] != nil else { return .over }
            return .gate(gate.locked(folder.lock(path, by: number, isSending: step != .retry)))
        case .look:
            guard let facts = folder.facts(of: path, step) else {
                die(&folder)
                return .over
            }
            project = folder.project
            seen = facts
            siblings = folder.files[path].map { folder.siblings(of: $0.plan) } ?? []
            return .gate(gate.saw(facts))
        case .claimTime:
            guard let plan = folder.files[path]?.plan, let time = folder.plans[plan]?.time else {
                return .gate(gate.timeClaimed(false))
            }
            let isFree = folder.times[time] == nil || folder.times[time] == plan
            if isFree { folder.times[time] = plan }
            return .gate(gate.timeClaimed(isFree))
        case .record:
            let noted = folder.note(path, siblings: siblings)
            epoch = noted ?? 0
            return .gate(gate.recorded(noted != nil))
        case .begin: return .gate(gate.began(folder.begin(path, as: epoch, step)))
        case .confirm:
            // The disk may be full, or a retry may have begun in the meantime.
            guard let plan = folder.files[path]?.plan, !random.happens(failing), folder.begunRetries(of: plan).isEmpty
            else {
                return .gate(gate.confirmed(false))
            }
            folder.record[plan]?.previousEpoch = nil
            return .gate(gate.confirmed(true))
        case .returnTime:
            if let plan = folder.files[path]?.plan, let time = folder.plans[plan]?.time { folder.times[time] = nil }
            return .gate(gate.timeReturned())
        case .admit:
            isAdmitted = true
            if step == .retry {
                plan(&folder)
                die(&folder)
                return .over
            }
            recordLost(&folder)
            return .sending(left: [])
        case .refuse(let why):
            refusal = why
            die(&folder)
            return .over
        }
    }

    /// As `RetryPlanner`: devices that were not sent to, except those that other retries took over.
    private mutating func plan(_ folder: inout RunsFolderModel) {
        guard let file = folder.files[path], let plan = folder.plans[file.plan] else { return }
        // If a retry's file is gone, it is unknown which devices it reached.
        let standing = Set(folder.standingRetries(of: file.plan).map(\.plan))
        guard standing.isSuperset(of: folder.begunRetries(of: file.plan)) else { return }
        let taken = folder.standingRetries(of: file.plan).reduce(into: Set<Int>()) {
            $0.formUnion(folder.plans[$1.plan]?.recipients ?? [])
        }
        let open = plan.recipients.filter { device in
            !taken.contains(device) && file.isLeft(device)
        }
        guard !open.isEmpty else { return }
        retry = folder.plan(
            open, time: plan.time, retryOf: file.plan, isApproved: file.isApproved, project: plan.project)
    }

    // MARK: - Sending, with `unknown: skip`

    private func recordLost(_ folder: inout RunsFolderModel) {
        guard let file = folder.files[path] else { return }
        for device in file.claimed where file.outcomes[device] == nil {
            folder.files[path]?.outcomes[device] = .unknown
        }
    }

    private mutating func send(_ left: [Int], _ folder: inout RunsFolderModel, _ random: inout SplitMix) -> Int? {
        guard let file = folder.files[path], let plan = folder.plans[file.plan] else {
            die(&folder)
            return nil
        }
        if file.state == .cancelled || random.happens(20) {
            end(left, as: file.state == .cancelled ? .cancelled : .underway, &folder)
            return nil
        }
        if let device = left.first {
            folder.files[path]?.outcomes[device] = random.happens(100) ? .unknown : .accepted
            let now = folder.next()
            folder.files[path]?.reachedAt[device] = now
            work = .sending(left: Array(left.dropFirst()))
            return device
        }
        // Claimed recipients that were not sent to come first.
        let next = plan.recipients.sorted().filter(file.isLeft)
        guard !next.isEmpty else {
            end([], as: .finished, &folder)
            return nil
        }
        let claim = Array(next.prefix(random.between(1, 3)))
        // As the first check of `RunFile.claim`.
        guard file.epoch == epoch else {
            end([], as: nil, &folder)
            return nil
        }
        folder.files[path]?.takenBack += file.claimed.intersection(claim).count
        folder.marks[file.plan]?.claimed = file.claimCount + claim.count
        let now = folder.next()
        for device in claim {
            folder.files[path]?.claimed.insert(device)
            folder.files[path]?.reachedAt[device] = now
            folder.files[path]?.outcomes[device] = nil
        }
        work = .sending(left: claim)
        return nil
    }

    /// As `RunSender` and `SendPermit.end`.
    private mutating func end(_ left: [Int], as state: SendGate.Facts.State?, _ folder: inout RunsFolderModel) {
        for device in left { folder.files[path]?.outcomes[device] = .unsent }
        if let state { folder.files[path]?.state = state }
        if let file = folder.files[path], folder.record[file.plan]?.epoch == epoch {
            folder.record[file.plan]?.reached = file.reached
            folder.record[file.plan]?.claimed = file.claimCount
            folder.record[file.plan]?.isOver = true
            folder.marks[file.plan] = nil
        }
        die(&folder)
    }
}
