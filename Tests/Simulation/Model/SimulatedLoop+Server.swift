import Base
import PushServices

@testable import Delivery

/// The model of APNs: what the far end of a loop's connections does.
extension SimulatedLoop {
    private var random: SplitMix {
        get { campaign.random }
        _modify { yield &campaign.random }
    }

    private var nature: Nature { _read { yield campaign.nature } }

    /// A connection is established: its fate is drawn.
    func planPeer(_ connection: Int) {
        // APNs allows one stream until the first push is accepted.
        schedule(
            .limit(connection: connection, generation: peers[connection].generation, limit: 1),
            after: random.span(0, nature.latency))
        if !nature.settings.usesProviderToken, random.happens(nature.connectHopeless) {
            // With TLS 1.3 a certificate's refusal comes after the handshake.
            campaign.tally.note(.certificateRefusedLate)
            peers[connection].isDead = true
            let wait = nature.latency + random.span(0, nature.latency)
            return schedule(
                .failed(connection: connection, generation: peers[connection].generation, kind: 3), after: wait)
        }
        if let room = nature.freeWindow {
            schedule(.window(connection: connection, generation: peers[connection].generation, room: room), after: 0)
        }
        peers[connection].expiresEarly = random.happens(nature.expiresEarly)
        let isLong = nature.longestPause > Span.minute
        let span = isLong && random.oneIn(2) ? 30 * Span.minute : 3 * Span.second
        plan(.dies, connection, nature.dies, within: span)
        plan(.goesAway, connection, nature.goesAway, within: span)
        plan(.fallsSilent, connection, nature.fallsSilent, within: span)
        plan(.changesLimit, connection, nature.changesLimit, within: span)
    }

    private func plan(_ turn: PeerTurn, _ connection: Int, _ rate: Int, within span: Int64) {
        guard random.happens(rate) else { return }
        campaign.agenda.add(
            .peer(turn, loop: index, connection: connection, generation: peers[connection].generation),
            at: campaign.clock.now + random.span(0, span))
    }

    private func schedule(_ delivery: Delivery, after nanoseconds: Int64) {
        campaign.agenda.add(.deliver(loop: index, delivery), at: campaign.clock.now + nanoseconds)
    }

    /// The server does something with a connection by itself.
    func peerActs(_ turn: PeerTurn, _ connection: Int, _ generation: Int) {
        guard peers[connection].generation == generation, peers[connection].phase == .open, !peers[connection].isDead
        else { return }
        switch turn {
        case .changesLimit:
            if !peers[connection].isLeaving {
                changeLimit(connection, to: random.oneIn(3) ? 1 : random.between(1, nature.limit))
            }
            plan(.changesLimit, connection, nature.changesLimit, within: 2 * Span.second)
        case .goesAway:
            leave(connection, isInOrder: random.oneIn(2))
            if random.oneIn(2) { plan(.dies, connection, 1000, within: Span.second) }
        case .dies:
            campaign.tally.note(.connectionDied)
            campaign.trace("server: connection \(connection) dies")
            peers[connection].isDead = true
            schedule(.ended(connection: connection, generation: generation), after: nature.latency)
        case .fallsSilent:
            campaign.tally.note(.silentConnection)
            campaign.trace("server: connection \(connection) falls silent")
            peers[connection].isSilent = true
        }
    }

    /// GOAWAY.
    private func leave(_ connection: Int, isInOrder: Bool) {
        let generation = peers[connection].generation
        campaign.tally.note(.goAway)
        campaign.trace("server: GOAWAY on connection \(connection)")
        peers[connection].isLeaving = true
        schedule(.leaving(connection: connection, generation: generation, isInOrder: isInOrder), after: nature.latency)
    }

    private func changeLimit(_ connection: Int, to limit: Int) {
        guard !peers[connection].isSilent else { return }
        campaign.tally.note(limit == 1 ? .fellBackToOne : .limitChanged)
        peers[connection].limit = limit
        schedule(
            .limit(connection: connection, generation: peers[connection].generation, limit: limit),
            after: nature.latency)
    }

    // MARK: Requests

