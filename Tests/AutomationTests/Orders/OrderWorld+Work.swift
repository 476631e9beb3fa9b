import Base
import Delivery
import Runs

@testable import Automation

/// The steps of a sender's threads, in the order in which `OrderWork` and `SendPermission` do it:
/// one step at a time, so that a kill or another process may come between any two.
extension OrderWorld {
    /// One step of one of a process's threads.
    mutating func advance(_ index: Int, thread: Int) {
        switch thread {
        case 0:
            guard !processes[index].plans.isEmpty else { return }
            var work = processes[index].plans[0]
            if let answer = plan(&work) {
                finish(work, answer, index) { $0.plans.removeFirst() }
            } else {
                processes[index].plans[0] = work
            }
        case 1:
            if !processes[index].remains.isEmpty {
                let placed = processes[index].remains.removeFirst()
                processes[index].events.append((placed.order.nonce, .remains(remains(of: placed))))
                return meet("examined")
            }
            guard !processes[index].looks.isEmpty else { return }
            var work = processes[index].looks[0]
            if let answer = change(&work) {
                finish(work, answer, index) { $0.looks.removeFirst() }
            } else {
                processes[index].looks[0] = work
            }
        default:
            guard !processes[index].sends.isEmpty else { return }
            advanceSending(index, below(processes[index].sends.count))
        }
    }

    mutating func advanceSending(_ index: Int, _ place: Int) {
        var work = processes[index].sends[place]
        if let answer = send(&work, index) {
            finish(work, answer, index) { $0.sends.remove(at: place) }
        } else {
            processes[index].sends[place] = work
        }
    }

    private mutating func finish(
        _ work: Work, _ answer: OrderWork.Answer, _ index: Int, _ remove: (inout Process) -> Void
    ) {
        remove(&processes[index])
        processes[index].events.append((work.placed.order.nonce, answer))
    }

    /// Right, time and digest, just before anything is done.
    private mutating func hindrance(_ work: Work) -> OrderState? {
        let order = work.placed.order
        let placed = placedAt[order.nonce] ?? (0, 0)
        let hasWaited = Double(now - placed.time) / 1000 >= order.kind.timeoutSeconds
        if order.hasLapsed(at: moment) {
            if !hasWaited, placed.starts == starts { fail(.lapsed, "\(order.kind.name) lapsed early") }
            return .lapsed
        }
        if hasWaited {
            fail(.lapsed, "\(order.kind.name) is done \((now - placed.time) / 1000) s after it was asked for")
        }
        if withoutRights.contains(order.by) { return .refused(.notPermitted) }
        return switch order.kind {
        case .send(_, "other"): .refused(.planDiffers)
        default: nil
        }
    }

    // MARK: - Small orders

    private mutating func change(_ work: inout Work) -> OrderWork.Answer? {
        if work.stage == 0 {
            work.stage = 1
            return hindrance(work).map { .ended($0) }
        }
        guard let id = work.run, let run = runs[id] else { return .ended(.refused(.described("no run"))) }
        switch work.placed.order.kind {
        case .approve:
            if run.state != .planned { return .ended(.refused(.described("no plan"))) }
        case .reject, .withdraw:
            if run.state == .cancelled { break }
            guard run.state == .planned, !run.hasBegun else { return .ended(.refused(.described("no plan"))) }
            if run.holder != nil { return nil }
            runs[id]?.state = .cancelled
        case .pause:
            guard run.state == .underway, run.holder != nil else { return .ended(.refused(.described("not running"))) }
            runs[id]?.isPaused = true
            meet("paused")
        case .cancel:
            if run.state == .cancelled { break }
            if run.state == .finished { return .ended(.refused(.described("finished"))) }
            if run.holder != nil, run.state != .underway { return nil }
            if run.holder != nil { runs[id]?.isCancelling = true } else { runs[id]?.state = .cancelled }
        case .send, .resume, .retry, .retryUnsent, .test, .plan, .skip, .approveTime, .withdrawApproval:
            preconditionFailure("no small order")
        }
        return .ended(.done(OrderResult(run: id)))
    }

    private mutating func plan(_ work: inout Work) -> OrderWork.Answer? {
        switch work.stage {
        case 0: if let hindrance = hindrance(work) { return .ended(hindrance) }
        case 1: if let answer = note(&work) { return answer }
        case 2: make(work)
        default: return .ended(.done(OrderResult(run: work.run)))
        }
        work.stage += 1
        return nil
    }

    private mutating func note(_ work: inout Work) -> OrderWork.Answer? {
        guard case .taken(let epoch) = work.placed.state else { return .ended(.left(.nothing)) }
        let id = "made by \(work.number)"
        guard (try? table.note(made: id, by: work.placed.order.nonce, epoch: epoch)) == true else {
            return .ended(.left(.nothing))
        }
        work.run = id
        return nil
    }

    /// The file of a new run appears.
    private mutating func make(_ work: Work) {
        runs[work.run ?? ""] = Run()
        created[work.placed.order.nonce, default: 0] += 1
        if case .plan = work.placed.order.kind { effects[work.placed.order.nonce, default: 0] += 1 }
    }

