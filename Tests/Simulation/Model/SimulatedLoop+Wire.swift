import PushServices
import Base

@testable import Delivery

/// A connection as both ends know it.
struct Peer {
    enum Phase {
        case closed, connecting, open
    }

    // The sender's end.
    var phase = Phase.closed
    var generation = 0
    var token: ServiceToken?
    /// The index in the campaign's history; -1 for none.
    var tokenIndex = -1
    /// The limit that the machine was told.
    var toldLimit = Int.max
    /// How many more pushes fit into the window, as the machine was told.
    var toldRoom = Int.max
    /// The machine was told of an accepted push here.
    var isWarm = false
    /// Whether the service had let the connection's token pass before it refused it here; nil until
    /// it refuses it.
    var passedWhenRefused: Bool?
    /// The machine was told that nothing more may be submitted here.
    var mustRest = false
    var inFlight = 0
    /// The last sign of life that was reported, and the last submission: monotonic nanoseconds.
    var lastSign: Int64 = 0
    var lastSubmission: Int64 = 0

    var hadPassedWhenRefused: Bool { passedWhenRefused ?? false }

    // The server's end.
    var limit = 1
    var openStreams = 0
    var requests = 0
    var hasAccepted = false
    var isWedged = false
    var expiresEarly = false
    var isLeaving = false
    var isDead = false
    var isSilent = false
}

/// A request on a connection, by the slot of its first push.
struct Wire {
    enum State {
        case idle
        case sent
        /// The server has it, processed or not.
        case arrived
        /// The server had it, and said that it did nothing with it.
        case declined
    }

    var state = State.idle
    var serial = 0
    var recipient = 0
    /// The other recipients after the first.
    var others: [Int] = []
    var connection = 0
    /// Monotonic.
    var sentAt: Int64 = 0
    /// What the service recognizes it by; blank if it does not.
    var name = ""
    var generation: UInt16 = 0

    var count: Int { 1 + others.count }

    /// The recipients that it carries, in order.
    func forEachRecipient(_ body: (Int) -> Void) {
        body(recipient)
        for other in others { body(other) }
    }
}

/// What a loop's transport does, and what it receives.
extension SimulatedLoop {
    private var random: SplitMix {
        get { campaign.random }
        _modify { yield &campaign.random }
    }

    private var nature: Nature { _read { yield campaign.nature } }

    // MARK: Doing

    func open(_ connection: Int) {
        while peers.count <= connection { peers.append(Peer()) }
        if peers[connection].phase != .closed {
            campaign.violate(.connectionUse, "connection \(connection) is opened twice")
        }
        let generation = peers[connection].generation + 1
        var peer = Peer()
        peer.phase = .connecting
        peer.generation = generation
        var isWithoutToken = false
        switch campaign.tokens?.state() {
        case .ready(let token):
            peer.token = token
            peer.tokenIndex = campaign.noteToken(token)
        case .pending, .refused: isWithoutToken = true
        case nil: break
        }
        campaign.trace("loop \(index) opens connection \(connection)")
        let failure = isWithoutToken ? 8 : connectFailure()
        peers[connection] = peer
        let isSlow = random.happens(nature.connectSlow)
        if isSlow { campaign.tally.note(.connectSlow) }
        let time = campaign.clock.now + 2 * nature.latency + (isSlow ? random.span(0, 30 * Span.second) : 0)
        let delivery: Delivery =
            if let failure { .failed(connection: connection, generation: generation, kind: failure) } else {
                .opened(connection: connection, generation: generation)
            }
        campaign.agenda.add(.deliver(loop: index, delivery), at: time)
    }

    /// The kind of ConnectionFailure, nil for none.
    private func connectFailure() -> Int? {
        let isOut = nature.outageIsUnreachable && nature.outage.contains(campaign.clock.now)
        if isOut { campaign.tally.note(.outage) }
        if isOut || random.happens(nature.connectRefused) {
            campaign.tally.note(.connectRefused)
            return 0
        }
        guard random.happens(nature.connectHopeless) else { return nil }
        campaign.tally.note(.connectHopeless)
        return random.between(1, 7)
    }

