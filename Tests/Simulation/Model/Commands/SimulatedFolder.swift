import Base
import Delivery

/// Several commands at once on one folder of runs. Between any two of their steps, people plan,
/// approve, cancel, copy files, restore older ones, edit states and change volley.yaml. A seed
/// decides. After every push, its permission is checked.
struct SimulatedFolder {
    private(set) var folder = RunsFolderModel()
    private(set) var violation: Violation?
    /// The situations that were met, by name.
    private(set) var met: Set<String> = []
    private var random: SplitMix
    private var commands: [SimulatedCommand] = []
    private var started = 0
    private var now = 0
    private var backups: [RunsFolderModel.File] = []
    private var copies = 0
    /// The number of pushes to a device, by the first run of its chain.
    private var pushes: [Int: [Int: Int]] = [:]
    /// Pushes of all runs to a device, in order: by which plan, and when.
    private var received: [Int: [(plan: Int, at: Int)]] = [:]
    /// First runs that sent for a time.
    private var senders: [Int: Set<Int>] = [:]
    /// Each folder has its own frequent faults, so that faults that are rarely together meet (swarm
    /// testing, Groce et al., ISSTA 2012).
    private let killing: Int, failing: Int, meddling: Int
    private let meddlers: [Int]

    /// Everything that a million folders must have met; some seeds meet little.
    static let everything: Set<String> = {
        let refusals: [SendGate.Refusal] = [
            .isBusy, .isMisplaced, .isOutdated, .hasOtherState, .neverBegun, .hasBegun, .isChanged, .settingsChanged,
            .needsApproval,
            .isRetried, .parentWentOn, .timeIsTaken, .runsBesideAnother, .isSuperseded,
        ]
        return Set(refusals.map { "\($0)" } + ["begin", "goOn", "retry", "killed in the gate", "killed while sending"])
    }()

    private init(seed: UInt64) {
        var random = SplitMix(seed: seed ^ 0x67A7_E5EE_D000_0001)
        killing = [2, 10, 60][random.below(3)]
        failing = [0, 20, 300][random.below(3)]
        meddling = [3, 6, 20][random.below(3)]
        meddlers = (0..<random.between(2, 8)).map { _ in random.below(10) }
        self.random = random
    }

    /// Runs the folders of a seed, up to the first violation: several folders, because each takes
    /// only a small part of the time of a campaign.
    static func runAll(of seed: UInt64, _ trace: ((String) -> Void)? = nil) -> (met: Set<String>, violation: Violation?)
    {
        var met: Set<String> = []
        for number in 0..<folders {
            var folder = SimulatedFolder(seed: seed &* folders &+ number)
            trace?("folder \(number)")
            folder.run(trace)
            met.formUnion(folder.met)
            if let violation = folder.violation { return (met, violation) }
        }
        return (met, nil)
    }

    private static let folders: UInt64 = 8

    /// - Parameter trace: gets every step that a command makes.
    mutating func run(_ trace: ((String) -> Void)?) {
        folder.demandsApproval = random.oneIn(3)
        plan()
        let most = random.between(2, 14)
        while violation == nil, started < most || commands.contains(where: { !$0.isOver }) {
            now += 1
            if started < most, random.oneIn(4) { start() }
            if random.oneIn(meddling) { meddle() }
            step(trace)
        }
    }

    // MARK: - What happens

    private mutating func plan() {
        let time = random.oneIn(2) ? random.below(2) : nil
        // Of those for the same devices, one may replace another.
        let first = random.oneIn(2) ? 0 : 10 * folder.lastPlan
        folder.plan(Set(first..<first + random.between(1, 5)), time: time)
    }

    private mutating func somePath() -> RunsFolderModel.Path? {
        let paths = folder.files.keys.sorted { $0.order < $1.order }
        return paths.isEmpty ? nil : paths[random.below(paths.count)]
    }

    private mutating func start() {
        guard let path = somePath() else { return plan() }
        started += 1
        let step: SendGate.Step =
            switch folder.files[path]?.state {
            // Usually what makes sense.
            case .planned where !random.oneIn(5): .begin
            case .underway where !random.oneIn(5): .goOn
            case .cancelled, .finished: random.oneIn(2) ? .retry : .goOn
            default: [.begin, .goOn, .retry][random.below(3)]
            }
        commands.append(SimulatedCommand(started, step, path))
    }

    private mutating func step(_ trace: ((String) -> Void)?) {
        let open = commands.indices.filter { !commands[$0].isOver }
        guard !open.isEmpty else { return }
        let index = open[random.below(open.count)]
        if random.happens(killing) {
            met.insert(commands[index].isSending ? "killed while sending" : "killed in the gate")
            commands[index].die(&folder)
            return
        }
        let device = commands[index].doNext(&folder, &random, failing: failing)
        trace?(
            "\(now) command \(commands[index].number) (\(commands[index].step) \(commands[index].path)): \(commands[index].work)"
        )
        checkPassage(commands[index])
        if let refusal = commands[index].refusal, commands[index].isOver { met.insert("\(refusal)") }
        if let device { check(device, commands[index]) }
        if commands[index].isOver, commands[index].isAdmitted { met.insert("\(commands[index].step)") }
        if let retry = commands[index].retry, commands[index].isOver {
            // The same process sends the retry, unless a person is asked, and declines.
            commands[index] = SimulatedCommand(commands[index].number, .begin, .own(retry))
        }
    }