    // MARK: - Sending

    private mutating func send(_ work: inout Work, _ index: Int) -> OrderWork.Answer? {
        if work.isSending { return goOnSending(work) }
        if let action = work.action { return pass(&work, action, index) }
        switch (work.placed.order.kind, work.stage) {
        case (_, 0): if let hindrance = hindrance(work) { return .ended(hindrance) }
        case (.retry(let parent), 1):
            guard let state = runs[parent]?.state, state == .finished || state == .cancelled,
                runs[parent]?.hasBegun == true
            else {
                return .ended(.refused(.nothingToRetry))
            }
            if let answer = note(&work) { return answer }
        case (.test, 1): if let answer = note(&work) { return answer }
        case (.retry, 2), (.test, 2): make(work)
        case (.resume(let id), 1):
            guard let run = runs[id] else { return .ended(.refused(.described("no run"))) }
            if run.holder != nil {
                guard run.isPaused else { return .ended(.refused(.described("is being sent"))) }
                runs[id]?.isPaused = false
                effects[work.placed.order.nonce, default: 0] += 1
                meet("woken")
                return .ended(.done(OrderResult(run: id)))
            }
            start(&work, .goOn)
        default: start(&work, .begin)
        }
        work.stage += 1
        return nil
    }

    private func start(_ work: inout Work, _ step: SendGate.Step) {
        let gate = SendGate(step)
        (work.gate, work.action) = (gate, gate.start())
    }

    private mutating func pass(_ work: inout Work, _ action: SendGate.Action, _ index: Int) -> OrderWork.Answer? {
        guard let id = work.run, let run = runs[id], var gate = work.gate else {
            return .ended(.refused(.described("no run")))
        }
        switch action {
        case .lock:
            let isOurs = run.holder == nil
            if isOurs { runs[id]?.holder = work.number }
            work.action = gate.locked(isOurs)
        case .look:
            work.action = gate.saw(
                .init(
                    isInPlace: true, isOutdated: false, state: run.state, hasBegun: run.hasBegun, isUnchanged: true,
                    settingsHold: true,
                    lacksApproval: false, isRetried: false, parentWentOn: false, isTooLate: false,
                    runsBesideAnother: false,
                    isSuperseded: false, time: .unscheduled))
        case .claimTime, .returnTime: preconditionFailure("these runs have no times")
        case .record: work.action = gate.recorded(true)
        case .begin:
            if run.state == .planned { runs[id]?.beginnings += 1 }
            change(id) { ($0.state, $0.hasBegun) = (.underway, true) }
            if runs[id]?.beginnings ?? 0 > 1 { fail(.oneSender, "\(id) began twice") }
            effects[work.placed.order.nonce, default: 0] += 1
            work.action = gate.began(true)
        case .confirm: work.action = gate.confirmed(true)
        case .admit:
            work.isSending = true
            processes[index].events.append((work.placed.order.nonce, .begun))
            meet("sent by \(work.placed.order.kind.name)")
        case .refuse(let why):
            if why != .isBusy { runs[id]?.holder = nil }
            return .ended(.refused(.described("\(why)")))
        }
        work.gate = gate
        return nil
    }

    private mutating func goOnSending(_ work: Work) -> OrderWork.Answer? {
        guard let id = work.run, let run = runs[id] else { return nil }
        if run.holder != work.number { fail(.oneSender, "\(id) is sent without its lock") }
        if run.isCancelling {
            meet("cancelled")
            return end(id, .cancelled, .cancelled)
        }
        if run.isPaused { return nil }
        return !mayFail || chance(50) ? end(id, .finished, .finished) : nil
    }

    private mutating func end(_ id: String, _ state: SendGate.Facts.State, _ end: RunEnd) -> OrderWork.Answer {
        change(id) { ($0.state, $0.holder, $0.isPaused, $0.isCancelling) = (state, nil, false, false) }
        return .ended(.done(OrderResult(run: id, end: end)))
    }

    /// SIGTERM while this work is done.
    mutating func interrupt(_ work: Work) -> OrderWork.Answer {
        if let id = work.run, work.isSending { return end(id, .underway, .interrupted) }
        if let id = work.run, runs[id]?.holder == work.number { runs[id]?.holder = nil }
        return .remains(remains(of: work.placed))
    }

    mutating func remains(of placed: PlacedOrder) -> OrderRemains {
        guard let id = placed.order.kind.run ?? table.row(placed.order.nonce)?.made, let run = runs[id] else {
            return .nothing
        }
        switch placed.order.kind {
        case .approve, .reject, .withdraw, .pause, .cancel, .skip, .approveTime, .withdrawApproval:
            return .unknown(run: id, "")
        case .send, .resume, .retry, .retryUnsent, .test, .plan: break
        }
        if run.holder != nil { return .elsewhere(run: id) }
        return switch run.state {
        case .planned: .notBegun(run: id)
        case .underway: .unfinished(run: id)
        case .finished: .ended(run: id, .finished)
        case .cancelled: .ended(run: id, .cancelled)
        }
    }
}
