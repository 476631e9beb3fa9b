import Base
import Delivery
import Runs

/// What is seen to while a run is being sent: its progress, and words from elsewhere.
extension RunSender {
    /// Shows the progress, and passes on what is asked for here and in other terminals, until the delivery has ended.
    /// - Parameter moment: when nothing more may go out; nil for never.
    func watch(_ state: SendState, _ control: SendControl, until moment: Timestamp?) {
        var shown = ShownProgress()
        let rest = { control.isInterrupted ? Interruption.longestRest : self.rest(until: moment) }
        Interruption.pass(to: control, until: state.ended, console, rest: rest) {
            isAlive()
            if !control.isInterrupted { carryOutOrders(control, state) }
            if let moment, !control.isInterrupted, clock.now() >= moment { control.interrupt(.quietHours) }
            shown.show(state, control, console, pace: settings.pace)
        }
        console.clearProgress()
    }

    /// Milliseconds until the next look, so that nothing goes out after a moment.
    private func rest(until moment: Timestamp?) -> Int {
        guard let moment else { return Interruption.longestRest }
        return Int(max(0, min(moment.epochMilliseconds - clock.now().epochMilliseconds, Int64(Interruption.longestRest))))
    }

    /// Does what another process recorded as wanted.
    private func carryOutOrders(_ control: SendControl, _ state: SendState) {
        if let loss = loss(while: "it was being sent") {
            control.interrupt()
            return state.fail(loss)
        }
        switch try? run.status().state {
        case .paused: control.interrupt(.paused)
        case .cancelled: control.interrupt(.cancelled)
        default: break
        }
    }

    /// Why the run may not be sent any longer, as its file, what belongs to it, or the right to send it is gone; nil while all are there.
    func loss(while doing: String) -> String? {
        guard run.isInPlace else { return "The run file \(run.path) was removed or replaced while \(doing)." }
        if let missing = files?.missing {
            return "\(missing) was removed or replaced while \(doing): without it the account of the run would be lost."
        }
        do { try run.keepLock() } catch { return "Another volley took over while \(doing), as its lock file was removed. \(error)" }
        return nil
    }

    /// Waits until the run goes on (nil) or ends.
    func waitWhilePaused() -> RunEnd? {
        console.say("Paused. `volley resume \(run.plan.id)` in another terminal goes on, Ctrl-C ends here.")
        while true {
            Interruption.rest(milliseconds: Interruption.longestRest)
            isAlive()
            if Interruption.isRequested { return .interrupted }
            if let loss = loss(while: "the run was paused") { return .stopped(reason: loss) }
            switch try? run.status().state {
            case .running:
                console.say("Going on.")
                return nil
            case .cancelled: return .cancelled
            default: continue
            }
        }
    }
}

/// How far a run is and what it waits for: a line that is overwritten on a terminal, few lines elsewhere.
private struct ShownProgress {
    private let clock = ContinuousClock()
    private let start = ContinuousClock.now
    private var claimCounter: [(at: ContinuousClock.Instant, done: Int)] = []
    private var recording = RecordingWatch()
    private var sparse = SparseProgress()

    mutating func show(_ state: SendState, _ control: SendControl, _ console: Console, pace: Pace?) {
        guard console.showsProgress || console.staysInformed, let rate = rate(state.progress.done) else { return }
        let seconds = (clock.now - start) / .seconds(1)
        let isStuck = recording.isStuck(answered: state.progress.doneHere - state.capped, recorded: state.recorded.value, at: seconds)
        let wait = isStuck ? .runFile : control.wait.map { ProgressWait.delivery($0) }
        let line = state.progress.line(rate: rate, waitingFor: wait?.words(pace: pace))
        if console.showsProgress { return console.progress(line) }
        if sparse.isDue(wait, at: seconds) { console.say(line) }
    }

    /// Pushes per second over the last two seconds; nil when it was asked only a moment ago.
    private mutating func rate(_ done: Int) -> Double? {
        if let last = claimCounter.last, clock.now - last.at < .milliseconds(200) { return nil }
        claimCounter.append((clock.now, done))
        if claimCounter.count > 10 { claimCounter.removeFirst() }
        let seconds = (claimCounter[claimCounter.count - 1].at - claimCounter[0].at) / .seconds(1)
        return Double(done - claimCounter[0].done) / max(seconds, 0.001)
    }
}
