import Base
import Delivery
import Runs
import TestSupport

@testable import Automation

/// A world in which people place orders and senders carry them out, are killed between any two
/// steps, lose their disk, and have their clocks set. The queue, its registry and the gate before
/// sending are the real ones; runs and the record are values in memory. A seed decides what
/// happens.
struct OrderWorld {
    enum Invariant: String {
        case doneOnce = "what is taken once is done at most once"
        case lapsed = "nothing lapsed is done, and nothing fresh lapses"
        case ended = "each order ends"
        case told = "the end of an order says what happened"
        case inOrder = "orders of a subject begin in their order"
        case lastWord = "what was placed before a pause or cancellation does not begin after it"
        case oneSender = "one process sends a run, and begins it once"
        case onePlaced = "a form that is sent twice is one order"
    }

    /// A run, as its file has it.
    struct Run {
        var state = SendGate.Facts.State.planned
        var hasBegun = false, isPaused = false, isCancelling = false
        /// The work that has its lock.
        var holder: Int?
        var beginnings = 0
    }

    /// Work on one order, step by step.
    struct Work {
        var number: Int
        var placed: PlacedOrder
        var stage = 0
        var run: String?
        var gate: SendGate?
        var action: SendGate.Action?
        var isSending = false
    }

    struct Process {
        var registry: OrderRegistry
        var epoch: String
        var looks: [Work] = [], plans: [Work] = [], sends: [Work] = []
        /// Examinations that wait for the looking thread.
        var remains: [PlacedOrder] = []
        var events: [(nonce: String, answer: OrderWork.Answer)] = []

        var hasWork: Bool { !(looks.isEmpty && plans.isEmpty && sends.isEmpty && remains.isEmpty) }
    }

    var random: SeededRandom
    let table = MemoryOrders()
    var runs: [String: Run] = [:]
    var processes: [Process] = []
    private(set) var failures: [String] = []
    private(set) var met: Set<String> = []

    // Time in milliseconds: the true one, the error of the clock, and the machine's last start.
    var now: Int64 = 1_800_000_000_000
    private var clockError: Int64 = 0
    private var start: Int64 = 0
    private(set) var starts = 0
    /// When each order was placed, in true time, and after which start of the machine.
    var placedAt: [String: (time: Int64, starts: Int)] = [:]

    // What happened, beyond any kill.
    var workNumbers = 0
    /// How orders ended, according to processes that were not killed since.
    private(set) var answers: [String: (state: OrderState, epoch: String)] = [:]
    var effects: [String: Int] = [:], created: [String: Int] = [:]
    private var lastBegun: [Order.Kind.Subject: Int64] = [:]
    private var lastWord: [Order.Kind.Subject: Int64] = [:]
    /// Whether two senders were there at once, as when the lock's file was removed: the state that
    /// one sees of the other's orders is soon outdated.
    private(set) var wasDouble = false
    private(set) var mayFail = true
    private var isCalm = false
    private var runCount = 1
    /// People that have lost their rights.
    var withoutRights: Set<String> = []

    init(seed: UInt64) { random = SeededRandom(seed) }

    mutating func chance(_ perMille: Int) -> Bool { below(1000) < perMille }
    mutating func below(_ bound: Int) -> Int { Int(truncatingIfNeeded: (random.next() >> 33) % UInt64(bound)) }

    var moment: OrderMoment {
        OrderMoment(
            time: Timestamp(epochMilliseconds: now + clockError),
            uptime: Uptime(start: "start \(starts)", milliseconds: now - start))
    }

    mutating func fail(_ invariant: Invariant, _ text: String) { failures.append("\(invariant.rawValue): \(text)") }
    mutating func change(_ id: String, _ body: (inout Run) -> Void) {
        guard var run = runs[id] else { return }
        body(&run)
        runs[id] = run
    }
    mutating func meet(_ what: String) { met.insert(what) }

    // MARK: - A history