    /// A request reaches the server.
    func arrive(_ push: Int, _ serial: Int) {
        guard wires[push].serial == serial, wires[push].state == .sent else { return }
        let connection = wires[push].connection
        guard !peers[connection].isDead, !peers[connection].isLeaving else { return }
        giveWindow(connection)
        if refuses(push, serial, connection) { return }
        wires[push].state = .arrived
        peers[connection].openStreams += 1
        peers[connection].requests += 1
        if peers[connection].requests == nature.requestsPerConnection {
            campaign.tally.note(.requestsLimited)
            leave(connection, isInOrder: true)
        }
        if peers[connection].isSilent || random.happens(nature.unanswered) { return swallow(push) }
        if random.happens(nature.reset) { return reset(push, serial) }
        if let index = gatewayAnswer() {
            if random.oneIn(2) { accept(push) }
            return answer(push, serial, connection, with: index)
        }
        if wires[push].count > 1 { return answerTogether(push, serial, connection) }
        answer(push, serial, connection, with: decide(push, connection))
    }

    /// Returns window for the bytes that were read.
    private func giveWindow(_ connection: Int) {
        guard let room = nature.freeWindow, !peers[connection].isSilent else { return }
        schedule(
            .window(connection: connection, generation: peers[connection].generation, room: random.between(1, room)),
            after: nature.latency)
    }

    /// REFUSED_STREAM: beyond the limit, which the sender may not know yet, or because the server
    /// chooses to.
    private func refuses(_ push: Int, _ serial: Int, _ connection: Int) -> Bool {
        let isBeyond = peers[connection].openStreams >= peers[connection].limit
        guard isBeyond || random.happens(nature.refused) else { return false }
        if isBeyond { campaign.tally.note(.beyondLimit) }
        wires[push].state = .declined
        schedule(.refused(push: push, serial: serial), after: nature.latency)
        return true
    }

    /// Something in front of APNs answers in its place, or the answer is cut off on its way.
    private func gatewayAnswer() -> Int? {
        let isOut =
            !nature.outageIsUnreachable && nature.outageIsOfGateway && nature.outage.contains(campaign.clock.now)
        if isOut { campaign.tally.note(.outage) }
        guard isOut || random.happens(nature.doubtful) else { return nil }
        return ServerAnswer.doubtful.lowerBound + random.below(ServerAnswer.doubtful.count)
    }

    private func swallow(_ push: Int) {
        if random.oneIn(2) {
            campaign.tally.note(.acceptedUnanswered)
            accept(push)
        } else {
            campaign.tally.note(.swallowed)
        }
    }

    private func reset(_ push: Int, _ serial: Int) {
        if random.oneIn(2) { accept(push) }
        schedule(.reset(push: push, serial: serial), after: nature.latency)
    }

    private func accept(_ push: Int) {
        if isOfBadText(push) { return }
        if remembered(push) != nil { return campaign.tally.note(.repeatRecognized) }
        if wires[push].count > 1, nature.service.answering != .each {
            var isRefused = false
            wires[push].forEachRecipient { if campaign.truths[$0].answer != nil { isRefused = true } }
            if isRefused { return }
        }
        let generation = wires[push].recognizedGeneration
        wires[push].forEachRecipient { accept(recipient: $0, generation) }
        guard wires[push].count > 1, nature.service.answering == .each else {
            return remember(push, ServerAnswer.accepted)
        }
        var targets: [Int] = []
        wires[push].forEachRecipient { targets.append(campaign.truths[$0].answer ?? ServerAnswer.accepted) }
        remember(push, ServerAnswer.each, targets)
    }

    /// - Parameter generation: nil for a request that the service does not recognize.
    private func accept(recipient: Int, _ generation: UInt16?) {
        guard campaign.truths[recipient].answer == nil else { return }
        if let generation, case .derived = nature.service.repeatProtection {
            let name = DerivedName(run: campaign.earlier.count, recipient: recipient, generation: generation)
            guard campaign.server.pushes.insert(name).inserted else { return campaign.tally.note(.repeatRecognized) }
        }
        campaign.fates[recipient].accepted += 1
        campaign.trace("server: accepts \(recipient)")
        if campaign.fates[recipient].accepted > 1 { campaign.tally.note(.duplicateAccepted) }
    }

