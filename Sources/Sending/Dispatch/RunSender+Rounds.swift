import Workspace
import Base
import Content
import Delivery
import Cluster
import PushServices
import Runs
import Synchronization

/// A round: sending to some recipients, the segments among them side by side, until they are
/// settled or sending must stop.
extension RunSender {
    /// Sends to some recipients, the segments among them side by side, until they are settled or
    /// sending must stop.
    /// - Parameters:
    ///   - start: the moment from which the expiry counts.
    ///   - moment: when quiet hours begin for them; nil if none do.
    ///   - calls: what is in doubt at services that recognize repeats.
    ///   - rounds: what this epoch has sent before.
    func deliver(
        _ ids: Range<Int>, startingAt start: Timestamp, until moment: Timestamp? = nil, after calls: EarlierCalls,
        in rounds: inout SendRounds
    ) throws -> (RunEnd, SendControl.StopRequest?) {
        let capped: CappedRecipients?
        do { capped = try cappedRecipients() } catch let end as SendingRevoked { throw end } catch {
            return (.stopped(.described("\(error)")), nil)
        }
        // Reading the frequency history may have taken until quiet hours began.
        if let moment, clock.now() >= moment { return (.interrupted, .quietHours) }
        let results = BoundedQueue<[Settlement]>(capacity: 64)
        let figures = try figuresSoFar()
        let state: SendState, segments: [SegmentSending]
        do throws(Diagnostic) {
            state = try SendState(total: run.plan.audience, settled: settled(figures, besides: calls))
            segments = capped == nil ? [] : try self.segments(of: ids, besides: rounds)
        } catch { return (.stopped(.notSent("\(error)")), nil) }
        state.claims.start(at: try run.claims().made)
        session?.beginRound(figures, segments)
        let holds = try holdsOfServices()
        var threads = SegmentThreads(results)
        do throws(Diagnostic) {
            threads.recorder = try WorkerThread("record") { record(from: results, state, segments) }
            for segment in segments {
                let earlier = rounds.answers(of: segment.segment.service, figures)
                var settings = senderSettings(segment.access, startingAt: start)
                let part =
                    Double(segment.segment.ids.count) / Double(max(1, segments.reduce(0) { $0 + $1.segment.ids.count }))
                settings.sharedPaces = rounds.paces(ofService: segment.segment.service, weight: part)
                settings.heldUntil = holds[segment.segment.service]
                if segment.access.service.statistics != nil { settings.receipts = segment.receipts }
                if segment.access.isProtected { settings.commitCalls = { commit($0, of: segment, state, segments) } }
                let sender = try Sender(settings)
                // The thread that claims starts last: if another one cannot start, nothing was
                // claimed.
                threads.senders.append(
                    try WorkerThread("deliver") {
                        defer {
                            segment.noteEnd()
                            if !segments.contains(where: \.isGoing) { state.ended.wake() }
                        }
                        return sender.run(
                            source: segment.batches, results: results, control: segment.control, after: earlier,
                            closingResults: false)
                    })
                threads.readers.append(
                    try WorkerThread("read") {
                        read(segment, with: makeReader(segment, state, capped: capped, calls), state, segments)
                    })
            }
        } catch {
            giveBack(threads.end(segments).leftover, because: .stopped, state)
            return (.stopped(.notSent("\(error)")), nil)
        }
        if segments.isEmpty { state.ended.wake() }
        watch(state, segments, until: moment)
        let (ends, leftover) = threads.end(segments)
        session?.endRound()
        giveBack(leftover, because: segments.requested?.reason ?? .stopped, state)
        if state.capped > 0 { options.observer(.capped(state.capped)) }
        let now = try figuresSoFar()
        for segment in segments { rounds.noteEnd(of: segment.segment.service, now) }
        if let failure = state.failure.withLock({ $0 }) { return (.stopped(failure), nil) }
        let end = try roundEnd(zip(segments, ends).map { ($0.segment, $1) }, &rounds), asked = segments.requested
        return (end == .interrupted && asked == .cancelled ? .cancelled : end, asked)
    }

    /// How a round ended, by the ends of its segments. A service that stops does not keep the
    /// others from going on.
    private func roundEnd(_ ends: [(segment: RunSegment, end: RunEnd)], _ rounds: inout SendRounds) throws -> RunEnd {
        for (segment, end) in ends {
            guard case .stopped(let cause) = end else { continue }
            if concernsOnlyThisMachine(cause) { return end }
            if let held = cause.heldUntil { try run.append(.segment(segment, SegmentState(heldUntil: held))) }
            guard services.count > 1, cause.isOfService else { return end }
            rounds.stopped[segment.service] = cause
            try run.append(.segment(segment, SegmentState(heldUntil: cause.heldUntil, cause: cause)))
        }
        return ends.contains { $0.end == .interrupted } ? .interrupted : .finished
    }

