import Base
import Delivery
import PostgresRuns
import Runs

/// The watch over a run while it is being sent: its progress, and orders from other processes.
extension RunSender {
    /// Reports the progress, and passes on orders from this terminal and others, until the delivery has ended.
    /// - Parameter moment: when sending must stop; nil for never.
    func watch(_ state: SendState, _ segments: [SegmentSending], until moment: Timestamp?) {
        var meter = ProgressMeter(), silences = segments.map { _ in SilenceWatch() }
        let begin = ContinuousClock.now
        let cancellation = options.cancellation
        while !cancellation.wait(
            milliseconds: segments.isInterrupted ? SendControl.longestRest : rest(until: moment), orUntil: state.ended)
        {
            if cancellation.isRequested, !segments.isInterrupted {
                options.observer(.draining)
                segments.interrupt()
            }
            options.observer(.tick)
            if !segments.isInterrupted {
                carryOutOrders(segments, state)
                let seconds = (ContinuousClock.now - begin) / .seconds(1)
                for place in segments.indices where segments[place].isGoing {
                    listen(to: segments[place], &silences[place], state, at: seconds)
                }
            }
            if let moment, !segments.isInterrupted, clock.now() >= moment { segments.interrupt(.quietHours) }
            let held = segments.wait, access = (held?.segment ?? segments.first { $0.isGoing })?.access ?? services[0]
            if var progress = meter.progress(
                state, waitingFor: held?.wait, pace: access.pace, service: access.service,
                isOneOfSeveral: segments.count { $0.isGoing } > 1 && !(held?.wait == .pace && access.sharesPace))
            {
                progress.claimed = state.claims.value
                // Answers of a run that machines share are recorded in its store.
                if session != nil, progress.wait == .runFile { progress.wait = .delivery(.store) }
                progress.segments = segments.filter(\.isGoing).map(SegmentProgress.init)
                options.observer(.progress(progress))
            }
        }
        options.observer(.progressOver)
    }

    /// Tells when a service does not answer, and when it does again.
    private func listen(to segment: SegmentSending, _ silence: inout SilenceWatch, _ state: SendState, at seconds: Double) {
        let service = segment.access.service
        switch silence.look(answered: segment.control.requestsAnswered, isWaiting: segment.control.waitsForService, at: seconds) {
        case .silent(let seconds):
            // What earlier epochs of the run settled is not counted by this sender.
            let waiting = max(0, min(segment.segment.ids.count - segment.control.pushesSettled, state.progress.total - state.progress.done))
            options.observer(
                .silent(
                    SilentService(
                        service: service, endpoint: segment.access.address, isConnected: segment.control.connections > 0, seconds: seconds,
                        waiting: waiting)))
        case .answersAgain: options.observer(.answersAgain(service))
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
        guard let session else { return (try? run.status())?.order }
        return session.pendingOrder ?? (try? session.ledger.order())
    }

    /// Carries out the order that another process recorded.
    private func carryOutOrders(_ segments: [SegmentSending], _ state: SendState) {
        if let loss = run.loss(during: .sending) {
            segments.interrupt()
            return state.fail(.ledger(loss))
        }
        session?.steer(segments, state)
        switch order {
        case .pause: segments.interrupt(.paused)
        case .cancel: segments.interrupt(.cancelled)
        case .goOn, nil: break
        }
    }

    /// Waits while the run is paused.
    /// - Returns: how the run ended; nil if it continues.
    func waitWhilePaused() -> RunEnd? {
        options.observer(.paused(run: run.plan.id))
        while true {
            options.cancellation.wait(milliseconds: SendControl.longestRest)
            options.observer(.tick)
            if options.cancellation.isRequested { return .interrupted }
            if let loss = run.loss(during: .paused) { return .stopped(.ledger(loss)) }
            if let end = session?.end { return end }
            switch order {
            case .goOn:
                options.observer(.resumed)
                return nil
            case .cancel: return .cancelled
            case .pause, nil: continue
            }
        }
    }
}

extension SendControl {
    /// The longest time between two checks while a run is sent, in milliseconds: a removed run file is noticed within a
    /// fifth of a second.
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