    static func failure(_ kind: Int) -> ConnectionFailure {
        switch kind {
        case 0: .unreachable("connection refused")
        case 1: .untrusted("self-signed certificate")
        case 2: .notHTTP2
        case 3: .certificateRefused("unknown certificate")
        case 4: .proxyRefused(.credentials("407"))
        case 5: .proxyRefused(.forbidden("403"))
        case 6: .proxyRefused(.untrusted("self-signed certificate"))
        case 7: .misconfigured("no such file")
        default: .credentialPending
        }
    }

    func close(_ connection: Int) {
        guard connection < peers.count, peers[connection].phase != .closed else { return }
        campaign.trace("loop \(index) closes connection \(connection), \(peers[connection].inFlight) in flight")
        causes.fruitless += 1
        loseAll(on: connection)
        forget(connection)
    }

    private func forget(_ connection: Int) {
        let (generation, token) = (peers[connection].generation, peers[connection].token)
        peers[connection] = Peer()
        (peers[connection].generation, peers[connection].token) = (generation, token)
    }

    private func loseAll(on connection: Int) {
        guard peers[connection].inFlight > 0 else { return }
        for push in wires.indices where wires[push].state != .idle && wires[push].connection == connection {
            lose(push)
        }
    }

    /// No answer will come; only the server has the result.
    private func lose(_ push: Int) {
        wires[push].forEachRecipient {
            campaign.fates[$0].lose()
            campaign.tally.note(.doubt)
        }
        takeOff(push)
    }

    private func takeOff(_ push: Int) {
        let connection = wires[push].connection
        peers[connection].inFlight -= 1
        if wires[push].state == .arrived { peers[connection].openStreams -= 1 }
        wires[push].state = .idle
        wires[push].serial = 0
    }

    func abandon(_ push: Int, on connection: Int) {
        guard wires[push].state != .idle else { return }
        campaign.trace("loop \(index) abandons \(wires[push].recipient)")
        wires[push].forEachRecipient { campaign.fates[$0].isHeard = true }
        lose(push)
    }

    func ping(_ connection: Int) {
        guard peers[connection].phase == .open else {
            return campaign.violate(.connectionUse, "a PING on a connection that is not open")
        }
        campaign.tally.note(.pinged)
        campaign.trace("loop \(index) pings connection \(connection)")
        guard !peers[connection].isSilent, !peers[connection].isDead else { return }
        campaign.agenda.add(
            .deliver(loop: index, .alive(connection: connection, generation: peers[connection].generation)),
            at: campaign.clock.now + 2 * nature.latency)
    }

    func submit(_ push: Int, on connection: Int, at now: Moment) {
        let recipient = machine.pushes[push].recipient
        let others =
            machine.pushes[push].count == 1
            ? [] : machine.pushes(of: push).dropFirst().map { machine.pushes[$0].recipient }
        lastSerial += 1
        campaign.trace(
            "loop \(index) submits \(recipient)\(others.isEmpty ? "" : " and \(others)") on connection \(connection)")
        let wire = Wire(
            state: .sent, serial: lastSerial, recipient: recipient, others: others, connection: connection,
            sentAt: now.nanoseconds,
            name: machine.name(of: push)?.text ?? "", generation: machine.pushes[push].generation)
        judgeSubmission(of: push, wire, at: now)
        guard campaign.violation == nil else { return }
        wires[push] = wire
        peers[connection].inFlight += 1
        if peers[connection].toldRoom < .max { peers[connection].toldRoom -= 1 }
        peers[connection].lastSubmission = now.nanoseconds
        campaign.agenda.add(
            .arrive(loop: index, push: push, serial: lastSerial),
            at: campaign.clock.now + nature.latency + Int64(lastSerial & 7) * 1000)
        campaign.tick()
    }