    /// People, other tools, backups.
    private mutating func meddle() {
        guard let path = somePath(), let file = folder.files[path] else { return }
        let isFree = folder.locks[path] == nil
        switch meddlers[random.below(meddlers.count)] {
        case 0: plan()
        case 1: if isFree, file.state == .planned || file.state == .underway { folder.files[path]?.isApproved = true }
        case 2, 3: if file.state == .planned || file.state == .underway { folder.files[path]?.state = .cancelled }
        case 4:
            backups.append(file)
            // Or moved away, to be restored later.
            if isFree, random.oneIn(2) { folder.files[path] = nil }
        case 5:
            guard !backups.isEmpty else { return }
            let backup = backups[random.below(backups.count)]
            if folder.locks[.own(backup.plan)] == nil { folder.files[.own(backup.plan)] = backup }
        case 6:
            copies += 1
            folder.files[.copy(copies)] = file
        case 7:
            // Other retries may have taken over what an abandoned retry would send, and one that
            // has begun must not become one.
            let isRetry = folder.plans[file.plan]?.retryOf != nil
            guard isFree, file.state != .cancelled || file.hasBegun || !isRetry else { return }
            let states: [SendGate.Facts.State] = [.planned, .underway, .cancelled, .finished]
            folder.files[path]?.state = states[random.below(states.count)]
            if random.oneIn(3), !isRetry || !file.hasStart { folder.files[path]?.hasStart.toggle() }
            if random.oneIn(6) { folder.files[path]?.epoch = 0 }
        case 8 where random.oneIn(4): folder.times = [:]
        case 8 where random.oneIn(4): folder.marks[file.plan] = nil
        case 8: folder.project = random.oneIn(2) ? 0 : 1
        default:
            if random.oneIn(2) {
                folder.demandsApproval.toggle()
            } else if random.oneIn(4), isFree {
                folder.files[path]?.isChanged = true
            }
        }
    }

    // MARK: - What must hold

    /// The record would refuse it, too, so nothing is ever pushed; but by then the time is claimed,
    /// and the message differs.
    private mutating func checkPassage(_ command: SimulatedCommand) {
        guard let seen = command.seen, case .gate(let action) = command.work else { return }
        if action == .begin, command.step == .begin { checkPlace(of: command) }
        if action == .claimTime || action == .record, seen.parentWentOn {
            fail(
                .refusedFirst,
                "command \(command.number) comes to \(action), and \(command.path) retries a run that went on")
        }
    }

    /// Runs that were locked before were seen: a plan without a time waits for none of those.
    private mutating func checkPlace(of command: SimulatedCommand) {
        guard let plan = folder.files[command.path].flatMap({ folder.plans[$0.plan] }), plan.time == nil,
            plan.retryOf == nil,
            let own = folder.locks[command.path]
        else { return }
        let other = folder.plans.keys.first { number in
            guard let lock = folder.locks[.own(number)], folder.files[.own(number)] != nil else { return false }
            return lock.isSending && lock.since < own.since
        }
        if let other {
            fail(.oneAtATime, "command \(command.number) begins \(command.path) while run \(other) is sent")
        }
    }

    private mutating func check(_ device: Int, _ command: SimulatedCommand) {
        guard let file = folder.files[command.path], let plan = folder.plans[file.plan] else { return }
        let root = folder.root(of: file.plan)
        pushes[root, default: [:]][device, default: 0] += 1
        if pushes[root]?[device] ?? 0 > 1 {
            fail(.pushedOnce, "device \(device) of run \(root) got its push again, from run \(file.plan)")
        }
        checkPlaces(device, plan, command)
        if let time = plan.time {
            senders[time, default: []].insert(root)
            if senders[time]?.count ?? 0 > 1 {
                fail(.oneTime, "time \(time) was sent by runs \((senders[time] ?? []).sorted())")
            }
        }
        if plan.needsApproval, !file.isApproved {
            fail(.approved, "run \(file.plan) sends without the approval that it needs")
        }
        if command.project != plan.project {
            fail(.asPlanned, "run \(file.plan) goes elsewhere than it was planned to")
        }
        if file.isChanged { fail(.asPlanned, "run \(file.plan) sends what was changed after it was planned") }
        if command.path != .own(file.plan) { fail(.asPlanned, "a copy of run \(file.plan) is sent") }
        if commands.count(where: { $0.isSending && $0.path == command.path }) > 1 {
            fail(.pushedOnce, "two processes send run \(file.plan)")
        }
    }

    /// A plan has what was sent before it was made, and nothing of what others sent later.
    private mutating func checkPlaces(_ device: Int, _ plan: RunsFolderModel.Plan, _ command: SimulatedCommand) {
        guard let number = folder.files[command.path]?.plan, let lock = folder.locks[command.path] else { return }
        let root = folder.root(of: number), isFresh = command.step == .begin && plan.retryOf == nil
        let start = isFresh ? plan.moment : folder.beginning(of: root) ?? plan.moment
        let other = received[device]?.first { push in
            guard folder.root(of: push.plan) != root, push.at > start, let other = folder.plans[push.plan] else {
                return false
            }
            // A run with a time may begin at the same time as one without.
            let isBeside = other.time != nil && plan.time == nil && push.at > lock.since
            return !isBeside && !folder.isOtherTime(other.time, plan.time, isFresh: isFresh)
        }
        if let other {
            fail(
                .oneOfTwo,
                "device \(device) got a push from run \(other.plan), which run \(number) does not know of, and one from that"
            )
        }
        received[device, default: []].append((number, folder.next()))
    }

    private mutating func fail(_ invariant: Invariant, _ text: String) {
        violation = violation ?? Violation(invariant: invariant, text: text, time: Int64(now) * 1_000_000)
    }
}
