import Base
import PushServices

/// Drives the machine on one thread: tells it what happened, carries out what it decides, and
/// sleeps whenever nothing is due.
struct SenderLoop<Carrier: Transport>: ~Copyable {
    /// The longest sleep. The machine takes a gap of a second for a stall. Other threads wake the
    /// loop earlier when they need it.
    private static var longestSleep: Int64 { 500_000_000 }
    private static var flushInterval: Int64 { 100_000_000 }
    private static var groupLimit: Int { 1000 }
    private static var tellingInterval: Int64 { 200_000_000 }

    private let settings: SenderSettings
    private let source: BoundedQueue<PushBatch>
    private let results: BoundedQueue<[Settlement]>
    private let loopGroup: LoopGroup
    private let place: Int
    private var machine: DeliveryMachine
    private var store = PushStore()
    private var texts: TextIndex
    private let template: RequestTemplate
    /// The request body under construction.
    private var body: [UInt8] = []
    private let transport: Carrier
    private var actions: [DeliveryMachine.Action] = []
    private var isSourceEmpty = false
    private var flushedAt: Int64 = 0
    private var waitToldAt: Int64 = 0
    /// Where the connections' tokens come from; nil with a client certificate.
    private let tokens: (any TokenSource)?
    private var tokenWatch = CredentialRenewal()
    /// Names requests; nil where the service needs no names.
    private let namer: RequestNamer?
    private var load = ThreadLoad()
    private var hasAskedForHelp = false
    private var pushesTaken = 0
    private var pushesStarted = 0
    private var pushesSettled = 0
    private var requestsAnswered = 0
    /// Accepted pushes of this loop that the others were told of, and those that they told this one
    /// of.
    private var acceptedTold = 0, acceptedByOthers = 0
    /// Settlements that were put into the queue of results.
    private var pushesHandedOver = 0

    init(
        _ transport: Carrier, _ settings: SenderSettings, machine machineSettings: MachineSettings,
        queues: SenderQueues,
        loopGroup: LoopContext
    ) {
        self.settings = settings
        source = queues.source
        results = queues.results
        self.loopGroup = loopGroup.group
        self.transport = transport
        template = settings.request
        texts = TextIndex(settings.service.batching)
        tokens = settings.credentials.tokens
        machine = DeliveryMachine(machineSettings)
        machine.paceArbiter = loopGroup.paceArbiter
        place = self.loopGroup.join(transport.wakeup)
        namer = loopGroup.namer
        namer?.join(client: place, transport.wakeup)
        tokens?.attach(transport.wakeup)
    }

    mutating func run() -> RunEnd {
        while true {
            let now = Moment(nanoseconds: monotonicNanoseconds(), wall: settings.clock.now())
            listenToLoopGroup(at: now)
            checkToken(at: now)
            takeNames(at: now)
            takeBatches(at: now)
            machine.advance(to: now)
            if machine.canary.isJudged, machine.ending == nil { loopGroup.control.noteCanaryOver() }
            carryOut(at: now)
            flush(at: now)
            tellPushesStarted()
            tellWait(at: now)
            if let end = machine.end {
                tokens?.detach(transport.wakeup)
                namer?.leave(client: place)
                loopGroup.control.forget(place)
                loopGroup.leave()
                return end
            }
            transport.poll(until: sleepEnd(after: now))
            deliverEvents()
        }
    }

    // MARK: Team

    private mutating func listenToLoopGroup(at now: Moment) {
        if let request = loopGroup.control.requested { machine.interrupt(request.reason, at: now) }
        if let cause = loopGroup.stopCause { machine.stop(cause, at: now) }
        if case .stopped(let cause) = machine.ending?.end { loopGroup.stop(cause) }
        if machine.hasEverAnswered {
            loopGroup.noteAnswer()
        } else if loopGroup.hasAnswered {
            machine.hasEverAnswered = true
        }
        hearOfAccepted(at: now)
        machine.quota.join(until: loopGroup.hold(until: machine.quota.until), at: now.nanoseconds)
        machine.noteGate(isOpen: loopGroup.control.isGateOpen, at: now)
        if settings.stopLimits != nil { machine.tallyOfOthers = loopGroup.exchange(machine.tally, of: place) }
        askForHelpIfNeeded(at: now)
    }