    /// The rounds of an epoch, before the first. Services through which nothing can be sent have
    /// stopped, if anything is left for them.
    func begunRounds() throws -> SendRounds {
        var rounds = SendRounds(self)
        let figures = try figuresSoFar()
        for (number, access) in services.enumerated() {
            guard let cause = access.obstacle else { continue }
            let segments = run.plan.segments.filter { $0.service == number }
            let settledCount = figures.map { settled($0.figures(ofService: number), access).values.reduce(0, +) } ?? 0
            guard segments.reduce(0, { $0 + $1.ids.count }) > settledCount else { continue }
            rounds.stopped[number] = cause
            for segment in segments where !segment.ids.isEmpty {
                try run.append(.segment(segment, SegmentState(cause: cause)))
            }
        }
        return rounds
    }

    /// Until when services take no pushes, by their numbers, as they said to this epoch or an
    /// earlier one.
    private func holdsOfServices() throws -> [Int: Timestamp] {
        let states = try run.status().segments
        return run.plan.segments.reduce(into: [:]) { holds, segment in
            guard let held = states[segment.ids.lowerBound]?.heldUntil else { return }
            holds[segment.service] = max(held, holds[segment.service] ?? held)
        }
    }

    /// The segments of some recipients that are still to be sent.
    private func segments(of ids: Range<Int>, besides rounds: SendRounds) throws(Diagnostic) -> [SegmentSending] {
        var segments: [SegmentSending] = []
        for segment in run.plan.segments(of: ids) where rounds.stopped[segment.service] == nil && mayBegin(segment) {
            let access = services[segment.service]
            segments.append(try SegmentSending(segment, access, queue: queuedBatches(access)))
        }
        return segments
    }

    /// The run's figures; nil if nothing was sent.
    private func figuresSoFar() throws -> RunFigures? {
        try run.claims().claimed.isEmpty ? nil : run.figures(withGroups: false)
    }

    /// The recipients that stay settled, by outcome.
    private func settled(_ figures: RunFigures?, besides calls: EarlierCalls) -> [Outcome: Int] {
        guard let figures else { return [:] }
        var settled: [Outcome: Int] = services.enumerated().reduce(into: [:]) { sum, entry in
            let (number, access) = entry
            sum.merge(self.settled(figures.figures(ofService: number), access), uniquingKeysWith: +)
        }
        // They count as unknown as long as they have no outcome.
        for (number, access) in services.enumerated() where !access.resendsUnknown {
            settled[.unknown, default: 0] -= calls.inDoubt(atService: number)
        }
        return settled
    }

    /// The recipients of a service that stay settled, by outcome.
    private func settled(_ figures: RunFigures, _ access: ServiceAccess) -> [Outcome: Int] {
        var settled = figures.outcomes.filter { $0.key != .unsent }
        if access.resendsUnknown { settled[.unknown] = figures.count(.refusedAgain) }
        return settled
    }

    /// Records recipients that were claimed but never handed over as unsent.
    private func giveBack(_ leftover: [Int], because reason: OwnReason, _ state: SendState) {
        let settlements = leftover.map { Settlement(recipient: $0, outcome: .unsent, own: reason, settledAt: .now()) }
        do { try run.append(.settled([state.completed(settlements)])) } catch is SendingRevoked {
            state.fail(.ledger(.takenOver))
        } catch {
            state.fail(.ledger(.recordingFailed("\(error)")))
        }
    }

    /// The most batches between the reader and the sender of a segment. Without a pace they keep
    /// the sender busy while the next claim is prepared. With a pace, every claim ahead only adds
    /// devices that a crash would leave unknown.
    private func queuedBatches(_ access: ServiceAccess) -> Int {
        access.paces.isEmpty ? max(4, threads ?? availableCores()) : 2
    }

    private func makeReader(
        _ segment: SegmentSending, _ state: SendState, capped: CappedRecipients?, _ calls: EarlierCalls
    ) -> PushReader {
        var reader = PushReader(
            run: run, messages: messages, paces: segment.access.paces, resendsUnknown: segment.access.resendsUnknown,
            allowance: segment.allowance, now: clock.now, capped: capped ?? CappedRecipients(),
            onCapped: { unsent in
                state.noteCapped(unsent.count)
                state.progress.add(unsent)
                options.observer(.settled(unsent))
            }, onEarlierAttempts: state.noteAttempts, onInDoubt: state.noteInDoubt)
        reader.furtherMessages = (1..<segment.access.renderers(threads: threads ?? availableCores())).map { _ in
            (try? MessageCatalog(frozenIn: run.plan)) ?? messages
        }
        reader.service = segment.segment.service
        reader.repeats = calls.repeats(in: segment.segment)
        reader.generations = calls.generations(atService: segment.segment.service)
        reader.claims = state.claims
        if let ledger = session?.ledger {
            reader.worthwhileClaim = SharedLedger.worthwhileClaim
            reader.leaseAgain = ledger.leaseAgain
        }
        reader.onClaimed = { claimed in
            do { try run.append(.claimsNoted(claimed)) } catch {
                state.fail(.ledger(.claimNotNoted("\(error)")))
                return false
            }
            return true
        }
        return reader
    }