    // MARK: Hearing

    /// Something arrives; the loop sees it when it reads.
    func receive(_ delivery: Delivery) {
        inbox.append(delivery)
        wake(by: campaign.clock.now)
    }

    func deliverEvents() {
        guard !inbox.isEmpty else { return }
        let now = campaign.clock.moment
        var index = 0
        while index < inbox.count {
            deliver(inbox[index], at: now)
            index += 1
        }
        inbox.removeAll(keepingCapacity: true)
        campaign.lastProgress = campaign.clock.now
        carryOut(at: now)
        judgeSettlements(at: now)
        checkAnswered()
    }

    private func deliver(_ delivery: Delivery, at now: Moment) {
        switch delivery {
        case .answered(let push, let serial, let answer, let targets):
            if wires[push].serial == serial { deliverAnswer(push, answer, targets, at: now) }
        case .refused(let push, let serial): if wires[push].serial == serial { deliverRefusal(push, at: now) }
        case .reset(let push, let serial): if wires[push].serial == serial { deliverReset(push, at: now) }
        case .neverSent(let push, let serial): if wires[push].serial == serial { deliverUnprocessed(push, at: now) }
        case .opened(let connection, let generation): deliverOpened(connection, generation, at: now)
        case .failed(let connection, let generation, let kind): deliverFailed(connection, generation, kind, at: now)
        case .limit(let connection, let generation, let limit):
            guard peers[connection].generation == generation, peers[connection].phase == .open else { return }
            campaign.trace("loop \(index): connection \(connection) allows \(limit) streams")
            peers[connection].toldLimit = limit
            machine.limitChanged(connection, to: limit)
        case .window(let connection, let generation, let room):
            guard peers[connection].generation == generation, peers[connection].phase == .open else { return }
            if peers[connection].toldRoom == 0 { campaign.tally.note(.windowClosed) }
            peers[connection].toldRoom = room
            machine.windowChanged(connection, room: room)
        case .leaving(let connection, let generation, let isInOrder):
            deliverLeaving(connection, generation, isInOrder: isInOrder, at: now)
        case .ended(let connection, let generation): deliverEnded(connection, generation, at: now)
        case .alive(let connection, let generation):
            guard peers[connection].generation == generation, peers[connection].phase == .open else { return }
            peers[connection].lastSign = now.nanoseconds
            machine.connectionAlive(connection, at: now)
        }
    }

    private func deliverAnswer(_ push: Int, _ index: Int, _ targets: [Int], at now: Moment) {
        let answer = ServerAnswer.all[index]
        let wire = wires[push]
        let connection = wire.connection
        switch answer.meaning {
        case .stranger where answer.status == ServerAnswer.redirection: takeOff(push)
        case .doubtful, .stranger: lose(push)
        default: takeOff(push)
        }
        campaign.trace(
            "loop \(self.index): \(wire.recipient) is answered with \(answer.status) \(answer.reason) \(targets)")
        campaign.tally.note(answer.encounter)
        if peers[connection].mustRest { campaign.tally.note(.answeredAfterGoAway) }
        peers[connection].lastSign = now.nanoseconds
        notePassage(on: connection, answer)
        if case .ofTargets = answer.meaning {
            judgeTargets(of: push, wire, answer, targets, at: now)
        } else {
            judgeAnswer(index, wire, at: now)
        }
        machine.answered(
            push,
            .init(
                status: answer.status, reason: answer.reason, retryAfterSeconds: answer.retryAfterSeconds,
                id: answer.id,
                isCutOff: answer.isCutOff), targets: targets.map { $0 < 0 ? "" : ServerAnswer.all[$0].reason }, at: now)
        judgeSettlements(at: now)
        if case .stopped = machine.ending?.end { noteEnding(at: now) }
    }

    private func deliverUnprocessed(_ push: Int, at now: Moment) {
        noteUnprocessed(push)
        machine.notProcessed(push, at: now)
    }

