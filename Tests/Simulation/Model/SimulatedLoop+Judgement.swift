import Base

@testable import Delivery
import PushServices

/// Why a loop may have stopped.
struct StopCauses {
    var fatalAnswer = false
    /// A connection was impossible for a permanent reason.
    var hopeless = false
    var tokenRefused = false
    /// A push was refused as all others would be, and only another loop saw one that was accepted.
    var mayBeLikeAll = false
    /// No token came for as long as any outage may last.
    var hasAwaitedTokenInVain = false
    /// No name came for as long as any outage may last, or none will come.
    var hasAwaitedNamesInVain = false, namesRefused = false
    /// Another loop stopped.
    var other = false
    /// Connections that ended or could not be made.
    var fruitless = 0
    /// Refusals that blame the service.
    var busy = 0
    var badTokens = 0
    var rejections = 0

    /// One of them is enough.
    var isPlain: Bool { fatalAnswer || hopeless || tokenRefused || namesRefused || other }
}

/// Compares what a loop does with what it may do.
extension SimulatedLoop {
    // MARK: Submissions

    /// - Parameter push: the first of the request.
    func judgeSubmission(of push: Int, _ wire: Wire, at now: Moment) {
        judgeConnection(wire.connection, at: now)
        judgeHold(at: now)
        judgePaces(wire.count, at: now.nanoseconds)
        judgeRequest(push, wire)
        judgeName(wire, at: now)
        wire.forEachRecipient { judgeSubmission(of: $0, at: now) }
        wire.forEachRecipient { campaign.fates[$0].lastName = wire.recognizedBy }
    }

    private func judgeSubmission(of recipient: Int, at now: Moment) {
        judgeLeave(for: recipient, at: now)
        if endsSince != nil {
            campaign.violate(.afterEnd, "recipient \(recipient) is submitted although the run is ending")
        }
        if !campaign.loopGroup.control.isGateOpen {
            campaign.violate(.gate, "recipient \(recipient) is submitted behind the closed gate")
        }
        if hasSeenDeadline { campaign.violate(.afterEnd, "recipient \(recipient) is submitted past the deadline") }
        // What an earlier process sent is no part of the canary.
        if campaign.fates[recipient].submissions == 0, !campaign.fates[recipient].isInDoubt {
            judgeCanary(before: recipient)
        }
        if campaign.fates[recipient].submissions == campaign.fates[recipient].uncounted {
            campaign.fates[recipient].firstSubmitted = now.nanoseconds
        }
        campaign.fates[recipient].submissions += 1
        campaign.fates[recipient].state = .inFlight
        campaign.lastProgress = campaign.clock.now
        campaign.tally.noteSubmission()
    }

    private func judgeHold(at now: Moment) {
        if now.nanoseconds < heldUntil {
            campaign.violate(
                .quota, "a push leaves \((heldUntil - now.nanoseconds) / Span.millisecond) ms before the hold is over")
        }
        guard isHoldUnproven else { return }
        campaign.tally.note(.quotaTried)
        let others = peers.reduce(0) { $0 + $1.inFlight }
        if others > 0 { campaign.violate(.quota, "\(others + 1) requests try whether the hold is over") }
    }

    /// Notes whether an answer shows that the service let the connection's token pass, or refused
    /// it.
    func notePassage(on connection: Int, _ answer: ServerAnswer) {
        guard campaign.fetched != nil, let token = peers[connection].token?.value else { return }
        switch answer.meaning {
        case .accepted, .invalidToken, .rejected, .likeAll, .ofTargets, .quota: campaign.passedTokens.insert(token)
        case .temporary where answer.status == 429: campaign.passedTokens.insert(token)
        case .expired:
            if peers[connection].passedWhenRefused == nil {
                peers[connection].passedWhenRefused = campaign.passedTokens.contains(token)
            }
        case .fatal, .temporary, .leave, .doubtful, .stranger: break
        }
    }