    /// Remembers a named request with at least one accepted push.
    private func remember(_ push: Int, _ answer: Int, _ targets: [Int] = []) {
        guard case .fetched(let names) = nature.service.repeatProtection else { return }
        let isAccepted =
            targets.isEmpty
            ? campaign.truths[wires[push].recipient].answer == nil : targets.contains(ServerAnswer.accepted)
        guard isAccepted, let given = campaign.givenNames[wires[push].name] else { return }
        campaign.server.calls[wires[push].name] = AcceptedCall(
            answer: answer, targets: targets, forgottenAt: given + Int64(names.lifetimeSeconds * 1e9))
    }

    /// What the server answered to a request with this name that it accepted; nil for none.
    private func remembered(_ push: Int) -> AcceptedCall? {
        guard let call = campaign.server.calls[wires[push].name], campaign.clock.now < call.forgottenAt else {
            return nil
        }
        return call
    }

    private func answer(_ push: Int, _ serial: Int, _ connection: Int, with index: Int, targets: [Int] = []) {
        var wait = nature.latency + random.span(0, nature.processing)
        if random.happens(nature.slow) {
            wait += random.span(0, 70 * Span.second)
            campaign.tally.note(.lateAnswer)
        }
        if index == ServerAnswer.accepted || index == ServerAnswer.each && targets.contains(ServerAnswer.accepted) {
            if targets.isEmpty { accept(push) }
            if !peers[connection].hasAccepted {
                peers[connection].hasAccepted = true
                peers[connection].limit = nature.limit
                schedule(
                    .limit(connection: connection, generation: peers[connection].generation, limit: nature.limit),
                    after: wait)
            }
        } else if random.happens(nature.fallsBack) {
            // APNs may fall back to one stream after a rejection, until the next accepted push.
            peers[connection].hasAccepted = false
            changeLimit(connection, to: 1)
        }
        schedule(.answered(push: push, serial: serial, answer: index, targets: targets), after: wait)
    }

    /// The answer to a request of several pushes.
    private func answerTogether(_ push: Int, _ serial: Int, _ connection: Int) {
        if let index = refusesAll(connection) { return answer(push, serial, connection, with: index) }
        if let call = remembered(push) {
            return answer(push, serial, connection, with: call.answer, targets: call.targets)
        }
        var targets: [Int] = []
        wires[push].forEachRecipient { targets.append(targetAnswer($0)) }
        if isRefusedForSettings() {
            return answer(
                push, serial, connection, with: ServerAnswer.fatal.lowerBound + random.below(ServerAnswer.fatal.count))
        }
        if random.happens(nature.likeAll) { return answer(push, serial, connection, with: ServerAnswer.likeAll) }
        if isOfBadText(push) { return answer(push, serial, connection, with: ServerAnswer.badTarget) }
        if nature.service.answering == .each {
            for position in targets.indices where targets[position] < 0 && random.happens(nature.temporary) {
                targets[position] = ServerAnswer.ofTargetsForNow[random.below(2)]
            }
            var position = 0
            wires[push].forEachRecipient {
                if targets[position] < 0 { accept(recipient: $0, wires[push].recognizedGeneration) }
                position += 1
            }
            targets = targets.map { $0 < 0 ? ServerAnswer.accepted : $0 }
            remember(push, ServerAnswer.each, targets)
            return answer(push, serial, connection, with: ServerAnswer.each, targets: targets)
        }
        guard targets.contains(where: { $0 >= 0 }) else {
            return answer(push, serial, connection, with: ServerAnswer.accepted)
        }
        guard nature.service.answering == .naming, !random.oneIn(4) else {
            campaign.tally.note(.halved)
            return answer(push, serial, connection, with: ServerAnswer.badTarget)
        }
        // Perhaps it does not name all of them.
        if random.oneIn(3), let last = targets.lastIndex(where: { $0 >= 0 }),
            targets.firstIndex(where: { $0 >= 0 }) != last
        {
            targets[last] = -1
        }
        campaign.tally.note(.targetsNamed)
        answer(push, serial, connection, with: ServerAnswer.badTarget, targets: targets)
    }

    /// Whether a request carries the text of which nothing is taken.
    private func isOfBadText(_ push: Int) -> Bool {
        nature.badText.map { $0 == nature.payload(of: wires[push].recipient) } ?? false
    }