    /// Tells the other loops that pushes were accepted, and the machine when pushes of others were.
    private mutating func hearOfAccepted(at now: Moment) {
        let accepted = machine.tally.accepted
        let byOthers = loopGroup.count(accepted: accepted - acceptedTold) - accepted
        acceptedTold = accepted
        guard byOthers > acceptedByOthers else { return }
        acceptedByOthers = byOthers
        machine.noteAccepted(at: now)
    }

    /// Requests another loop, once: a loop that joins requests the next one.
    private mutating func askForHelpIfNeeded(at now: Moment) {
        guard !hasAskedForHelp, machine.canary.isJudged, machine.ending == nil else { return }
        guard settings.startsLoopsAtOnce || load.isSaturated(at: now.nanoseconds) else { return }
        hasAskedForHelp = true
        loopGroup.askForHelp()
    }

    private mutating func tellPushesStarted() {
        let (started, settled) = (pushesTaken - machine.untriedPushes, pushesHandedOver + machine.settlements.count)
        let answered = machine.answerCount
        if started != pushesStarted || settled != pushesSettled || answered != requestsAnswered {
            loopGroup.control.add(
                started: started - pushesStarted, settled: settled - pushesSettled,
                answered: answered - requestsAnswered)
        }
        (pushesStarted, pushesSettled, requestsAnswered) = (started, settled, answered)
    }

    /// Reports what the loop waits for. That changes with every push but is read only a few times a
    /// second, so reporting it more often is waste.
    private mutating func tellWait(at now: Moment) {
        guard now.nanoseconds - waitToldAt >= Self.tellingInterval else { return }
        waitToldAt = now.nanoseconds
        loopGroup.control.note(machine.wait(at: now), connections: machine.openConnections, of: place)
    }

    private func sleepEnd(after now: Moment) -> Int64 {
        // Carrying out actions may have led to new decisions.
        guard transport.events.isEmpty, machine.actions.isEmpty else { return now.nanoseconds }
        // The machine decided to end after the source and the other loops were last checked.
        if machine.ending != nil, !machine.isSourceEnded { return now.nanoseconds }
        // Room for pushes appeared after the source was last asked.
        if machine.wantsPushes, !isSourceEmpty, !machine.isSourceEnded { return now.nanoseconds }
        var end = min(machine.nextWake(after: now) ?? .max, now.nanoseconds + Self.longestSleep)
        if !machine.settlements.isEmpty { end = min(end, flushedAt + Self.flushInterval) }
        return end
    }

    // MARK: Source

    private mutating func takeBatches(at now: Moment) {
        if machine.ending != nil { return drainSource(at: now) }
        isSourceEmpty = false
        while machine.wantsPushes, !machine.isSourceEnded {
            guard let batch = source.takeIfReady(orWake: transport.wakeup) else {
                // A batch may arrive between these two calls, but none comes after the source is
                // finished. So the order matters.
                if source.isFinished { machine.sourceEnded() } else { isSourceEmpty = true }
                return
            }
            add(batch, at: now)
        }
        // A machine that does not want pushes yet may never get any.
        if machine.openPushes == 0, !machine.isSourceEnded, source.isFinished(orWake: transport.wakeup) {
            machine.sourceEnded()
        }
    }

    /// Settles what the source still holds as unsent at once, because the run is ending.
    private mutating func drainSource(at now: Moment) {
        guard !machine.isSourceEnded else { return }
        source.close()
        while let batch = source.takeIfReady() {
            add(batch, at: now)
            machine.advance(to: now)
            carryOut(at: now)
            flush(at: now)
        }
        machine.sourceEnded()
    }

    private mutating func add(_ batch: PushBatch, at now: Moment) {
        guard !batch.pushes.isEmpty else { return }
        pushesTaken += batch.pushes.count
        let stored = store.insert(batch)
        if batch.call != nil || !batch.pasts.isEmpty { return add(batch, withPast: stored, at: now) }
        for (index, push) in batch.pushes.enumerated() {
            if machine.largestRequest > 1 {
                texts.add(push.recipient, in: (stored, index), &store, to: &machine, at: now)
            } else {
                store.assign(machine.add(recipient: push.recipient, at: now), batch: stored, index: index)
            }
        }
    }