    /// What a request carries, and that the service can accept it.
    private func judgeRequest(_ request: Int, _ wire: Wire) {
        let batching = campaign.nature.service.batching
        if wire.count > batching.largestTargets {
            campaign.violate(.requests, "\(wire.count) pushes in a request, of \(batching.largestTargets)")
        }
        if wire.count > 1 { campaign.tally.note(.together) }
        if machine.serviceHealth.probes > 0, batching.largestTargets > 1 {
            campaign.tally.note(.probedWithOne)
            if wire.count > 1, !isRepeat(wire) {
                campaign.violate(.requests, "\(wire.count) pushes are risked to see whether the service is well")
            }
        }
        if machine.pushes[request].text != 0, isAtFault(textOf: wire.recipient), !isRepeat(wire) {
            campaign.violate(.requests, "a text leaves again that \(refusedAlone) devices alone did not get")
        }
        var text: UInt8?
        for push in machine.pushes(of: request) {
            let recipient = machine.pushes[push].recipient
            let bytes = store.bytes(of: push)
            let token = bytes.target.reduce(0) { $0 * 10 + Int($1) - 48 }
            if token != recipient || bytes.payload.first != campaign.nature.payload(of: recipient) {
                campaign.violate(.bytes, "recipient \(recipient) gets the bytes of \(token)")
            }
            let isAlike = !batching.hasOwnTexts && wire.count > batching.largestWithOwnTexts
            if let text, text != bytes.payload.first, isAlike { campaign.violate(.requests, "a request has two texts") }
            text = bytes.payload.first
        }
    }

    /// A push that is to be named is one of the first ones from then on, if there is room. It may
    /// never leave, because enough devices alone did not get its text: the canary is then smaller
    /// by it. One that never was to be named joins them only when it leaves.
    func noteFirst(_ recipient: Int) {
        let fate = campaign.fates[recipient]
        guard fate.submissions == 0, !fate.isInDoubt, firsts.count < settings.canaryPushes, !firsts.contains(recipient)
        else { return }
        firsts.append(recipient)
    }

    private func judgeCanary(before recipient: Int) {
        guard firsts.count <= settings.canaryPushes, !firsts.contains(recipient) else { return }
        firsts.append(recipient)
        guard firsts.count > settings.canaryPushes else { return }
        for first in firsts.dropLast() {
            if case .settled = campaign.fates[first].state { continue }
            // If it is settled at this very moment, it is not judged yet.
            if !campaign.fates[first].isHeard, !machine.settlements.contains(where: { $0.recipient == first }) {
                campaign.violate(.canary, "recipient \(recipient) goes out before anything is known of \(first)")
            }
        }
    }

    private func judgeLeave(for recipient: Int, at now: Moment) {
        let fate = campaign.fates[recipient]
        if let outcome = campaign.earlier.last?.reported(recipient), outcome == .accepted || outcome == .invalidToken {
            campaign.violate(.notSentAgain, "recipient \(recipient) was \(outcome), and is retried")
        }
        switch fate.state {
        case .untouched, .unprocessed: break
        case .refused:
            if now.nanoseconds < fate.notBefore {
                campaign.violate(.timeout, "recipient \(recipient) is submitted before its retry-after")
            }
        case .doubtful:
            campaign.tally.note(.resent)
            let isRecognized = machine.nameRule != .none && !Wire.isText(fate.lastName)
            if !settings.resendsUnknown, !isRecognized {
                campaign.violate(.notSentAgain, "recipient \(recipient) was lost, and is sent again")
            }
        case .inFlight: campaign.violate(.notSentAgain, "recipient \(recipient) is submitted twice")
        case .answered(let answer):
            campaign.violate(
                .notSentAgain,
                "recipient \(recipient) was answered with \(ServerAnswer.all[answer].status), and is sent again")
        case .settled: campaign.violate(.notSentAgain, "recipient \(recipient) is settled, and is sent again")
        }
    }

    private func judgeConnection(_ connection: Int, at now: Moment) {
        guard connection < peers.count, peers[connection].phase == .open else {
            return campaign.violate(
                .connectionUse, "a push is submitted to connection \(connection), which is not open")
        }
        let peer = peers[connection]
        if peer.mustRest {
            campaign.violate(.connectionUse, "a push is submitted to connection \(connection), which is leaving")
        }
        let limit = peer.isWarm ? min(max(1, peer.toldLimit), settings.streamsPerConnection) : 1
        if peer.toldRoom <= 0 {
            campaign.violate(.streamLimit, "connection \(connection) was said to have no room in its window")
        }
        if peer.inFlight >= limit {
            campaign.violate(.streamLimit, "\(peer.inFlight + 1) streams on connection \(connection), of \(limit)")
        }
        guard peer.tokenIndex >= 0 else { return }
        let ended = campaign.clock.now - campaign.tokenHistory[peer.tokenIndex].endsAt
        if ended >= 0 {
            campaign.violate(
                .tokenEnd, "connection \(connection) uses a token that ended \(ended / Span.millisecond) ms ago")
        }
        let age = campaign.clock.now - campaign.tokenHistory[peer.tokenIndex].seenAt
        if age > Span.hour {
            campaign.violate(.tokenAge, "connection \(connection) uses a token that is \(age / Span.second) s old")
        }
    }