    private func isRefusedForSettings() -> Bool {
        campaign.clock.now >= nature.settingsFailFrom || random.happens(nature.fatal)
    }

    /// What is wrong with one target among several; -1 for nothing.
    private func targetAnswer(_ recipient: Int) -> Int {
        if let answer = campaign.truths[recipient].answer { return answer }
        guard random.happens(nature.final) else { return -1 }
        let answer = nature.finalAnswers.lowerBound + random.below(nature.finalAnswers.count)
        campaign.learn(recipient, answer)
        return answer
    }

    /// The answer to a request that does not depend on its targets; nil for none.
    private func refusesAll(_ connection: Int) -> Int? {
        if let answer = checkToken(of: connection) { return answer }
        if !nature.outageIsUnreachable, nature.outage.contains(campaign.clock.now) {
            campaign.tally.note(.outage)
            return ServerAnswer.busy
        }
        let isUsedUp = nature.quotaOutage.contains(campaign.clock.now)
        if isUsedUp { campaign.tally.note(.quotaOutage) }
        if isUsedUp || random.happens(nature.quota) {
            return ServerAnswer.quota.lowerBound + random.below(ServerAnswer.quota.count)
        }
        guard random.happens(nature.temporary) else { return nil }
        return ServerAnswer.temporary.lowerBound + random.below(ServerAnswer.temporary.count)
    }

    /// The answer to a request of one push, as an index.
    private func decide(_ push: Int, _ connection: Int) -> Int {
        let recipient = wires[push].recipient
        if let answer = refusesAll(connection) { return answer }
        if let call = remembered(push) { return call.answer }
        if isOfBadText(push) { return ServerAnswer.badTarget }
        if let answer = campaign.truths[recipient].answer { return answer }
        if random.happens(nature.final) {
            let answer = nature.finalAnswers.lowerBound + random.below(nature.finalAnswers.count)
            campaign.learn(recipient, answer)
            return answer
        }
        if isRefusedForSettings() { return ServerAnswer.fatal.lowerBound + random.below(ServerAnswer.fatal.count) }
        return random.happens(nature.likeAll) ? ServerAnswer.likeAll : ServerAnswer.accepted
    }

    /// What is wrong with a connection's token; nil for nothing.
    private func checkToken(of connection: Int) -> Int? {
        let tokenIndex = peers[connection].tokenIndex
        guard tokenIndex >= 0 else { return nil }
        if peers[connection].isWedged { return ServerAnswer.expired }
        let now = campaign.clock.now
        let token = campaign.tokenHistory[tokenIndex]
        if campaign.fetched != nil {
            guard now >= token.endsAt || random.happens(nature.expiresTokens) else { return nil }
            peers[connection].isWedged = true
            return ServerAnswer.expired
        }
        let age = campaign.clock.serverSeconds(skew: nature.serverSkewSeconds) - token.issuedAt
        if nature.serverSkewSeconds != 0 { campaign.tally.note(.clocksDiffer) }
        if age < -60 { return ServerAnswer.tokenFromFuture }
        let isEarly = peers[connection].expiresEarly && age * Span.second > nature.earlyAge
        if age > 3600 || isEarly || random.happens(nature.expiresTokens) {
            peers[connection].isWedged = true
            return ServerAnswer.expired
        }
        if token.text != campaign.server.lastToken {
            // A process that is started again cannot know what the one before it minted.
            if now - campaign.server.lastTokenAt < 20 * Span.minute {
                campaign.server.tooManyUpdatesUntil =
                    now + random.span(0, random.oneIn(2) ? 2 * Span.second : 2 * Span.minute)
            }
            campaign.server.lastToken = token.text
            campaign.server.lastTokenAt = now
        }
        return now < campaign.server.tooManyUpdatesUntil ? ServerAnswer.tooManyUpdates : nil
    }

    // MARK: The end of the process

    /// The process is gone. What it had sent may still arrive.
    func vanish() {
        for push in wires.indices where wires[push].state == .sent && random.oneIn(2) {
            let peer = peers[wires[push].connection]
            if !peer.isDead, !peer.isLeaving { accept(push) }
        }
    }
}
