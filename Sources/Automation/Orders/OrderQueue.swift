import Base
import Reports
import Runs

/// Decides which orders are carried out, in which order, and what to do with those that a dead
/// process left. It has no clock, files or threads, like `Scheduler`: events go in as calls, and
/// the calls return actions, which must be done in order. The process may die between any two.
///
/// - Before anything is done, the order is on record as taken by this process. Orders that are
///   taken once (`Order.Kind.isTakenOnce`) are never carried out by another process: an order whose
///   process is gone is *left*, with the state of its run. The others are carried out again.
/// - Orders of one subject begin in the order in which they were placed, one after the other. An
///   order that has a run sent makes the next ones wait only until it has begun: a run may be
///   paused, and resumed, while it is sent.
/// - A pause or a cancellation goes before all that wait, and voids earlier orders that would have
///   the same run sent: the last order counts.
/// - Plans are made one after the other. Among those that wait, people take turns: a person's plan
///   waits for the current one and then for at most one of each other person, however many they
///   ordered.
/// - An order that has waited too long lapses (`Order.hasLapsed`), and is never carried out.
/// - A damaged order may have been a cancellation, or a refusal: orders that it may forbid are
///   refused, and all others are carried out.
struct OrderQueue {
    /// Something to do. If one cannot be done, the following ones must not be done either; the next
    /// reading returns them again.
    enum Action: Hashable {
        /// Record that this process has the order; `former` is the epoch of the process that had it
        /// before. Answered by `took`, if it could be recorded.
        case take(PlacedOrder, from: String?)
        /// Carry it out. Answered by `ended`, `found`, or by `begun` and then one of them.
        case perform(PlacedOrder)
        /// Find the state of an order whose process is gone. Answered by `found`.
        case examine(PlacedOrder)
        /// Record its end. Answered by `recorded`, if it could be.
        case end(PlacedOrder, OrderState)
    }

    /// The progress of this process with an order.
    enum Phase: Hashable {
        /// Nothing that others may see has happened yet.
        case doing
        /// Its run is being sent.
        case sending
        case examining
        /// It is over, and that is not on record yet.
        case ending(OrderState)

        /// Whether the next orders of its subject have to wait.
        var isExclusive: Bool { self != .sending }
    }

    /// The name of this process among those that take orders.
    let epoch: String
    /// Orders that this process took from one that was gone. It does so once: if that process were
    /// still there, the two would take them from each other endlessly.
    private var takenOver: Set<String> = []
    private(set) var inHand: [String: (placed: PlacedOrder, phase: Phase)] = [:]
    /// When a plan of each person was begun last, as a count of plans.
    private var planTurns: [String: Int] = [:]

    /// - Parameter epoch: random, so that no other process has it.
    init(epoch: String) { self.epoch = epoch }

    // MARK: - Events

    /// Takes the orders that have not ended, in the order in which they were placed. Call it often.
    /// - Parameters:
    ///   - damaged: those that cannot be read, and may not have ended.
    ///   - isTaking: whether further orders are begun; a process that is about to end begins none.
    func read(_ orders: [PlacedOrder], damaged: [DamagedOrder] = [], isTaking: Bool = true, at moment: OrderMoment)
        -> [Action]
    {
        var takenSubjects = TakenSubjects(
            isPlanning: inHand.values.contains { if case .plan = $0.placed.order.kind { true } else { false } })
        var actions: [Action] = []
        // Ended orders that could not be recorded before.
        for entry in inHand.values.sorted(by: { $0.placed.number < $1.placed.number }) {
            if case .ending(let state) = entry.phase { actions.append(.end(entry.placed, state)) }
        }
        let lastWords = lastWords(orders, at: moment)
        /// Plans that could be begun, with their places among the actions.
        var plans: [(placed: PlacedOrder, place: Int)] = []
        for placed in orders {
            if let phase = inHand[placed.order.nonce]?.phase {
                takenSubjects.note(placed.order.kind, isDone: true, isExclusive: phase.isExclusive)
                continue
            }
            let obstacle = damaged.first { $0.mayForbid(placed.order.kind) }
            let action =
                obstacle.map { refusal(of: placed, because: $0, isTaking: isTaking, at: moment) }
                ?? action(for: placed, isTaking: isTaking, takenSubjects, lastWords, at: moment)
            let isTaken = action.map { if case .take = $0 { true } else { false } } ?? false
            let isPlan = if case .plan = placed.order.kind { true } else { false }
            takenSubjects.note(
                placed.order.kind, isDone: isTaken && !isPlan,
                isExclusive: !placed.state.hasEnded && !(action?.isEnd ?? false))
            if isTaken, isPlan { plans.append((placed, actions.count)) } else if let action { actions.append(action) }
        }
        if let next = plans.min(by: { planRank($0.placed) < planRank($1.placed) }) {
            actions.insert(.take(next.placed, from: nil), at: next.place)
        }
        return actions
    }

    /// The person whose plan was begun longest ago goes first, and for one person, the order that
    /// was placed first.
    private func planRank(_ placed: PlacedOrder) -> (Int, Int64) { (planTurns[placed.order.by] ?? 0, placed.number) }

