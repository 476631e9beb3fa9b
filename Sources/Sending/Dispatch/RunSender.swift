import Workspace
import Audience
public import Base
import Campaigns
import Content
package import Delivery
import PushServices
import Runs
import Synchronization

/// Sends a run, from its beginning or from where it was left: a thread reads, claims and renders, one delivers, one records; between them
/// bounded queues of batches.
///
/// The order that makes a run accountable: a claim is committed before its recipients are handed on, and nothing
/// reaches the wire but what was handed on. See docs/architecture.md.
package struct RunSender: Sendable {
    let run: any RunLedger
    /// The runs beside it: of how often their devices were pushed to.
    let catalog: any RunCatalog
    let endpoint: Endpoint
    let credentials: Credentials
    let route: ProxyRoute
    let settings: RunSettings
    let messages: MessageCatalog
    let attendance: RunAttendance
    /// By which a run in waves waits.
    var clock = WaitClock.system
    /// Threads that deliver at most; nil for as many as there are cores.
    var threads: Int?
    /// Says why the run may not go on after it has waited; nil when it may.
    var refusal: @Sendable () throws -> Diagnostic? = { nil }

    /// Batches between reader and sender at most. Without a pace they last while the next claim is being prepared; with one, whatever is
    /// claimed ahead only grows what a crash leaves unknown.
    private var queuedBatches: Int { settings.pace == nil ? max(4, threads ?? availableCores()) : 2 }

    /// Who takes the pushes.
    private var service: any PushService { settings.service }

    var resendsUnknown: Bool { settings.unknownPolicy == .resend }

    /// What will send the run, made before the run is recorded as running.
    /// - Throws: `Diagnostic`: it could not send. Nothing was sent.
    func sender() throws -> Sender {
        // What expires "after 4 hours" does so after the run began, however often it is resumed; in waves after each of them.
        let delivery = try Sender(senderSettings(startingAt: try run.status().startedAt ?? Timestamp.now()))
        try history.check(for: run.plan, in: catalog)
        attendance.observer(
            .destination(
                .init(
                    run: run.plan.id, endpoint: endpoint.description, proxy: route.proxyText, topic: settings.topic, pace: settings.pace)))
        return delivery
    }

    /// Sends until everything is settled, the run must stop, or someone interrupts or cancels it; while it is paused it waits. The run is on record as
    /// running, and this process has the right to send it (`SendPermission.pass`): whatever goes wrong is how the run ended, never "nothing was sent".
    /// - Returns: how it ended; also when recording failed, which ends the run as stopped.
    package func send(with delivery: Sender) -> RunEnd {
        attendance.observer(.begins)
        guard !run.plan.waves.isEmpty else { return recorded(sendUntilEnd(delivery)) }
        do { return recorded(try sendWaves()) } catch { return recorded(.stopped(.ledger(.unusable("\(error)")))) }
    }

    /// What the sender needs to know.
    /// - Parameter start: from when on the expiry counts.
    func senderSettings(startingAt start: Timestamp) -> SenderSettings {
        var sender = SenderSettings(
            endpoint: endpoint, credentials: credentials, options: settings.options(startingAt: start), runSeed: run.plan.seed)
        sender.service = service
        sender.pace = settings.pace
        sender.sharedPace = attendance.context.paces.shared(byRunsOf: run.plan.app, settings)
        sender.deadline = settings.deadline(startingAt: start)
        sender.resendsUnknown = resendsUnknown
        sender.stopLimits = settings.stopLimits
        if let threads { sender.loops = threads }
        route.apply(to: &sender)
        return sender
    }

    /// No other process sends this run now: devices that were claimed and have no outcome were left behind by a process that died.
    func recordLost() throws {
        if !resendsUnknown, try !run.claims().isEmpty { _ = try run.recordLost(at: .now()) }
    }

    /// Records how the run ended.
    private func recorded(_ end: RunEnd) -> RunEnd {
        do {
            switch end {
            case .finished: if let cause = try finish() { return .stopped(cause) }
            case .stopped(let cause): try run.setState(.stopped, cause: cause, at: .now())
            case .interrupted: return try recordedInterruption()
            case .cancelled: try run.setState(.cancelled, cause: .cancelled, at: .now())
            }
            return end
        } catch {
            return .stopped(.ledger(.endNotRecorded("\(error)")))
        }
    }

    /// Judges the run by all its answers, over all its lives and those of the runs that it retries, and by those to its last life: the sender judges only what
    /// it sees, and only from a hundred answers on. A test shows each outcome by itself, and teaches nothing about an audience.
    /// - Returns: why it stopped; nil when it finished.
    private func finish() throws -> StopCause? {
        if run.plan.isTest { return try run.finish(at: .now()) { _ in nil } }
        let (retried, before) = (run.tokenEvidenceOfRetried(), try run.evidenceBeforeLives())
        return try run.finish(at: .now()) { figures in
            let evidence = RunEvidence(figures.tokenEvidence(of: service), retried: retried, before: before)
            guard evidence.settingsEvidence != nil else { return nil }
            let ambiguous = figures.reasons.filter { service.blamingReasons.contains($0.key) }
            // It may have been the run that was retried which got such answers.
            let reason = ambiguous.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? service.blamingReasons.min() ?? ""
            return .service(service.name, .targetsRefused(reason: reason, TargetRefusals(evidence)))
        }
    }

    /// A request from elsewhere wins, even while the last answers are awaited: a cancelled run is not continued, and a
    /// paused run stays paused until it is resumed.
    private func recordedInterruption() throws -> RunEnd {
        if try run.status().state == .running {
            do {
                try run.setState(.stopped, cause: .interrupted, at: .now(), from: [.running])
                return .interrupted
            } catch { if try run.status().state == .running { throw error } }
        }
        return try run.status().state == .cancelled ? recorded(.cancelled) : .interrupted
    }

    /// Round after round, with a pause between them.
    private func sendUntilEnd(_ delivery: Sender) -> RunEnd {
        var earlier: EarlierSendings?
        while true {
            let (end, asked): (SendEnd, SendControl.StopRequest?)
            do {
                try recordLost()
                (end, asked) = try deliver(with: delivery, ids: 0..<run.plan.audience, after: &earlier)
            } catch { return .stopped(.ledger(.unusable("\(error)"))) }
            switch (end, asked) {
            case (.finished, _): return .finished
            case (.stopped(let cause), _): return .stopped(cause)
            case (.interrupted, .cancelled): return .cancelled
            case (.interrupted, .paused):
                do { try run.noteEvidenceAtRest() } catch { return .stopped(.ledger(.unusable("\(error)"))) }
                if let end = waitWhilePaused() { return end }
            case (.interrupted, _): return .interrupted
            }
        }
    }

    /// - Parameters:
    ///   - ids: the recipients to send to.
    ///   - earlier: what was sent before in this life; nil when nothing was.
    ///   - moment: when quiet hours begin for them; nil when none do.
    func deliver(
        with delivery: Sender, ids: Range<Int>, until moment: Timestamp? = nil, after earlier: inout EarlierSendings?
    ) throws -> (SendEnd, SendControl.StopRequest?) {
        let capped: CappedDevices?
        do { capped = try history.cappedDevices(for: run, in: catalog) } catch { return (.stopped(.described("\(error)")), nil) }
        // That may have taken a while.
        if let moment, clock.now() >= moment { return (.interrupted, .quietHours) }
        let batches = BoundedQueue<PushBatch>(capacity: queuedBatches)
        let results = BoundedQueue<[Settlement]>(capacity: 64)
        let control = SendControl()
        let figures = try figuresSoFar(), settled = settled(figures)
        let sendings = earlier ?? EarlierSendings(settings.stopLimits, figures, service)
        earlier = sendings
        let answers = sendings.answers(figures)
        let state: SendState
        do throws(Diagnostic) { state = try SendState(total: run.plan.audience, settled: settled) } catch {
            return (.stopped(.notSent("\(error)")), nil)
        }
        batches.wakeWhenClosed(state.claiming)
        let allowance = ClaimBudget(
            control: control, recorded: state.recorded, pace: settings.pace, batching: service.batching, wakeup: state.claiming)
        let recorder: WorkerThread<Void>, loop: WorkerThread<SendEnd>, reader: WorkerThread<[Int]>
        do throws(Diagnostic) {
            // The one that claims starts last: if a thread is missing for another, nothing was claimed.
            recorder = try WorkerThread("record") { record(from: results, state, control) }
            do throws(Diagnostic) {
                loop = try WorkerThread("deliver") {
                    defer { state.ended.wake() }
                    return delivery.run(source: batches, results: results, control: control, after: answers)
                }
            } catch {
                results.close()
                recorder.join()
                throw error
            }
            do throws(Diagnostic) {
                reader = try WorkerThread("read") { read(ids, into: batches, allowance, state, control, capped) }
            } catch {
                batches.close()
                _ = loop.join()
                recorder.join()
                throw error
            }
        } catch { return (.stopped(.notSent("\(error)")), nil) }
        watch(state, control, until: moment)
        let end = loop.join()
        // The sender may have stopped while the reader was about to hand over one more batch.
        batches.close()
        let leftover = reader.join()
        results.close()
        recorder.join()
        giveBack(leftover, because: control.requested?.reason ?? .stopped, state)
        if state.capped > 0 { attendance.observer(.capped(state.capped)) }
        earlier?.noteEnd(try figuresSoFar())
        if let failure = state.failure.withLock({ $0 }) { return (.stopped(failure), nil) }
        return (end, control.requested)
    }

    /// nil when nothing was sent.
    private func figuresSoFar() throws -> RunFigures? { try run.claims().isEmpty ? nil : run.figures() }

    /// Recipients by outcome that stay settled.
    private func settled(_ figures: RunFigures?) -> [Outcome: Int] {
        figures?.outcomes.filter { $0.key != .unsent && !($0.key == .unknown && resendsUnknown) } ?? [:]
    }

    /// Records recipients that were claimed but never handed over.
    private func giveBack(_ leftover: [Int], because reason: OwnReason, _ state: SendState) {
        let settlements = leftover.map { Settlement(recipient: $0, outcome: .unsent, own: reason, settledAt: .now()) }
        do { try run.record(state.completed(settlements)) } catch { state.fail(.ledger(.recordingFailed("\(error)"))) }
    }

    /// Threads that render, the one that claims among them: one for every three loops. Together these take some four times as much of a core for a push.
    var renderers: Int { settings.pace == nil && settings.appPace == nil ? max(1, ((threads ?? availableCores()) + 2) / 3) : 1 }

    private var furtherMessages: [MessageCatalog] {
        (1..<renderers).map { _ in (try? MessageCatalog(frozenIn: run.plan)) ?? messages }
    }

    /// - Returns: recipients that were claimed but not handed over.
    private func read(
        _ ids: Range<Int>, into batches: BoundedQueue<PushBatch>, _ allowance: ClaimBudget, _ state: SendState, _ control: SendControl,
        _ capped: CappedDevices?
    ) -> [Int] {
        defer { batches.close() }
        var reader = PushReader(
            run: run, messages: messages, pace: settings.pace, resendsUnknown: resendsUnknown, allowance: allowance,
            now: clock.now, capped: capped,
            onCapped: { unsent in
                state.noteCapped(unsent.count)
                state.progress.add(unsent)
                attendance.observer(.settled(unsent))
            }, onEarlierAttempts: state.noteAttempts, onInDoubt: state.noteInDoubt)
        reader.furtherMessages = furtherMessages
        reader.batching = service.batching
        reader.onClaimed = { claimed in
            do { try run.note(claimed: claimed) } catch {
                state.fail(.ledger(.claimNotNoted("\(error)")))
                return false
            }
            return true
        }
        do { return try reader.read(ids, into: batches) } catch let end as NotSending {
            control.interrupt(.cancelled)
            if !end.isCancelled { state.fail(.ledger(.takenOver)) }
            return []
        } catch {
            state.fail(.ledger(.readingFailed("\(error)")))
            return []
        }
    }
}

/// How sending a run ended.
public enum RunEnd: Hashable, Sendable {
    /// Every recipient is settled.
    case finished
    /// It would have been wrong to go on.
    case stopped(StopCause)
    /// Ctrl-C or SIGTERM.
    case interrupted
    /// `volley cancel`.
    case cancelled
}