    /// Adds what an earlier process left.
    private mutating func add(_ batch: PushBatch, withPast stored: Int, at now: Moment) {
        if let call = batch.call, case .fetched(let names) = settings.service.repeatProtection {
            let name = RequestName(text: call.name, usableUntil: call.namedAt.adding(seconds: names.usableSeconds))
            let slots = machine.add(call: batch.pushes.map(\.recipient), name: name, at: now)
            for (index, slot) in slots.enumerated() { store.assign(slot, batch: stored, index: index) }
            return
        }
        for (index, push) in batch.pushes.enumerated() {
            let past = batch.pasts[push.recipient] ?? PushHistory()
            if machine.largestRequest > 1 {
                texts.add(push.recipient, in: (stored, index), after: past, &store, to: &machine, at: now)
            } else {
                store.assign(machine.add(recipient: push.recipient, after: past, at: now), batch: stored, index: index)
            }
        }
    }

    // MARK: Events

    private mutating func deliverEvents() {
        guard !transport.events.isEmpty else { return }
        let now = Moment(nanoseconds: monotonicNanoseconds(), wall: settings.clock.now())
        for event in transport.events {
            // Consumed: a copy for each case would retain all that an answer may carry.
            switch consume event {
            case .answered(let request, let answer):
                if !answer.receipt.isEmpty { settings.receipts?.add(answer.receipt) }
                machine.answered(
                    request, answer, targets: answer.targets.isEmpty ? [] : targets(of: request, answer), at: now)
            case .notProcessed(let request): machine.notProcessed(request, at: now)
            case .refused(let request): machine.streamRefused(request, at: now)
            case .reset(let request): machine.streamReset(request, at: now)
            case .opened(let connection): machine.connectionOpened(connection, at: now)
            case .limitChanged(let connection, let limit): machine.limitChanged(connection, to: limit)
            case .ended(let connection, let cause):
                machine.connectionLost(connection, cause: cause, at: now)
                transport.close(connection)
            case .alive(let connection): machine.connectionAlive(connection, at: now)
            case .windowChanged(let connection, let room): machine.windowChanged(connection, room: room)
            case .leaving(let connection, let cause, let isInOrder):
                machine.connectionLeaves(connection, cause: cause, isInOrder: isInOrder, at: now)
            case .failed(let connection, let failure):
                machine.connectionFailed(connection, failure, at: now)
                transport.close(connection)
            }
        }
        transport.events.removeAll(keepingCapacity: true)
        carryOut(at: now)
    }

    // MARK: Actions

    private mutating func carryOut(at now: Moment) {
        // Carrying out an action may add others, which wait for the next call.
        swap(&machine.actions, &actions)
        for action in actions {
            switch action {
            case .open(let connection): transport.open(connection)
            case .close(let connection): transport.close(connection)
            case .submit(let request, let connection): submit(request, on: connection, at: now)
            case .name(let request, let question): askForName(of: request, question)
            case .abandon(let request, let connection): transport.abandon(request: request, on: connection)
            case .hold(let push): store.hold(push)
            case .ping(let connection): transport.ping(connection)
            case .renewToken(let connection): renewToken(of: connection, at: now)
            case .changeServer(let name): transport.changeServer(to: name)
            case .forgetText(let name): namer?.forgetText(name: name)
            case .confirmToken(let connection):
                if let token = transport.token(of: connection) { tokens?.confirm(token) }
            }
        }
        actions.removeAll(keepingCapacity: true)
        for push in machine.released { store.free(Int(push)) }
        machine.released.removeAll(keepingCapacity: true)
    }