    private func judgePaces(_ pushes: Int, at now: Int64) {
        let isOfTargets = campaign.nature.service.batching.paceUnit == .targets
        if let pace = settings.pace { judge(pace, isOfTargets ? pushes : 1, &submissions, .paced, at: now) }
        if let pace = campaign.nature.devicePace { judge(pace, pushes, &deviceSubmissions, .pacedByDevices, at: now) }
    }

    private func judge(_ pace: Pace, _ count: Int, _ submissions: inout [Int64], _ encounter: Encounter, at now: Int64)
    {
        campaign.tally.note(encounter)
        let perSecond = (pace.pushes + pace.intervalSeconds - 1) / pace.intervalSeconds
        for _ in 0..<count { submissions.append(now) }
        for (span, limit) in [(1, perSecond), (pace.intervalSeconds, pace.pushes)] where submissions.count > limit {
            if now - submissions[submissions.count - 1 - limit] <= Int64(span) * Span.second {
                campaign.violate(.pace, "more than \(limit) pushes within \(span) s")
            }
        }
    }

    // MARK: Answers

    /// All pushes of a request have the same answer.
    func judgeAnswer(_ index: Int, _ wire: Wire, at now: Moment) {
        let status = ServerAnswer.all[index].status
        switch ServerAnswer.all[index].meaning {
        case .accepted: noteReadAccepted()
        case .fatal: noteBlame(of: wire.count)
        case .stranger:
            let first = campaign.fates[wire.recipient]
            noteBlame(of: first.submissions - first.uncounted == 1 ? wire.count : 0)
        case .likeAll:
            campaign.tally.note(campaign.hasReadAccepted ? .likeOthers : .refusedLikeAll)
            // A loop may not have heard yet what another one has read.
            if !campaign.hasReadAccepted {
                causes.fatalAnswer = true
            } else if !hasReadAccepted {
                causes.mayBeLikeAll = true
            }
        case .quota: beginHold(wire, ServerAnswer.all[index].retryAfterSeconds, at: now)
        case .invalidToken, .rejected, .temporary, .leave, .expired, .doubtful, .ofTargets: break
        }
        if ServerAnswer.all[index].outcome != nil { noteDealtWith(wire) }
        wire.forEachRecipient { judgeAnswer(index, $0, of: wire, status: status, at: now) }
    }

    private func noteReadAccepted() { (hasReadAccepted, campaign.hasReadAccepted, blamedTargets) = (true, true, 0) }

    /// Something is wrong with the settings, or another server answers: the run stops if nothing
    /// was accepted, or after enough targets.
    private func noteBlame(of targets: Int) {
        blamedTargets += targets
        guard machine.ending == nil else { return }
        if blamedTargets >= 20 || !campaign.hasReadAccepted {
            causes.fatalAnswer = true
        } else if !hasReadAccepted {
            causes.mayBeLikeAll = true
        }
    }

    /// A push that left before the hold says only how long it lasts, if the service says that.
    private func beginHold(_ wire: Wire, _ retryAfterSeconds: Double?, at now: Moment) {
        let isNew = !isHoldUnproven || wire.sentAt > holdBegan
        if isNew { (holdBegan, isHoldUnproven) = (now.nanoseconds, true) }
        guard let seconds = retryAfterSeconds ?? (isNew ? 60 : nil) else { return }
        heldUntil = max(heldUntil, now.nanoseconds + Int64(seconds * 1e9))
    }

    /// The service dealt with a request.
    private func noteDealtWith(_ wire: Wire) { if wire.sentAt >= heldUntil { isHoldUnproven = false } }