    /// The order is recorded as taken by this process.
    mutating func took(_ placed: PlacedOrder) -> [Action] {
        if case .taken = placed.state { takenOver.insert(placed.order.nonce) }
        if case .plan = placed.order.kind { planTurns[placed.order.by] = (planTurns.values.max() ?? 0) + 1 }
        var own = placed
        own.state = .taken(epoch: epoch)
        inHand[placed.order.nonce] = (own, .doing)
        return [.perform(own)]
    }

    /// An order is about to be examined.
    mutating func examines(_ placed: PlacedOrder) { inHand[placed.order.nonce] = (placed, .examining) }

    /// The run of an order is on record as running: pauses and other orders of it can be done.
    mutating func begun(_ nonce: String) {
        if inHand[nonce]?.phase == .doing { inHand[nonce]?.phase = .sending }
    }

    /// An order was done, was refused, or lapsed before its turn came.
    mutating func ended(_ nonce: String, as state: OrderState) -> [Action] {
        guard let placed = inHand[nonce]?.placed else { return [] }
        inHand[nonce]?.phase = .ending(state)
        return [.end(placed, state)]
    }

    /// The state of an order that is not carried out again.
    mutating func found(_ nonce: String, _ remains: OrderRemains) -> [Action] {
        guard let placed = inHand[nonce]?.placed else { return [] }
        // A plan is complete when its run appears under its name; nothing had to be sent.
        if case .plan = placed.order.kind, case .notBegun(let run) = remains {
            return ended(nonce, as: .done(OrderResult(run: run)))
        }
        return ended(nonce, as: .left(remains))
    }

    /// The end of an order is on record, by this process or by another.
    mutating func recorded(_ nonce: String) { inHand[nonce] = nil }

    // MARK: - Decisions

    /// The place of the last pause or cancellation of each run that will be done or is being done.
    private func lastWords(_ orders: [PlacedOrder], at moment: OrderMoment) -> [Order.Kind.Subject: Int64] {
        var last: [Order.Kind.Subject: Int64] = [:]
        for placed in orders
        where placed.order.kind.overtakes && !(placed.state == .waiting && placed.order.hasLapsed(at: moment)) {
            last[placed.order.kind.subject] = placed.number
        }
        return last
    }

    /// The action for an order that a damaged one may forbid.
    private func refusal(of placed: PlacedOrder, because damaged: DamagedOrder, isTaking: Bool, at moment: OrderMoment)
        -> Action?
    {
        switch placed.state {
        case .waiting where placed.order.hasLapsed(at: moment): .end(placed, .lapsed)
        case .waiting:
            .end(
                placed, .refused(.described("an order that cannot be read may forbid it: \(damaged.mistake.inConsole)"))
            )
        // A process that no longer exists may have begun it.
        case .taken: isTaking ? .examine(placed) : nil
        case .done, .refused, .lapsed, .left: nil
        }
    }

    private func action(
        for placed: PlacedOrder, isTaking: Bool, _ takenSubjects: TakenSubjects,
        _ lastWords: [Order.Kind.Subject: Int64],
        at moment: OrderMoment
    ) -> Action? {
        let kind = placed.order.kind
        switch placed.state {
        case .waiting:
            if placed.order.hasLapsed(at: moment) { return .end(placed, .lapsed) }
            if kind.sendsItsRun, let later = lastWords[kind.subject], later > placed.number {
                return .end(placed, .refused(.overtaken))
            }
            return isTaking && takenSubjects.isFree(for: kind) ? .take(placed, from: nil) : nil
        case .taken(let former):
            // Also one of this process that it is not working on: its taking could not be reported,
            // so nothing was done.
            guard isTaking else { return nil }
            let isOver =
                kind.isTakenOnce || takenOver.contains(placed.order.nonce) || placed.order.hasLapsed(at: moment)
            if isOver { return .examine(placed) }
            return takenSubjects.isFree(for: kind) ? .take(placed, from: former) : nil
        case .done, .refused, .lapsed, .left: return nil
        }
    }

    /// The subjects that are taken by earlier orders.
    private struct TakenSubjects {
        /// With an order that is not over, or has not begun to send.
        private var busy: Set<Order.Kind.Subject> = []
        /// With an order that pauses or cancels.
        private var held: Set<Order.Kind.Subject> = []
        /// With an order to send the run that this process has taken and not begun.
        private var beginning: Set<Order.Kind.Subject> = []
        /// Whether a plan is being made: one after the other, as each uses all cores, and waiting
        /// ones may still lapse.
        private var isPlanning: Bool

        init(isPlanning: Bool) { self.isPlanning = isPlanning }

        func isFree(for kind: Order.Kind) -> Bool {
            // A pause waits for the run to begin, as it would find nothing to pause.
            if kind.overtakes { return !held.contains(kind.subject) && !beginning.contains(kind.subject) }
            if case .plan = kind, isPlanning { return false }
            return !busy.contains(kind.subject)
        }

        mutating func note(_ kind: Order.Kind, isDone: Bool, isExclusive: Bool) {
            guard isExclusive else { return }
            busy.insert(kind.subject)
            if kind.overtakes { held.insert(kind.subject) }
            if isDone, kind.sendsItsRun { beginning.insert(kind.subject) }
            if isDone, case .plan = kind { isPlanning = true }
        }
    }
}

extension OrderQueue.Action {
    fileprivate var isEnd: Bool { if case .end = self { true } else { false } }
}
