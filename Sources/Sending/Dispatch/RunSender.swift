import Audience
package import Base
import Campaigns
import Cluster
import Content
import Delivery
import PushServices
import Runs
import Workspace

/// Sends a run, from its beginning or from where it was left. One thread reads, claims and renders,
/// one delivers, and one records; bounded queues of batches connect them.
///
/// This order makes a run accountable: a claim is committed before its recipients are handed on,
/// and only pushes that were handed on reach the wire. See docs/architecture.md.
package struct RunSender: Sendable {
    var run: any RunLedger
    /// The runs in the same folder: they show how often their devices were pushed to.
    let catalog: RunsFolder
    /// Its services, in their order.
    let services: [ServiceAccess]
    let settings: RunSettings
    let messages: MessageCatalog
    let options: RunOptions
    /// The clock by which a run in waves waits.
    var clock = WaitClock.system
    /// The most threads that deliver; nil for one per core.
    var threads: Int?
    /// What this process is where several machines send the run together; nil where it sends alone.
    var session: WorkerSession?
    /// Returns why the run may not continue after a wait; nil if it may.
    var refusal: @Sendable () throws -> Diagnostic? = { nil }

    /// Checks, before the run is recorded as running, that its services can be sent to.
    /// - Throws: `Diagnostic`: the run could not be sent. Nothing was sent.
    func prepare() throws {
        let start = try run.status().startedAt ?? Timestamp.now()
        for access in services where access.obstacle == nil {
            _ = try Sender(senderSettings(access, startingAt: start))
        }
        try history.check(for: run.plan, in: catalog)
        for access in services {
            guard case .open(let endpoint, _) = access.way else { continue }
            options.observer(
                .destination(
                    .init(
                        run: run.plan.id, endpoint: endpoint.description, proxy: access.route.proxyText,
                        topic: access.settings.firstService.topic, pace: access.pace)))
        }
    }

    /// Sends until everything is settled, the run must stop, or a person interrupts or cancels it;
    /// waits while it is paused. The run must be on record as running, and this process must have
    /// the right to send it (`SendPermission.pass`). So an error here is how the run ended, never
    /// "nothing was sent".
    /// - Returns: how the run ended. If recording fails, it ends as stopped.
    package func send() -> RunEnd {
        options.observer(.begins)
        do { return try sendAll() } catch {
            if session?.isStoreGivenUp ?? false { return .interrupted }
            let end = RunEnd.stopped(.ledger(.unusable("\(error)")))
            // One worker's trouble is not the run's.
            return session == nil ? recorded(end) : end
        }
    }

    private func sendAll() throws -> RunEnd {
        if let session { return try sendShared(session) }
        return recorded(run.plan.waves.isEmpty ? try sendUntilEnd() : try sendWaves())
    }

    /// The settings for a sender of the run to one of its services, without its paces
    /// (`SendRounds`).
    /// - Parameter start: the moment from which the expiry counts. An expiry "after 4 hours" counts
    ///   from the beginning of the run, however often it is resumed; in waves, from the beginning
    ///   of each wave.
    func senderSettings(_ access: ServiceAccess, startingAt start: Timestamp) -> SenderSettings {
        guard case .open(let endpoint, let credentials) = access.way else {
            preconditionFailure("nothing is sent through a closed way")
        }
        let settings = access.settings
        var sender = SenderSettings(
            access.service, endpoint: endpoint, credentials: credentials,
            options: settings.options(startingAt: start, label: run.plan.id), runSeed: run.plan.seed)
        sender.deadline = settings.deadline(startingAt: start)
        sender.clock = options.context.clock
        sender.resendsUnknown = access.resendsUnknown
        sender.stopLimits = settings.stopLimits
        if let threads { sender.loops = threads }
        access.route.apply(to: &sender)
        return sender
    }

    /// All paces that the run keeps, with the keys under which machines divide them. To divide
    /// them, keep them until the run's end.
    var paces: [PaceRegistry.Keyed] {
        options.context.paces.paces(ofRun: run.plan.id, ofApp: run.plan.app, settings)
    }

    /// Records claimed devices without an outcome as unknown, unless they get the push again. No
    /// other process sends this run now, so a process that died left them behind. Where services
    /// recognize repeats, more is known of them.
    /// - Returns: what is still in doubt at services that recognize repeats.
    func recordLost() throws -> EarlierCalls {
        // Where several send, the coordinator looks after those that others left behind.
        if session != nil { return EarlierCalls() }
        let protected = services.indices.filter { services[$0].isProtected }
        let skipping = services.indices.filter { !services[$0].resendsUnknown && !services[$0].isProtected }
        guard !skipping.isEmpty || !protected.isEmpty, try !run.claims().claimed.isEmpty else { return EarlierCalls() }
        if skipping.count == services.count {
            try run.append(.lost(at: .now()))
            return EarlierCalls()
        }
        for number in skipping { try recordLost(ofService: number, at: .now()) }
        return try EarlierCalls(of: run, protected.map { ($0, services[$0].service) }, at: clock.now())
    }

    /// Records how the run ended.
    func recorded(_ end: RunEnd) -> RunEnd {
        do {
            switch end {
            case .finished: if let cause = try finish() { return .stopped(cause) }
            case .stopped(let cause): try run.append(.state(.stopped, cause: cause, at: .now()))
            case .interrupted: return try recordedInterruption()
            case .cancelled: try run.append(.state(.cancelled, cause: .cancelled, at: .now()))
            }
            return end
        } catch {
            return .stopped(.ledger(.endNotRecorded("\(error)")))
        }
    }

    /// Judges the run by all its answers, over all its epochs and those of the runs that it
    /// retries, and by the answers of its last epoch. The sender judges only the answers that it
    /// sees, and only from a hundred on. A test is not judged: it shows each outcome by itself and
    /// says nothing about an audience.
    /// - Returns: why the run stopped; nil if it finished.
    private func finish() throws -> StopCause? {
        if run.plan.isTest { return try run.append(.finished(unless: { _ in nil }, at: .now())).objection }
        let earlier = try settings.services.indices.map { try run.answers(ofService: $0) }
        let objection: (RunFigures) -> StopCause? = { figures in
            for (number, answers) in earlier.enumerated() {
                let (figures, service) = (figures.figures(ofService: number), settings.services[number].service)
                let evidence = RunEvidence(
                    figures.tokenEvidence(of: service), retried: answers.ofRetried, before: answers.beforeEpochs)
                guard evidence.settingsEvidence != nil else { continue }
                let ambiguous = figures.reasons.filter { service.blamingReasons.contains($0.key) }
                // The run that this one retries may have got such answers, rather than this run.
                let reason =
                    ambiguous.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? service.blamingReasons.min() ?? ""
                return cause(of: [
                    number: .service(service.name, .targetsRefused(reason: reason, TargetRefusals(evidence)))
                ])
            }
            return nil
        }
        return try run.append(.finished(unless: objection, at: .now())).objection
    }

    /// Records an interruption. A request from another process wins, even while the last answers
    /// are outstanding: a cancelled run cannot continue, and a paused run stays paused until it is
    /// resumed.
    private func recordedInterruption() throws -> RunEnd {
        if try run.status().state == .running {
            do {
                try run.append(.state(.stopped, cause: .interrupted, at: .now(), from: [.running]))
                return .interrupted
            } catch { if try run.status().state == .running { throw error } }
        }
        return try run.status().state == .cancelled ? recorded(.cancelled) : .interrupted
    }

    /// Sends in rounds, with a pause between them.
    private func sendUntilEnd() throws -> RunEnd {
        var rounds = try begunRounds()
        let start = try run.status().startedAt ?? clock.now()
        while true {
            let calls = try recordLost()
            switch try deliver(0..<run.plan.audience, startingAt: start, after: calls, in: &rounds) {
            case (.finished, _): return ended(rounds)
            case (.stopped(let cause), _): return .stopped(cause)
            case (.cancelled, _): return .cancelled
            case (.interrupted, .paused):
                try run.append(.rested)
                if let end = waitWhilePaused() { return end }
            case (.interrupted, _): return .interrupted
            }
        }
    }

    /// How a run ended whose segments have all ended.
    func ended(_ rounds: SendRounds) -> RunEnd {
        var stopped = rounds.stopped
        // Another worker may have stopped a service.
        if session != nil, let states = try? run.status().segments {
            for segment in run.plan.segments {
                if let cause = states[segment.ids.lowerBound]?.cause {
                    stopped[segment.service] = stopped[segment.service] ?? cause
                }
            }
        }
        return stopped.isEmpty ? .finished : .stopped(cause(of: stopped))
    }

    /// Why a run stopped, by the numbers of the services that stopped.
    func cause(of stopped: [Int: StopCause]) -> StopCause {
        if services.count == 1, let cause = stopped[0] { return cause }
        let used = Set(run.plan.segments.filter { !$0.ids.isEmpty }.map(\.service))
        return .services(
            PartialStop(
                stopped: stopped.sorted { $0.key < $1.key }.map {
                    .init(service: services[$0.key].service.name, cause: $0.value)
                },
                finished: services.indices.filter { used.contains($0) && stopped[$0] == nil }.map {
                    services[$0].service.name
                }))
    }

    /// How many threads read the run's file at the same time.
    var readers: Int { services.reduce(0) { $0 + $1.renderers(threads: threads ?? availableCores()) } }

    /// Records the devices of a service that were claimed and have no outcome as unknown: what a
    /// killed process left behind.
    func recordLost(ofService number: Int, at now: Timestamp) throws {
        let own = run.plan.ids(ofService: number)
        for range in try run.unsettled(in: 0..<run.plan.audience, OpenOutcomes()).leftBehind {
            for ids in own.ranges(in: range) { try settle(ids, .unknown, because: .processEnded, at: now, in: run) }
        }
    }
}