    /// Commits the names of calls of a segment. If that fails, they never leave, and sending ends.
    private func commit(
        _ calls: [NamedCall], of segment: SegmentSending, _ state: SendState, _ segments: [SegmentSending]
    ) -> Bool {
        do {
            try run.append(
                .callsNamed(
                    calls.map { call in
                        var call = call
                        call.service = segment.segment.service
                        return call
                    }))
            return true
        } catch let end as SendingRevoked {
            segments.interrupt(.cancelled)
            if !end.isCancelled { state.fail(.ledger(.takenOver)) }
        } catch {
            state.fail(.ledger(.recordingFailed("\(error)")))
            segments.interrupt()
        }
        return false
    }

    /// - Returns: recipients that were claimed but not handed over.
    private func read(
        _ segment: SegmentSending, with reader: PushReader, _ state: SendState, _ segments: [SegmentSending]
    ) -> [Int] {
        defer { segment.batches.close() }
        do { return try reader.read(segment.segment.ids, into: segment.batches) } catch let end as SendingRevoked {
            segments.interrupt(.cancelled)
            if !end.isCancelled { state.fail(.ledger(.takenOver)) }
            return []
        } catch {
            state.fail(.ledger(.readingFailed("\(error)")))
            // What its sender has is sent; the others end, as their claims could not be read
            // either.
            for other in segments where other !== segment { other.control.interrupt() }
            return []
        }
    }
}

/// What an epoch of a run has sent so far, and which of its services stopped.
struct SendRounds {
    /// Why services stopped, by their numbers.
    var stopped: [Int: StopCause] = [:]
    private var earlier: [EarlierSendings?]
    private let services: [ServiceAccess]
    /// The app's and the campaign's for each service, by their numbers. All rounds keep the same
    /// ones, or a second that two rounds share would have too many.
    private let servicePaces: [[SharedPace]]
    /// The app's and the campaign's of devices, which all services keep together.
    private let devicePaces: [SharedPace]

    init(_ stage: RunSender) {
        let (registry, plan) = (stage.options.context.paces, stage.run.plan)
        services = stage.services
        earlier = services.map { _ in nil }
        servicePaces = services.map { access in
            [
                registry.ofService(byRunsOf: plan.app, access.settings),
                registry.ofService(ofRun: plan.id, access.settings),
            ]
            .compactMap(\.self)
        }
        devicePaces = [
            registry.ofDevices(byRunsOf: plan.app, stage.settings), registry.ofDevices(ofRun: plan.id, stage.settings),
        ]
        .compactMap(\.self)
    }

    /// The paces that a sender to a service keeps.
    /// - Parameter weight: the service's part of the devices.
    func paces(ofService service: Int, weight: Double) -> [PaceAllotment] {
        servicePaces[service].map { PaceAllotment(of: $0) } + devicePaces.map { PaceAllotment(of: $0, weight: weight) }
    }

    /// The answers that the next sender to a service must count.
    /// - Parameter figures: of the run; nil if nothing was sent.
    mutating func answers(of service: Int, _ figures: RunFigures?) -> EarlierAnswers {
        let own = figures?.figures(ofService: service)
        let sendings =
            earlier[service] ?? EarlierSendings(services[service].settings.stopLimits, own, services[service].service)
        earlier[service] = sendings
        return sendings.answers(own)
    }

    /// Notes that a sender to a service has ended.
    mutating func noteEnd(of service: Int, _ figures: RunFigures?) {
        earlier[service]?.noteEnd(figures?.figures(ofService: service))
    }
}

/// The threads of a round.
private struct SegmentThreads {
    let results: BoundedQueue<[Settlement]>
    var recorder: WorkerThread<Void>?
    var senders: [WorkerThread<RunEnd>] = []
    var readers: [WorkerThread<[Int]>] = []

    init(_ results: BoundedQueue<[Settlement]>) { self.results = results }

    /// Waits for all of them. A sender may have stopped while its reader was about to hand over one
    /// more batch.
    /// - Returns: how the senders ended, and recipients that were claimed but not handed over.
    func end(_ segments: [SegmentSending]) -> (ends: [RunEnd], leftover: [Int]) {
        for segment in segments { segment.batches.close() }
        let ends = senders.map { $0.join() }
        let leftover = readers.flatMap { $0.join() }
        results.close()
        recorder?.join()
        return (ends, leftover)
    }
}
