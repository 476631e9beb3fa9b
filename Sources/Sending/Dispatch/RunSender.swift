import Workspace
import Audience
public import Base
import Campaigns
import Content
import Delivery
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
    /// Its services, in their order.
    let services: [ServiceAccess]
    let settings: RunSettings
    let messages: MessageCatalog
    let attendance: RunAttendance
    /// The clock by which a run in waves waits.
    var clock = WaitClock.system
    /// The most threads that deliver; nil for one per core.
    var threads: Int?
    /// Returns why the run may not go on after a wait; nil if it may.
    var refusal: @Sendable () throws -> Diagnostic? = { nil }

    /// The most batches between the reader and the sender of a leg. Without a pace they keep the sender busy while the next claim is prepared.
    /// With a pace, every claim ahead only adds devices that a crash would leave unknown.
    private func queuedBatches(_ access: ServiceAccess) -> Int {
        access.pace == nil ? max(4, threads ?? availableCores()) : 2
    }

    /// Checks, before the run is recorded as running, that its services can be sent to.
    /// - Throws: `Diagnostic`: the run could not be sent. Nothing was sent.
    func prepare() throws {
        let start = try run.status().startedAt ?? Timestamp.now()
        for access in services { _ = try Sender(senderSettings(access, startingAt: start)) }
        try history.check(for: run.plan, in: catalog)
        for access in services {
            attendance.observer(
                .destination(
                    .init(
                        run: run.plan.id, endpoint: access.endpoint.description, proxy: access.route.proxyText,
                        topic: access.settings.firstService.topic, pace: access.pace)))
        }
    }

    /// Sends until everything is settled, the run must stop, or a person interrupts or cancels it; waits while it is paused. The run must
    /// be on record as running, and this process must have the right to send it (`SendPermission.pass`). So an error here is how the run
    /// ended, never "nothing was sent".
    /// - Returns: how the run ended. If recording fails, it ends as stopped.
    package func send() -> RunEnd {
        attendance.observer(.begins)
        do { return recorded(run.plan.waves.isEmpty ? try sendUntilEnd() : try sendWaves()) } catch {
            return recorded(.stopped(.ledger(.unusable("\(error)"))))
        }
    }

    /// The settings for a sender of the run to one of its services.
    /// - Parameter start: the moment from which the expiry counts. An expiry "after 4 hours" counts from the beginning of the run, however often
    ///   it is resumed; in waves, from the beginning of each wave.
    func senderSettings(_ access: ServiceAccess, startingAt start: Timestamp) -> SenderSettings {
        let settings = access.settings
        var sender = SenderSettings(
            access.service, endpoint: access.endpoint, credentials: access.credentials,
            options: settings.options(startingAt: start, label: run.plan.id), runSeed: run.plan.seed)
        sender.pace = settings.firstService.pace
        sender.sharedPace = attendance.context.paces.shared(byRunsOf: run.plan.app, settings)
        sender.deadline = settings.deadline(startingAt: start)
        sender.resendsUnknown = access.resendsUnknown
        sender.stopLimits = settings.stopLimits
        if let threads { sender.loops = threads }
        access.route.apply(to: &sender)
        return sender
    }

    /// Records claimed devices without an outcome as unknown, unless they are sent to again. No other process sends this run now, so a
    /// process that died left them behind. Where services recognize repeats, more is known of them.
    /// - Returns: what is still in doubt at services that recognize repeats.
    func recordLost() throws -> EarlierCalls {
        let protected = services.indices.filter { services[$0].isProtected }
        let skipping = services.indices.filter { !services[$0].resendsUnknown && !services[$0].isProtected }
        guard !skipping.isEmpty || !protected.isEmpty, try !run.claims().isEmpty else { return EarlierCalls() }
        if skipping.count == services.count {
            _ = try run.recordLost(at: .now())
            return EarlierCalls()
        }
        for number in skipping { try run.recordLost(ofService: number, at: .now()) }
        return try EarlierCalls(of: run, protected.map { ($0, services[$0].service) }, at: clock.now())
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
                return cause(of: [number: .service(service.name, .targetsRefused(reason: reason, TargetRefusals(evidence)))])
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
    private func sendUntilEnd() throws -> RunEnd {
        var rounds = SendRounds(services)
        let start = try run.status().startedAt ?? clock.now()
        while true {
            let calls = try recordLost()
            switch try deliver(0..<run.plan.audience, startingAt: start, after: calls, in: &rounds) {
            case (.finished, _): return ended(rounds)
            case (.stopped(let cause), _): return .stopped(cause)
            case (.interrupted, .cancelled): return .cancelled
            case (.interrupted, .paused):
                try run.noteEvidenceAtRest()
                if let end = waitWhilePaused() { return end }
            case (.interrupted, _): return .interrupted
            }
        }
    }

    /// How a run ended whose legs have all ended.
    func ended(_ rounds: SendRounds) -> RunEnd { rounds.stopped.isEmpty ? .finished : .stopped(cause(of: rounds.stopped)) }

    /// Why a run stopped, by the numbers of the services that stopped.
    func cause(of stopped: [Int: StopCause]) -> StopCause {
        if services.count == 1, let cause = stopped[0] { return cause }
        let used = Set(run.plan.legs.filter { !$0.ids.isEmpty }.map(\.service))
        return .services(
            PartialStop(
                stopped: stopped.sorted { $0.key < $1.key }.map { .init(service: services[$0.key].service.name, cause: $0.value) },
                finished: services.indices.filter { used.contains($0) && stopped[$0] == nil }.map { services[$0].service.name }))
    }

    /// Sends to some recipients, the legs among them side by side, until they are settled or sending must stop.
    /// - Parameters:
    ///   - start: the moment from which the expiry counts.
    ///   - moment: when quiet hours begin for them; nil if none do.
    ///   - calls: what is in doubt at services that recognize repeats.
    ///   - rounds: what this life has sent before.
    func deliver(
        _ ids: Range<Int>, startingAt start: Timestamp, until moment: Timestamp? = nil, after calls: EarlierCalls,
        in rounds: inout SendRounds
    ) throws -> (SendEnd, SendControl.StopRequest?) {
        let capped: CappedDevices?
        do { capped = try history.cappedDevices(for: run, in: catalog) } catch { return (.stopped(.described("\(error)")), nil) }
        // Reading the frequency history may have taken until quiet hours began.
        if let moment, clock.now() >= moment { return (.interrupted, .quietHours) }
        let results = BoundedQueue<[Settlement]>(capacity: 64)
        let figures = try figuresSoFar()
        let state: SendState, legs: [LegSending]
        do throws(Diagnostic) {
            state = try SendState(total: run.plan.audience, settled: settled(figures, besides: calls))
            legs = try self.legs(of: ids, besides: rounds)
        } catch { return (.stopped(.notSent("\(error)")), nil) }
        state.claims.start(at: try run.claimCount())
        let holds = try holdsOfServices()
        var threads = LegThreads(results)
        do throws(Diagnostic) {
            threads.recorder = try WorkerThread("record") { record(from: results, state, legs) }
            for leg in legs {
                let earlier = rounds.answers(of: leg.leg.service, figures)
                var settings = senderSettings(leg.access, startingAt: start)
                settings.heldUntil = holds[leg.leg.service]
                if leg.access.service.statistics != nil { settings.receipts = leg.receipts }
                if leg.access.isProtected { settings.commitCalls = { commit($0, of: leg, state, legs) } }
                let sender = try Sender(settings)
                // The thread that claims starts last: if another one cannot start, nothing was claimed.
                threads.senders.append(
                    try WorkerThread("deliver") {
                        defer {
                            leg.noteEnd()
                            if !legs.contains(where: \.isGoing) { state.ended.wake() }
                        }
                        return sender.run(
                            source: leg.batches, results: results, control: leg.control, after: earlier, closingResults: false)
                    })
                threads.readers.append(
                    try WorkerThread("read") { read(leg, with: makeReader(leg, state, capped: capped, calls), state, legs) })
            }
        } catch {
            giveBack(threads.end(legs).leftover, because: .stopped, state)
            return (.stopped(.notSent("\(error)")), nil)
        }
        if legs.isEmpty { state.ended.wake() }
        watch(state, legs, until: moment)
        let (ends, leftover) = threads.end(legs)
        giveBack(leftover, because: legs.requested?.reason ?? .stopped, state)
        if state.capped > 0 { attendance.observer(.capped(state.capped)) }
        let now = try figuresSoFar()
        for leg in legs { rounds.noteEnd(of: leg.leg.service, now) }
        if let failure = state.failure.withLock({ $0 }) { return (.stopped(failure), nil) }
        return (try roundEnd(zip(legs, ends).map { ($0.leg, $1) }, &rounds), legs.requested)
    }

    /// How a round ended, by the ends of its legs. A service that stops does not keep the others from going on.
    private func roundEnd(_ ends: [(leg: RunLeg, end: SendEnd)], _ rounds: inout SendRounds) throws -> SendEnd {
        for (leg, end) in ends {
            guard case .stopped(let cause) = end else { continue }
            if let held = cause.heldUntil { try run.setState(LegState(heldUntil: held), of: leg) }
            guard services.count > 1, cause.isOfService else { return end }
            rounds.stopped[leg.service] = cause
            try run.setState(LegState(heldUntil: cause.heldUntil, cause: cause), of: leg)
        }
        return ends.contains { $0.end == .interrupted } ? .interrupted : .finished
    }

    /// Until when services take no pushes, by their numbers, as they said to this life or an earlier one.
    private func holdsOfServices() throws -> [Int: Timestamp] {
        let states = try run.legStates()
        return run.plan.legs.reduce(into: [:]) { holds, leg in
            guard let held = states[leg.ids.lowerBound]?.heldUntil else { return }
            holds[leg.service] = max(held, holds[leg.service] ?? held)
        }
    }

    /// The legs of some recipients that are still to be sent.
    private func legs(of ids: Range<Int>, besides rounds: SendRounds) throws(Diagnostic) -> [LegSending] {
        var legs: [LegSending] = []
        for leg in run.plan.legs(of: ids) where rounds.stopped[leg.service] == nil {
            let access = services[leg.service]
            legs.append(try LegSending(leg, access, queue: queuedBatches(access)))
        }
        return legs
    }

    /// The run's figures; nil if nothing was sent.
    private func figuresSoFar() throws -> RunFigures? { try run.claims().isEmpty ? nil : run.figures() }

    /// The recipients that stay settled, by outcome.
    private func settled(_ figures: RunFigures?, besides calls: EarlierCalls) -> [Outcome: Int] {
        guard let figures else { return [:] }
        var settled: [Outcome: Int] = services.enumerated().reduce(into: [:]) { sum, entry in
            let (number, access) = entry
            for (outcome, count) in figures.figures(ofService: number).outcomes
            where outcome != .unsent && !(outcome == .unknown && access.resendsUnknown) { sum[outcome, default: 0] += count }
        }
        // They count as unknown as long as they have no outcome.
        for (number, access) in services.enumerated() where !access.resendsUnknown {
            settled[.unknown, default: 0] -= calls.inDoubt(atService: number)
        }
        return settled
    }

    /// Records recipients that were claimed but never handed over as unsent.
    private func giveBack(_ leftover: [Int], because reason: OwnReason, _ state: SendState) {
        let settlements = leftover.map { Settlement(recipient: $0, outcome: .unsent, own: reason, settledAt: .now()) }
        do { try run.record(state.completed(settlements)) } catch { state.fail(.ledger(.recordingFailed("\(error)"))) }
    }

    /// How many threads read the run's file at the same time.
    var readers: Int { services.reduce(0) { $0 + $1.renderers(threads: threads ?? availableCores()) } }

    private func makeReader(_ leg: LegSending, _ state: SendState, capped: CappedDevices?, _ calls: EarlierCalls) -> PushReader {
        var reader = PushReader(
            run: run, messages: messages, pace: leg.access.pace, resendsUnknown: leg.access.resendsUnknown,
            allowance: leg.allowance, now: clock.now, capped: capped,
            onCapped: { unsent in
                state.noteCapped(unsent.count)
                state.progress.add(unsent)
                attendance.observer(.settled(unsent))
            }, onEarlierAttempts: state.noteAttempts, onInDoubt: state.noteInDoubt)
        reader.furtherMessages = (1..<leg.access.renderers(threads: threads ?? availableCores())).map { _ in
            (try? MessageCatalog(frozenIn: run.plan)) ?? messages
        }
        reader.service = leg.leg.service
        reader.batching = leg.access.service.batching
        reader.repeats = calls.repeats(in: leg.leg)
        reader.generations = calls.generations(atService: leg.leg.service)
        reader.claims = state.claims
        reader.onClaimed = { claimed in
            do { try run.note(claimed: claimed) } catch {
                state.fail(.ledger(.claimNotNoted("\(error)")))
                return false
            }
            return true
        }
        return reader
    }

    /// Commits the names of calls of a leg. If that fails, they never leave, and sending ends.
    private func commit(_ calls: [NamedCall], of leg: LegSending, _ state: SendState, _ legs: [LegSending]) -> Bool {
        do {
            try run.name(
                calls.map { call in
                    var call = call
                    call.service = leg.leg.service
                    return call
                })
            return true
        } catch let end as NotSending {
            legs.interrupt(.cancelled)
            if !end.isCancelled { state.fail(.ledger(.takenOver)) }
        } catch {
            state.fail(.ledger(.recordingFailed("\(error)")))
            legs.interrupt()
        }
        return false
    }

    /// - Returns: recipients that were claimed but not handed over.
    private func read(_ leg: LegSending, with reader: PushReader, _ state: SendState, _ legs: [LegSending]) -> [Int] {
        defer { leg.batches.close() }
        do { return try reader.read(leg.leg.ids, into: leg.batches) } catch let end as NotSending {
            legs.interrupt(.cancelled)
            if !end.isCancelled { state.fail(.ledger(.takenOver)) }
            return []
        } catch {
            state.fail(.ledger(.readingFailed("\(error)")))
            // What its sender has is sent; the others end, as their claims could not be read either.
            for other in legs where other !== leg { other.control.interrupt() }
            return []
        }
    }
}