/// The frequency caps, checked again when sending begins: other runs may have been sent while the
/// plan waited.
extension RunSender {
    /// The recent pushes to the app's devices. No caps apply to a retry or a test: a person starts
    /// these regardless of what the devices got.
    var history: FrequencyHistory {
        let isCapped = run.plan.retryOf == nil && !run.plan.isTest
        return FrequencyHistory(
            app: run.plan.app, lists: settings.lists, caps: isCapped ? settings.frequencyCaps : [], now: clock.now())
    }

    /// The recipients that may get no more pushes as of now. Where several machines send, the one
    /// that has the run's file finds out, and tells the others.
    /// - Returns: nil if it has not told them yet: this process must not send.
    /// - Throws: `SendingRevoked`; `Diagnostic` when a run cannot be read.
    func cappedRecipients() throws -> CappedRecipients? {
        guard let session else { return CappedRecipients(devices: try history.cappedDevices(for: run, in: catalog)) }
        if history.caps.isEmpty { return CappedRecipients() }
        guard let file = session.mirror?.file else {
            return try session.ledger.cappedIDs().map { CappedRecipients(ids: $0) }
        }
        // The file, not the account in the store, has the moments by which the runs of this folder
        // follow one another.
        var history = history
        history.elsewhere = try session.ledger.reachedElsewhere()
        let devices = try history.cappedDevices(for: file, in: catalog)
        return CappedRecipients(
            ids: try session.ledger.shareCapped(devices.map { devices in { devices.contains(token: $0) } }))
    }

