import Workspace
import Audience
public import Base
import Campaigns
import Content
package import Delivery
import PushServices
import Runs
import Synchronization

/// Sends a run, from its beginning or from where it was left. One thread reads, claims and renders, one delivers, and one records; bounded
/// queues of batches connect them.
///
/// This order makes a run accountable: a claim is committed before its recipients are handed on, and only pushes that were handed on reach
/// the wire. See docs/architecture.md.
package struct RunSender: Sendable {
    let run: any RunLedger
    /// The runs in the same folder: they show how often their devices were pushed to.
    let catalog: any RunCatalog
    let endpoint: Endpoint
    let credentials: Credentials
    let route: ProxyRoute
    let settings: RunSettings
    let messages: MessageCatalog
    let attendance: RunAttendance
    /// The clock by which a run in waves waits.
    var clock = WaitClock.system
    /// The most threads that deliver; nil for one per core.
    var threads: Int?
    /// Returns why the run may not go on after a wait; nil if it may.
    var refusal: @Sendable () throws -> Diagnostic? = { nil }

    /// The most batches between reader and sender. Without a pace they keep the sender busy while the next claim is prepared. With a pace,
    /// every claim ahead only adds devices that a crash would leave unknown.
    private var queuedBatches: Int { settings.firstService.pace == nil ? max(4, threads ?? availableCores()) : 2 }

    /// The service that receives the pushes.
    private var service: any PushService { settings.service }

    var resendsUnknown: Bool { settings.unknownPolicy == .resend }

    /// Makes the sender, before the run is recorded as running.
    /// - Throws: `Diagnostic`: the run could not be sent. Nothing was sent.
    func sender() throws -> Sender {
        // An expiry "after 4 hours" counts from the beginning of the run, however often it is resumed; in waves, from the beginning of each
        // wave.
        let delivery = try Sender(senderSettings(startingAt: try run.status().startedAt ?? Timestamp.now()))
        try history.check(for: run.plan, in: catalog)
        attendance.observer(
            .destination(
                .init(
                    run: run.plan.id, endpoint: endpoint.description, proxy: route.proxyText, topic: settings.firstService.topic,
                    pace: settings.firstService.pace)))
        return delivery
    }

    /// Sends until everything is settled, the run must stop, or a person interrupts or cancels it; waits while it is paused. The run must
    /// be on record as running, and this process must have the right to send it (`SendPermission.pass`). So an error here is how the run
    /// ended, never "nothing was sent".
    /// - Returns: how the run ended. If recording fails, it ends as stopped.
    package func send(with delivery: Sender) -> RunEnd {
        attendance.observer(.begins)
        guard !run.plan.waves.isEmpty else { return recorded(sendUntilEnd(delivery)) }
        do { return recorded(try sendWaves()) } catch { return recorded(.stopped(.ledger(.unusable("\(error)")))) }
    }

    /// The settings for a sender of the run.
    /// - Parameter start: the moment from which the expiry counts.
    func senderSettings(startingAt start: Timestamp) -> SenderSettings {
        var sender = SenderSettings(
            service, endpoint: endpoint, credentials: credentials, options: settings.options(startingAt: start), runSeed: run.plan.seed)
        sender.pace = settings.firstService.pace
        sender.sharedPace = attendance.context.paces.shared(byRunsOf: run.plan.app, settings)
        sender.deadline = settings.deadline(startingAt: start)
        sender.resendsUnknown = resendsUnknown
        sender.stopLimits = settings.stopLimits
        if let threads { sender.loops = threads }
        route.apply(to: &sender)
        return sender
    }

    /// Records claimed devices without an outcome as unknown, unless they are sent to again. No other process sends this run now, so a
    /// process that died left them behind.
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

    /// Judges the run by all its answers, over all its lives and those of the runs that it retries, and by the answers of its last life.
    /// The sender judges only the answers that it sees, and only from a hundred on. A test is not judged: it shows each outcome by itself
    /// and says nothing about an audience.
    /// - Returns: why the run stopped; nil if it finished.
    private func finish() throws -> StopCause? {
        if run.plan.isTest { return try run.finish(at: .now()) { _ in nil } }
        let earlier = try settings.services.indices.map {
            (run.tokenEvidenceOfRetried(ofService: $0), try run.evidenceBeforeLives(ofService: $0))
        }
        return try run.finish(at: .now()) { figures in
            for (number, (retried, before)) in earlier.enumerated() {
                let (figures, service) = (figures.figures(ofService: number), settings.services[number].service)
                let evidence = RunEvidence(figures.tokenEvidence(of: service), retried: retried, before: before)
                guard evidence.settingsEvidence != nil else { continue }
                let ambiguous = figures.reasons.filter { service.blamingReasons.contains($0.key) }
                // The run that this one retries may have got such answers, rather than this run.
                let reason = ambiguous.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? service.blamingReasons.min() ?? ""
                return .service(service.name, .targetsRefused(reason: reason, TargetRefusals(evidence)))
            }
            return nil
        }
    }

    /// Records an interruption. A request from another process wins, even while the last answers are outstanding: a cancelled run cannot
    /// continue, and a paused run stays paused until it is resumed.
    private func recordedInterruption() throws -> RunEnd {
        if try run.status().state == .running {
            do {
                try run.setState(.stopped, cause: .interrupted, at: .now(), from: [.running])
                return .interrupted
            } catch { if try run.status().state == .running { throw error } }
        }
        return try run.status().state == .cancelled ? recorded(.cancelled) : .interrupted
    }

    /// Sends in rounds, with a pause between them.
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

    /// Sends to some recipients until they are settled or sending must stop.
    /// - Parameters:
    ///   - ids: the recipients to send to.
    ///   - moment: when quiet hours begin for them; nil if none do.
    ///   - earlier: what this life has sent before; nil if nothing.
    func deliver(
        with delivery: Sender, ids: Range<Int>, until moment: Timestamp? = nil, after earlier: inout EarlierSendings?
    ) throws -> (SendEnd, SendControl.StopRequest?) {
        let capped: CappedDevices?
        do { capped = try history.cappedDevices(for: run, in: catalog) } catch { return (.stopped(.described("\(error)")), nil) }
        // Reading the frequency history may have taken until quiet hours began.
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
            control: control, recorded: state.recorded, pace: settings.firstService.pace, batching: service.batching, wakeup: state.claiming
        )
        let recorder: WorkerThread<Void>, loop: WorkerThread<SendEnd>, reader: WorkerThread<[Int]>
        do throws(Diagnostic) {
            // The thread that claims starts last: if another one cannot start, nothing was claimed.
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
                reader = try WorkerThread("read") {
                    read(ids, with: makeReader(allowance, state, capped: capped), into: batches, state, control)
                }
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

    /// The run's figures; nil if nothing was sent.
    private func figuresSoFar() throws -> RunFigures? { try run.claims().isEmpty ? nil : run.figures() }

    /// The recipients that stay settled, by outcome.
    private func settled(_ figures: RunFigures?) -> [Outcome: Int] {
        figures?.outcomes.filter { $0.key != .unsent && !($0.key == .unknown && resendsUnknown) } ?? [:]
    }

    /// Records recipients that were claimed but never handed over as unsent.
    private func giveBack(_ leftover: [Int], because reason: OwnReason, _ state: SendState) {
        let settlements = leftover.map { Settlement(recipient: $0, outcome: .unsent, own: reason, settledAt: .now()) }
        do { try run.record(state.completed(settlements)) } catch { state.fail(.ledger(.recordingFailed("\(error)"))) }
    }

    /// How many threads render, including the one that claims: one for every three loops. For a push, loops need about four times as much
    /// of a core as rendering does.
    var renderers: Int {
        settings.firstService.pace == nil && settings.firstService.appPace == nil ? max(1, ((threads ?? availableCores()) + 2) / 3) : 1
    }

    private var furtherMessages: [MessageCatalog] {
        (1..<renderers).map { _ in (try? MessageCatalog(frozenIn: run.plan)) ?? messages }
    }

    private func makeReader(_ allowance: ClaimBudget, _ state: SendState, capped: CappedDevices?) -> PushReader {
        var reader = PushReader(
            run: run, messages: messages, pace: settings.firstService.pace, resendsUnknown: resendsUnknown, allowance: allowance,
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
        return reader
    }

    /// - Returns: recipients that were claimed but not handed over.
    private func read(
        _ ids: Range<Int>, with reader: PushReader, into batches: BoundedQueue<PushBatch>, _ state: SendState,
        _ control: SendControl
    ) -> [Int] {
        defer { batches.close() }
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