    /// Each push has its own answer, or none: then nothing was done about it.
    /// - Parameter push: the first of the request.
    func judgeTargets(of push: Int, _ wire: Wire, _ answer: ServerAnswer, _ targets: [Int], at now: Moment) {
        if targets.isEmpty, wire.count == 1 {
            return judgeRefusedAlone(wire, answer, isOfKnownText: machine.pushes[push].text != 0)
        }
        var position = 0
        // Some fail before the others are judged.
        let refused = Set(targets.filter { $0 >= 0 && ServerAnswer.all[$0].outcome == nil })
        let others = max(0, refused.count - 1)
        let isDealtWith = targets.contains { $0 >= 0 && ServerAnswer.all[$0].outcome != nil }
        if isDealtWith { noteDealtWith(wire) }
        if machine.nameRule == .calls, isDealtWith || targets.isEmpty || targets.contains(where: { $0 < 0 }) {
            wire.forEachRecipient(endDoubt)
        }
        if targets.contains(ServerAnswer.accepted) { noteReadAccepted() }
        wire.forEachRecipient { recipient in
            let index = targets.isEmpty ? -1 : targets[position]
            position += 1
            if index >= 0 {
                judgeAnswer(index, recipient, of: wire, status: answer.status, failingBefore: others, at: now)
            } else {
                campaign.fates[recipient].lastStatus = answer.status
                campaign.fates[recipient].retryAfterSeconds = 0
                campaign.fates[recipient].state = .unprocessed
                campaign.fates[recipient].uncounted += 1
            }
        }
    }

    /// A service that recognizes the call says what it did with it, the first time included.
    private func endDoubt(about recipient: Int) {
        campaign.fates[recipient].isInDoubt = false
        // Of what an earlier process may have sent in another call, it says nothing.
        if !campaign.account.carriesDoubt[recipient] { campaign.fates[recipient].mayHaveArrived = false }
    }

    /// The service does not take the text, whichever device gets it.
    private func judgeRefusedAlone(_ wire: Wire, _ answer: ServerAnswer, isOfKnownText: Bool) {
        let recipient = wire.recipient
        if machine.nameRule == .calls { endDoubt(about: recipient) }
        campaign.fates[recipient].isHeard = true
        campaign.fates[recipient].lastStatus = answer.status
        campaign.fates[recipient].retryAfterSeconds = 0
        campaign.fates[recipient].lastPart = wire.serial * ServerAnswer.all.count + ServerAnswer.badTarget
        campaign.fates[recipient].state = .answered(ServerAnswer.badTarget)
        answeredForGood += 1
        causes.rejections += 1
        // What an earlier process named has no text that the machine knows.
        if isOfKnownText { refusedAlone += 1 }
        guard isAtFault(textOf: recipient) else { return }
        campaign.tally.note(.textAtFault)
        if !hasReadAccepted { causes.mayBeLikeAll = true }
    }

    /// Whether enough devices alone did not get a recipient's text.
    private func isAtFault(textOf recipient: Int) -> Bool {
        refusedAlone >= 3 && campaign.nature.badText == campaign.nature.payload(of: recipient)
    }

    private func judgeAnswer(
        _ index: Int, _ recipient: Int, of wire: Wire, status: Int, failingBefore: Int = 0, at now: Moment
    ) {
        let answer = ServerAnswer.all[index]
        let connection = wire.connection
        if case .quota = answer.meaning {} else { campaign.fates[recipient].isHeard = true }
        campaign.fates[recipient].lastPart = wire.serial * ServerAnswer.all.count + index
        campaign.fates[recipient].lastStatus = status
        campaign.fates[recipient].retryAfterSeconds = answer.retryAfterSeconds ?? 0
        if case .doubtful = answer.meaning {
            // A gateway does not decide how long to wait: the push is tried like any other in
            // doubt.
            causes.busy += 1
            return
        }
        if case .stranger = answer.meaning, answer.status != ServerAnswer.redirection {
            causes.busy += 1
            return
        }
        if isAlone(campaign.fates[recipient], failing: failingBefore) || machine.serviceHealth.troubleSince != nil {
            campaign.fates[recipient].wasKept = true
        }
        campaign.fates[recipient].state = .answered(index)
        switch answer.meaning {
        case .accepted: peers[connection].isWarm = true
        case .invalidToken(let pointsAtSettings): if pointsAtSettings { causes.badTokens += 1 }
        case .rejected: causes.rejections += 1
        case .likeAll: causes.rejections += 1
        case .quota:
            campaign.fates[recipient].state = .refused
            campaign.fates[recipient].notBefore = heldUntil
            campaign.fates[recipient].uncounted += 1
            causes.busy += 1
        case .fatal: causes.rejections += 1
        case .stranger:
            campaign.fates[recipient].state = .refused
            campaign.fates[recipient].notBefore = 0
            causes.busy += 1
        case .temporary, .leave:
            campaign.fates[recipient].state = .refused
            campaign.fates[recipient].notBefore = now.nanoseconds + Int64((answer.retryAfterSeconds ?? 0) * 1e9)
            causes.busy += 1
            if case .leave = answer.meaning { peers[connection].mustRest = true }
        case .expired:
            guard settings.usesProviderToken else {
                causes.fatalAnswer = true
                break
            }
            campaign.fates[recipient].state = .refused
            campaign.fates[recipient].wasKept = true
            campaign.fates[recipient].notBefore = 0
            peers[connection].mustRest = true
        case .doubtful, .ofTargets: break
        }
        if case .answered = campaign.fates[recipient].state, !answer.mayBeKept { answeredForGood += 1 }
    }

