import Base
import Delivery
import PostgresRuns
import Runs

/// The watch over a run while it is being sent: its progress, and orders from other processes.
extension RunSender {
    /// Reports the progress, and passes on orders from this terminal and others, until the delivery has ended.
    /// - Parameter moment: when sending must stop; nil for never.
    func watch(_ state: SendState, _ legs: [LegSending], until moment: Timestamp?) {
        var meter = ProgressMeter(), silences = legs.map { _ in SilenceWatch() }
        let begin = ContinuousClock.now
        let cancellation = attendance.cancellation
        while !cancellation.wait(
            milliseconds: legs.isInterrupted ? SendControl.longestRest : rest(until: moment), orUntil: state.ended)
        {
            if cancellation.isRequested, !legs.isInterrupted {
                attendance.observer(.draining)
                legs.interrupt()
            }
            attendance.observer(.tick)
            if !legs.isInterrupted {
                carryOutOrders(legs, state)
                let seconds = (ContinuousClock.now - begin) / .seconds(1)
                for place in legs.indices where legs[place].isGoing { listen(to: legs[place], &silences[place], state, at: seconds) }
            }
            if let moment, !legs.isInterrupted, clock.now() >= moment { legs.interrupt(.quietHours) }
            let held = legs.wait, access = (held?.leg ?? legs.first { $0.isGoing })?.access ?? services[0]
            if var progress = meter.progress(
                state, waitingFor: held?.wait, pace: access.pace, service: access.service,
                isOneOfSeveral: legs.count { $0.isGoing } > 1 && !(held?.wait == .pace && access.sharesPace))
            {
                progress.claimed = state.claims.value
                // Answers of a run that machines share are recorded in its store.
                if team != nil, progress.wait == .runFile { progress.wait = .delivery(.store) }
                progress.legs = legs.filter(\.isGoing).map(LegProgress.init)
                attendance.observer(.progress(progress))
            }
        }
        attendance.observer(.progressOver)
    }

    /// Tells when a service does not answer, and when it does again.
    private func listen(to leg: LegSending, _ silence: inout SilenceWatch, _ state: SendState, at seconds: Double) {
        let service = leg.access.service
        switch silence.look(answered: leg.control.requestsAnswered, isWaiting: leg.control.waitsForService, at: seconds) {
        case .silent(let seconds):
            // What earlier lives of the run settled is not counted by this sender.
            let waiting = max(0, min(leg.leg.ids.count - leg.control.pushesSettled, state.progress.total - state.progress.done))
            attendance.observer(
                .silent(
                    SilentService(
                        service: service, endpoint: leg.access.address, isConnected: leg.control.connections > 0, seconds: seconds,
                        waiting: waiting)))
        case .answersAgain: attendance.observer(.answersAgain(service))
        case nil: break
        }
    }

    /// Milliseconds until the next check, so that nothing is sent after `moment`.
    private func rest(until moment: Timestamp?) -> Int {
        guard let moment else { return SendControl.longestRest }
        return Int(max(0, min(moment.epochMilliseconds - clock.now().epochMilliseconds, Int64(SendControl.longestRest))))
    }

    /// What people ask for; nil if that cannot be read now.
    var order: RunOrder? {
        guard let team else { return (try? run.status())?.order }
        return team.pendingOrder ?? (try? team.ledger.order())
    }

    /// Carries out the order that another process recorded.
    private func carryOutOrders(_ legs: [LegSending], _ state: SendState) {
        if let loss = run.loss(during: .sending) {
            legs.interrupt()
            return state.fail(.ledger(loss))
        }
        team?.steer(legs, state)
        switch order {
        case .pause: legs.interrupt(.paused)
        case .cancel: legs.interrupt(.cancelled)
        case .goOn, nil: break
        }
    }

    /// Waits while the run is paused.
    /// - Returns: how the run ended; nil if it goes on.
    func waitWhilePaused() -> RunEnd? {
        attendance.observer(.paused(run: run.plan.id))
        while true {
            attendance.cancellation.wait(milliseconds: SendControl.longestRest)
            attendance.observer(.tick)
            if attendance.cancellation.isRequested { return .interrupted }
            if let loss = run.loss(during: .paused) { return .stopped(.ledger(loss)) }
            if let end = team?.end { return end }
            switch order {
            case .goOn:
                attendance.observer(.resumed)
                return nil
            case .cancel: return .cancelled
            case .pause, nil: continue
            }
        }
    }
}

extension SendControl {
    /// The longest time between two checks while a run is sent, in milliseconds: a removed run file is noticed within a fifth of a second.
    static let longestRest = 200

    /// Waits for a sender, and interrupts it if it is asked to end.
    /// - Parameters:
    ///   - ended: woken by the sender's thread at its end.
    ///   - cancellation: the request to end.
    ///   - draining: called before the sender is interrupted.
    ///   - rest: milliseconds until the next tick.
    ///   - tick: called after each rest.
    func wait(
        until ended: Wakeup, _ cancellation: Cancellation, draining: () -> Void, rest: () -> Int = { longestRest }, tick: () -> Void = {}
    ) {
        while !cancellation.wait(milliseconds: rest(), orUntil: ended) {
            if cancellation.isRequested, !isInterrupted {
                draining()
                interrupt()
            }
            tick()
        }
    }
}