    mutating func run() {
        runCount = 1 + below(3)
        for number in 0..<runCount { runs["run \(number)"] = Run() }
        // In some histories things go well, so that runs get far enough to be paused, resumed and
        // cancelled.
        isCalm = chance(300)
        if chance(800) { launch() }
        for _ in 0..<(20 + below(40)) { step() }
        settle()
        judge()
    }

    private mutating func step() {
        switch below(20) {
        case 0...3: order()
        case 4...8: if !processes.isEmpty { look(below(processes.count)) }
        case 9...15:
            guard !processes.isEmpty else { return }
            let index = below(processes.count), thread = below(4)
            for _ in 0...below(6) { advance(index, thread: thread) }
        case 16: pass()
        case 17: if processes.isEmpty || chance(30) { launch() }
        case 18:
            if !isCalm, !processes.isEmpty, chance(300) {
                chance(400) ? terminate(below(processes.count)) : kill(below(processes.count))
            }
        default: if isCalm { for index in processes.indices { look(index) } } else { disturb() }
        }
    }

    /// All faults are over: everything comes to its end.
    private mutating func settle() {
        (table.fault, mayFail) = (.none, false)
        if processes.isEmpty { launch() }
        for _ in 0..<100 where table.rows.contains(where: { !$0.state.hasEnded }) {
            for index in processes.indices { look(index) }
            // Long enough for any work.
            for index in processes.indices {
                for _ in 0..<12 where processes[index].hasWork {
                    for thread in [0, 1] { advance(index, thread: thread) }
                    for place in processes[index].sends.indices.reversed() { advanceSending(index, place) }
                }
            }
            // A paused run stays paused until a person resumes it.
            for id in runs.keys where runs[id]?.isPaused == true { runs[id]?.isPaused = false }
        }
    }

    private mutating func pass() { now += Int64(!isCalm && chance(300) ? 60_000 + below(1_200_000) : below(20_000)) }

    private mutating func disturb() {
        switch below(6) {
        case 0: clockError += Int64(below(7_200_000)) - 3_600_000
        case 1: table.fault = .after(1 + below(3), hasWritten: chance(500))
        case 2 where chance(200):
            // The machine starts again.
            (processes, answers) = ([], [:])
            releaseLocks(all: true)
            now += 20_000
            (start, starts) = (now, starts + 1)
            meet("restart")
        case 3: if chance(200) { withoutRights.formSymmetricDifference(["eve"]) }
        default: pass()
        }
    }

    // MARK: - People

    private mutating func order() {
        // People resume what they see paused.
        let paused = runs.keys.sorted().first { runs[$0]?.isPaused == true }
        let run = paused ?? "run \(below(runCount))", file = "/file \(below(2))"
        let nonce =
            chance(200) && !table.rows.isEmpty
            ? table.rows[below(table.rows.count)].order.nonce : "nonce \(table.rows.count)"
        if let known = table.row(nonce) {
            // A double click or a reload: later, by another clock, but the same form.
            let again = Order(nonce: nonce, kind: known.order.kind, by: known.order.by, at: moment)
            if (try? table.place(again)) != known { fail(.onePlaced, nonce) }
            return meet("placed twice")
        }
        let kinds: [Order.Kind] = [
            .send(run: run, digest: "d"), .send(run: run, digest: chance(100) ? "other" : "d"), .resume(run: run),
            .resume(run: run),
            .pause(run: run), .pause(run: run), .cancel(run: run), .approve(run: run, digest: "d"),
            .reject(run: run, digest: "d", reason: ""),
            .retry(run: run), .test(file: file, digest: "d"), .plan(file: file, digest: "d"),
        ]
        let order = Order(nonce: nonce, kind: kinds[below(kinds.count)], by: chance(50) ? "eve" : "anna", at: moment)
        placedAt[nonce] = (now, starts)
        if (try? table.place(order))?.order != order { fail(.onePlaced, nonce) }
    }

    // MARK: - Processes