    /// All answers that were read have had their consequences.
    func checkAnswered() {
        if answeredForGood != 0 {
            campaign.violate(.settlesOnce, "\(answeredForGood) pushes were answered for good, and are not settled")
        }
        if causes.fatalAnswer, machine.ending == nil {
            campaign.violate(.stops, "no stop after an answer that all pushes would get")
        }
    }

    // MARK: Settlements

    func judgeSettlements(at now: Moment) {
        while judgedCount < machine.settlements.count {
            judge(machine.settlements[judgedCount], at: now)
            judgedCount += 1
            settledCount += 1
        }
    }

    private func judge(_ settlement: Settlement, at now: Moment) {
        let recipient = settlement.recipient
        guard campaign.fates.indices.contains(recipient) else {
            return campaign.violate(.settlesOnce, "nobody is recipient \(recipient)")
        }
        campaign.trace(
            "loop \(index): \(recipient) is \(settlement.outcome) \(settlement.reason), attempts \(settlement.attempts)"
        )
        campaign.lastProgress = campaign.clock.now
        let fate = campaign.fates[recipient]
        judgeOutcome(settlement, fate, at: now)
        var isAnswered = false
        if case .answered = fate.state { isAnswered = true }
        // Not sent, like all that had its text.
        let isDropped = settlement.outcome == .rejected && !isAnswered && isAtFault(textOf: recipient)
        if settlement.attempts != fate.submissions - fate.uncounted {
            campaign.violate(
                .attempts,
                "recipient \(recipient) had \(fate.submissions - fate.uncounted) attempts, not \(settlement.attempts)")
        }
        if !isDropped { judgeAttempts(settlement, fate, at: now) }
        if settlement.status != fate.lastStatus, !isDropped {
            campaign.violate(.outcome, "the last status of \(recipient) was \(fate.lastStatus)")
        }
        campaign.fates[recipient].state = .settled
    }

    /// Whether APNs has accepted no push since a recipient was first submitted, while a few have
    /// already failed.
    /// - Parameter failing: how many may fail just before it.
    private func isAlone(_ fate: Fate, failing: Int = 0) -> Bool {
        takenAt.map { $0 < fate.firstSubmitted && failuresInARow + failing >= 3 } ?? true
    }

    /// A push may have extra attempts only while APNs accepts none at all, and then no push fails.
    private func judgeAttempts(_ settlement: Settlement, _ fate: Fate, at now: Moment) {
        if settlement.attempts > max(1, settings.retry.maximumAttempts) {
            campaign.tally.note(.keptInOutage)
            if !fate.wasKept {
                campaign.violate(.attempts, "recipient \(settlement.recipient) had \(settlement.attempts) attempts")
            }
        }
        var isAnswered = false
        if case .answered = fate.state { isAnswered = true }
        if isAnswered || [.accepted, .invalidToken, .rejected].contains(settlement.outcome) {
            (takenAt, failuresInARow) = (now.nanoseconds, 0)
        }
        // Pushes that went together fail together.
        guard settlement.outcome == .failed, fate.lastPart != failedPart || fate.lastPart == 0 else { return }
        defer { (failedPart, failuresInARow) = (fate.lastPart, failuresInARow + 1) }
        guard !isWindingUp, settings.deadline == nil else { return }
        if isAlone(fate) {
            campaign.violate(.timeout, "recipient \(settlement.recipient) failed while APNs took nobody")
        }
    }