    private mutating func submit(_ request: Int, on connection: Int, at now: Moment) {
        let id = id(of: request)
        guard let makeBody = template.body else {
            return store.withBytes(of: request) { target, payload in
                transport.submit(request: request, id: id, on: connection, target: target, body: payload)
            }
        }
        body.removeAll(keepingCapacity: true)
        let generation = Int(machine.pushes[request].generation)
        let batching = settings.service.batching, name = machine.name(of: request)?.text
        // Where a body has one text for all, it is that of the first push. A request for one push
        // has had its id since it was rendered, and one that names a text holds none.
        let isOpen = batching.largestTargets > 1 && !(batching.keepsTexts && name != nil),
            hasOwnTexts = batching.largestWithOwnTexts > 1
        let pushes = machine.pushes(of: request).map { push in
            let (target, payload) = store.bytes(of: push), id = self.id(of: push)
            let own = isOpen && (hasOwnTexts || push == request) ? PushIDPlace.filled(payload, with: id) : payload
            return RequestPush(id: id, target: target, payload: own, generation: generation)
        }
        let call = RequestCall(pushes, name: name)
        makeBody(call, now.wall.epochSeconds, &body)
        let pathEnd = template.pathEnd.map { Array($0(call).utf8) } ?? []
        pathEnd.withUnsafeBufferPointer { target in
            body.withUnsafeBufferPointer {
                transport.submit(request: request, id: id, on: connection, target: target, body: $0)
            }
        }
    }

    private func id(of push: Int) -> PushID {
        PushID(runSeed: settings.runSeed, recipient: machine.pushes[push].recipient)
    }

    /// Returns what an answer says about each push of its request; blank for a push that it does
    /// not name.
    private func targets(of request: Int, _ answer: DeliveryMachine.Answer) -> [String] {
        machine.pushes(of: request).map {
            answer.targets[String(decoding: store.bytes(of: $0).target, as: UTF8.self)] ?? ""
        }
    }

    // MARK: Names

    private func askForName(of request: Int, _ question: Int) {
        namer?.ask(
            NameRequest(
                client: place, request: request, number: question,
                recipients: machine.pushes(of: request).map { machine.pushes[$0].recipient },
                generation: Int(machine.pushes[request].generation),
                text: machine.namesText(request) ? Array(store.bytes(of: request).payload) : nil))
    }

    /// Takes the names that have been committed.
    private mutating func takeNames(at now: Moment) {
        guard !machine.unnamed.isEmpty, let namer else { return }
        let (answers, trouble) = namer.take(client: place)
        for answer in answers.reversed() {
            if answer.call == nil {
                machine.textRefused(of: answer.request, question: answer.number, at: now)
            } else {
                machine.named(answer.request, question: answer.number, answer.name, at: now)
            }
        }
        guard let trouble else { return }
        if trouble.isFinal {
            machine.namesRefused(trouble.text, status: trouble.status, at: now)
        } else {
            machine.namesPending(because: trouble.text, at: now)
        }
    }

    // MARK: Token

    private mutating func checkToken(at now: Moment) {
        guard let tokens else { return }
        let isAwaited = machine.credentialPendingSince != nil
        machine.follow(tokenWatch.check(tokens, isAwaited: isAwaited, at: bootNanoseconds()), at: now)
    }

    private mutating func renewToken(of connection: Int, at now: Moment) {
        guard let tokens, let refused = transport.token(of: connection) else { return }
        let renewal = tokenWatch.renew(tokens, after: refused)
        if renewal == .refused { machine.tokenRefused(ageSeconds: Double(tokens.age(of: refused)) / 1e9, at: now) }
        machine.follow(renewal, at: now)
    }

    // MARK: Results

    private mutating func flush(at now: Moment) {
        let isDue = now.nanoseconds - flushedAt >= Self.flushInterval || machine.end != nil
        guard machine.settlements.count >= Self.groupLimit || isDue else { return }
        flushedAt = now.nanoseconds
        guard !machine.settlements.isEmpty else { return }
        pushesHandedOver += machine.settlements.count
        // What an answer settles is recorded together: if a request were recorded only in part, the
        // outcome of the rest would be unknown.
        let limit = machine.largestRequest > 1 ? machine.settlements.count : Self.groupLimit
        var rest = machine.settlements[...]
        while !rest.isEmpty {
            results.put(Array(rest.prefix(limit)))
            rest = rest.dropFirst(limit)
        }
        machine.settlements.removeAll(keepingCapacity: true)
    }
}