    private mutating func launch() {
        let epoch = "life \(workNumbers)"
        workNumbers += 1
        if !processes.isEmpty {
            wasDouble = true
            meet("two senders")
        }
        processes.append(Process(registry: OrderRegistry(epoch: epoch) { [table] in table }, epoch: epoch))
    }

    private mutating func kill(_ index: Int) {
        let killed = processes.remove(at: index)
        answers = answers.filter { $0.value.epoch != killed.epoch }
        releaseLocks(all: false)
        meet("kill")
    }

    /// The system gives back the locks of processes that are gone. A run that was being sent is cut
    /// off.
    private mutating func releaseLocks(all: Bool) {
        let alive = Set(processes.flatMap { $0.sends.map(\.number) + $0.looks.map(\.number) })
        for (id, run) in runs where run.holder.map({ all || !alive.contains($0) }) ?? false {
            change(id) { ($0.holder, $0.isPaused, $0.isCancelling) = (nil, false, false) }
        }
    }

    /// SIGTERM: runs stop cleanly, and the ends of orders are recorded. Orders that wait for a
    /// thread stay unchanged.
    private mutating func terminate(_ index: Int) {
        for work in processes[index].sends {
            processes[index].events.append((work.placed.order.nonce, interrupt(work)))
        }
        (processes[index].sends, processes[index].looks, processes[index].plans) = ([], [], [])
        let (registry, epoch) = (processes[index].registry, processes[index].epoch)
        for (nonce, answer) in processes[index].events { handle(nonce, answer, registry, epoch) }
        processes[index].events = []
        table.fault = .none
        _ = registry.look(isTaking: false, at: moment)
        processes.remove(at: index)
        releaseLocks(all: false)
        meet("ended cleanly")
    }

    /// One turn of the main loop. The process may be killed at any call of the record in it.
    private mutating func look(_ index: Int) {
        let isKilled = mayFail && !isCalm && chance(30)
        if isKilled { table.fault = .after(1 + below(4), hasWritten: chance(500)) }
        let (registry, epoch) = (processes[index].registry, processes[index].epoch)
        for (nonce, answer) in processes[index].events { handle(nonce, answer, registry, epoch) }
        processes[index].events = []
        let steps = registry.look(at: moment)
        if isKilled {
            table.fault = .none
            return kill(index)
        }
        if steps.failure != nil { meet("record fails") }
        processes[index].remains += steps.toExamine
        for placed in steps.toDo { begin(placed, index) }
    }

    private mutating func handle(
        _ nonce: String, _ answer: OrderWork.Answer, _ registry: OrderRegistry, _ epoch: String
    ) {
        switch answer {
        case .begun: registry.begun(nonce)
        case .ended(let state):
            answers[nonce] = (state, epoch)
            _ = registry.ended(nonce, as: state, at: moment)
        case .remains(let remains): _ = registry.found(nonce, remains, at: moment)
        }
    }

    private mutating func begin(_ placed: PlacedOrder, _ index: Int) {
        let kind = placed.order.kind
        checkTurn(placed)
        workNumbers += 1
        let work = Work(number: workNumbers, placed: placed, run: kind.run)
        switch kind.thread {
        case .own: processes[index].sends.append(work)
        case .plans: processes[index].plans.append(work)
        case .looks, .scheduler: processes[index].looks.append(work)
        }
    }

    private mutating func checkTurn(_ placed: PlacedOrder) {
        let kind = placed.order.kind
        guard !wasDouble else { return }
        if kind.overtakes {
            lastWord[kind.subject] = max(placed.number, lastWord[kind.subject] ?? 0)
        } else {
            if let last = lastBegun[kind.subject], last > placed.number {
                fail(.inOrder, "\(placed.number) begins after \(last)")
            }
            lastBegun[kind.subject] = placed.number
            if kind.sendsItsRun, let last = lastWord[kind.subject], last > placed.number {
                fail(.lastWord, "\(kind.name) \(placed.number) begins after \(last)")
            }
        }
    }
}