    private func judgeOutcome(_ settlement: Settlement, _ fate: Fate, at now: Moment) {
        let recipient = settlement.recipient
        let outcome = settlement.outcome
        if outcome == .invalidToken {
            var isNamed = false
            if case .answered(let index) = fate.state, case .invalidToken = ServerAnswer.all[index].meaning {
                isNamed = true
            }
            if !isNamed { campaign.violate(.suppressedByName, "recipient \(recipient) is said to be gone") }
        }
        if fate.isInDoubt, [.rejected, .failed, .unsent].contains(outcome) {
            campaign.violate(.stillInDoubt, "recipient \(recipient) is \(outcome), and may have got the push")
        }
        func wrong(_ why: String) { campaign.violate(.outcome, "recipient \(recipient) is \(outcome), and \(why)") }
        switch fate.state {
        case .settled: campaign.violate(.settlesOnce, "recipient \(recipient) settles again, now as \(outcome)")
        case .answered(let index):
            let answer = ServerAnswer.all[index]
            if !answer.mayBeKept { answeredForGood -= 1 }
            let refused = fate.isInDoubt ? Outcome.unknown : .rejected
            let expected = answer.outcome.map { $0 == .rejected ? refused : $0 } ?? refused
            // What ends the run is not held against pushes.
            let isGivenBack =
                answer.concernsAll && machine.ending != nil && outcome == (fate.isInDoubt ? .unknown : .unsent)
            if expected == .unknown { campaign.tally.note(.refusedAgain) }
            if outcome != expected, !isGivenBack { wrong("was answered with \(answer.status) \(answer.reason)") }
        case .inFlight:
            let isDrained = endsSince.map { now.nanoseconds - $0 >= Int64(settings.drainSeconds * 1e9) } ?? false
            if outcome != .unknown { wrong("nobody knows that") }
            if !isDrained { wrong("its answer may still come") }
            campaign.fates[recipient].wasEverInDoubt = true
            campaign.fates[recipient].mayHaveArrived = true
        case .doubtful:
            if outcome != .unknown { wrong("nobody knows that") }
            let isRecognized = machine.nameRule != .none && !Wire.isText(fate.lastName)
            if settings.resendsUnknown || isRecognized { judgeGivingUp(settlement, fate, at: now) }
        case .untouched, .unprocessed, .refused: judgeUnresolved(settlement, fate, at: now)
        }
    }

    private func judgeUnresolved(_ settlement: Settlement, _ fate: Fate, at now: Moment) {
        let recipient = settlement.recipient
        let attempts = fate.submissions - fate.uncounted
        switch settlement.outcome {
        case .unknown:
            if !fate.isInDoubt { campaign.violate(.outcome, "recipient \(recipient) is unknown without any doubt") }
            // A request in doubt that is refused for one of its targets may have used up its names.
            if machine.nameRule != .generations { judgeGivingUp(settlement, fate, at: now) }
        case .unsent where !fate.isInDoubt:
            if !isWindingUp { campaign.violate(.outcome, "recipient \(recipient) is unsent while the run goes on") }
        case .rejected where !fate.isInDoubt && isAtFault(textOf: recipient): break
        case .failed where !fate.isInDoubt && attempts > 0: judgeGivingUp(settlement, fate, at: now)
        default: campaign.violate(.outcome, "recipient \(recipient) is \(settlement.outcome) after \(fate.state)")
        }
    }

    private var isWindingUp: Bool { machine.ending != nil || endsSince != nil || hasSeenDeadline }

    /// A push is given up although APNs might still have accepted it.
    private func judgeGivingUp(_ settlement: Settlement, _ fate: Fate, at now: Moment) {
        guard !isWindingUp, settlement.attempts < settings.retry.maximumAttempts, settings.deadline == nil else {
            return
        }
        if isForgotten(fate.lastName, at: now) || isAtFault(textOf: settlement.recipient) { return }
        let longestDelay = max(fate.retryAfterSeconds, settings.retry.longestDelaySeconds)
        let elapsed = Double(now.nanoseconds - fate.firstSubmitted) / 1e9
        guard elapsed + longestDelay <= settings.retry.maximumTotalSeconds else { return }
        campaign.violate(
            .timeout,
            "recipient \(settlement.recipient) is given up after \(settlement.attempts) attempts and \(Int(elapsed)) s")
    }
}