/// What a life of a run has sent so far, and which of its services stopped.
struct SendRounds {
    /// Why services stopped, by their numbers.
    var stopped: [Int: StopCause] = [:]
    private var earlier: [EarlierSendings?]
    private let services: [ServiceAccess]

    init(_ services: [ServiceAccess]) {
        self.services = services
        earlier = services.map { _ in nil }
    }

    /// The answers that the next sender to a service must count.
    /// - Parameter figures: of the run; nil if nothing was sent.
    mutating func answers(of service: Int, _ figures: RunFigures?) -> EarlierAnswers {
        let own = figures?.figures(ofService: service)
        let sendings = earlier[service] ?? EarlierSendings(services[service].settings.stopLimits, own, services[service].service)
        earlier[service] = sendings
        return sendings.answers(own)
    }

    /// Notes that a sender to a service has ended.
    mutating func noteEnd(of service: Int, _ figures: RunFigures?) { earlier[service]?.noteEnd(figures?.figures(ofService: service)) }
}

/// The threads of a round.
private struct LegThreads {
    let results: BoundedQueue<[Settlement]>
    var recorder: WorkerThread<Void>?
    var senders: [WorkerThread<SendEnd>] = []
    var readers: [WorkerThread<[Int]>] = []

    init(_ results: BoundedQueue<[Settlement]>) { self.results = results }

    /// Waits for all of them. A sender may have stopped while its reader was about to hand over one more batch.
    /// - Returns: how the senders ended, and recipients that were claimed but not handed over.
    func end(_ legs: [LegSending]) -> (ends: [SendEnd], leftover: [Int]) {
        for leg in legs { leg.batches.close() }
        let ends = senders.map { $0.join() }
        let leftover = readers.flatMap { $0.join() }
        results.close()
        recorder?.join()
        return (ends, leftover)
    }
}

extension RunLedger {
    /// Records the devices of a service that were claimed and have no outcome as unknown: what a killed process left behind.
    fileprivate func recordLost(ofService number: Int, at now: Timestamp) throws {
        let own = plan.ids(ofService: number)
        for range in try claimedWithoutOutcome() {
            for ids in own.ranges(in: range) {
                for start in stride(from: ids.lowerBound, to: ids.upperBound, by: 10_000) {
                    let part = start..<min(start + 10_000, ids.upperBound)
                    try record(part.map { Settlement(recipient: $0, outcome: .unknown, own: .interrupted, settledAt: now) })
                }
            }
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