    private func noteUnprocessed(_ push: Int) {
        campaign.trace("loop \(index): \(wires[push].recipient) was not processed")
        takeOff(push)
        wires[push].forEachRecipient {
            campaign.fates[$0].state = .unprocessed
            campaign.fates[$0].uncounted += 1
        }
    }

    private func deliverRefusal(_ push: Int, at now: Moment) {
        campaign.tally.note(.streamRefused)
        causes.busy += 1
        wires[push].forEachRecipient {
            campaign.fates[$0].refusals += 1
            // A stream that is refused forever must not hold up the rest.
            if campaign.fates[$0].refusals >= settings.retry.maximumAttempts { campaign.fates[$0].isHeard = true }
        }
        noteUnprocessed(push)
        machine.streamRefused(push, at: now)
    }

    private func deliverReset(_ push: Int, at now: Moment) {
        campaign.tally.note(.streamReset)
        campaign.trace("loop \(index): the stream of \(wires[push].recipient) is reset")
        causes.busy += 1
        wires[push].forEachRecipient { campaign.fates[$0].isHeard = true }
        lose(push)
        machine.streamReset(push, at: now)
    }

    private func deliverOpened(_ connection: Int, _ generation: Int, at now: Moment) {
        guard peers[connection].generation == generation, peers[connection].phase == .connecting else { return }
        campaign.trace("loop \(index): connection \(connection) is open")
        peers[connection].phase = .open
        peers[connection].lastSign = now.nanoseconds
        machine.connectionOpened(connection, at: now)
        planPeer(connection)
    }

    private func deliverFailed(_ connection: Int, _ generation: Int, _ kind: Int, at now: Moment) {
        guard peers[connection].generation == generation, peers[connection].phase != .closed else { return }
        campaign.trace("loop \(index): connection \(connection) failed: \(Self.failure(kind))")
        for push in wires.indices where wires[push].state != .idle && wires[push].connection == connection {
            noteUnprocessed(push)
        }
        if kind == 0 || (kind >= 4 && kind <= 6) { causes.fruitless += 1 }
        if kind > 0, kind < 8 { causes.hopeless = true }
        machine.connectionFailed(connection, Self.failure(kind), at: now)
        if kind > 0, kind < 4 || kind == 7, machine.ending == nil {
            campaign.violate(.stops, "no stop after \(Self.failure(kind))")
        }
        if case .stopped = machine.ending?.end { noteEnding(at: now) }
        close(connection)
    }

    private func deliverLeaving(_ connection: Int, _ generation: Int, isInOrder: Bool, at now: Moment) {
        guard peers[connection].generation == generation, peers[connection].phase == .open else { return }
        campaign.trace("loop \(index): connection \(connection) leaves")
        // Streams above the last id that the server names were not processed.
        for push in wires.indices where wires[push].state == .sent && wires[push].connection == connection {
            campaign.tally.note(.unprocessedByGoAway)
            deliverUnprocessed(push, at: now)
        }
        guard peers[connection].phase == .open else { return }
        peers[connection].mustRest = true
        causes.fruitless += 1
        if isInOrder { campaign.tally.note(.leftInOrder) }
        machine.connectionLeaves(connection, cause: "GOAWAY", isInOrder: isInOrder, at: now)
    }

    private func deliverEnded(_ connection: Int, _ generation: Int, at now: Moment) {
        guard peers[connection].generation == generation, peers[connection].phase == .open else { return }
        campaign.trace("loop \(index): connection \(connection) ended")
        for push in wires.indices
        where wires[push].state == .sent && wires[push].connection == connection && random.oneIn(2) {
            campaign.tally.note(.provablyUnsent)
            deliverUnprocessed(push, at: now)
        }
        loseAll(on: connection)
        machine.connectionLost(connection, cause: "reset by peer", at: now)
        close(connection)
    }
}