    /// Whether this process may send a segment now: where several send, the coordinator goes first,
    /// and the recipients to leave out must be known.
    func mayBegin(_ segment: RunSegment) -> Bool {
        guard let session else { return true }
        let knowsCapped = session.mirror != nil || history.caps.isEmpty || session.worker.news?.knowsCapped ?? false
        return knowsCapped && session.mayBegin(segment)
    }
}

extension SharedLedger {
    /// The devices that the runs of other machines have sent to.
    fileprivate func reachedElsewhere() throws -> SharedReached { try SharedReached(store) }
}

/// The recipients of a run that may get no more pushes: devices, or recipients by their ids.
struct CappedRecipients: Sendable {
    /// nil if no devices are capped.
    var devices: CappedDevices?
    var ids = BitSet()

    @inline(__always) func contains(_ push: StoredPush) -> Bool {
        ids.contains(push.id) || devices?.contains(token: push.token) ?? false
    }
}

/// The work of the recorder's thread: it writes settlements into the run file.
extension RunSender {
    /// Records settlements, group by group. If the run file cannot be written, sending stops.
    /// Volley then tries to record the rest for a few more seconds, in case disk space is freed.
    func record(from results: BoundedQueue<[Settlement]>, _ state: SendState, _ segments: [SegmentSending]) {
        var unrecorded: [[Settlement]] = []
        let groups = SettlementBatcher(results)
        while let group = groups.next() {
            for part in group.lazy.map(state.completed) {
                state.progress.add(part)
                session?.count(part)
                options.observer(.settled(part))
                unrecorded.append(part)
            }
            do {
                try noteReceipts(segments)
                try run.append(.settled(unrecorded))
                noteRecorded(unrecorded, state, segments)
                unrecorded.removeAll(keepingCapacity: true)
            } catch let end as SendingRevoked {
                segments.interrupt(.cancelled)
                if !end.isCancelled { state.fail(.ledger(.takenOver)) }
            } catch {
                segments.interrupt()
                state.fail(.ledger(.recordingFailed("\(error)")))
            }
        }
        // A store was waited for already.
        var retries = Retries(atMost: session == nil ? 20 : 0, milliseconds: 250)
        while !unrecorded.isEmpty, retries.pause() {
            if (try? run.append(.settled(unrecorded))) != nil { unrecorded = [] }
        }
        try? noteReceipts(segments)
        guard !unrecorded.isEmpty else { return }
        let others: UnknownPolicy = segments.contains { $0.access.resendsUnknown } ? .resend : .skip
        options.observer(.unrecorded(Self.count(unrecorded), byOthers: session == nil ? nil : others))
    }

    /// Records receipts, before the outcomes that came with them.
    private func noteReceipts(_ segments: [SegmentSending]) throws {
        for segment in segments {
            let receipts = segment.receipts.take()
            guard !receipts.isEmpty else { continue }
            do { try run.append(.receipts(receipts, service: segment.segment.service)) } catch {
                segment.receipts.putBack(receipts)
                throw error
            }
        }
    }

    /// The settlements of a part come from one sender, and so are of one segment.
    private func noteRecorded(_ parts: [[Settlement]], _ state: SendState, _ segments: [SegmentSending]) {
        state.recorded.add(Self.count(parts))
        if segments.count == 1 { return segments[0].recorded.add(Self.count(parts)) }
        for part in parts {
            guard let first = part.first,
                let segment = segments.first(where: { $0.segment.ids.contains(first.recipient) })
            else {
                continue
            }
            segment.recorded.add(part.count)
        }
    }

    private static func count(_ parts: [[Settlement]]) -> Int { parts.reduce(0) { $0 + $1.count } }
}
