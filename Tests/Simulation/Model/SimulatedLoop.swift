import Base

@testable import Delivery
import PushServices

/// Drives a machine as SenderLoop does, on virtual time: the same questions in the same order.
/// Where the real loop wakes twice a second to find nothing due, this one sleeps until something
/// is, so that an hour costs nothing. It is held up at random, as real threads are.
final class SimulatedLoop {
    enum Resumption {
        /// Reads what has arrived first.
        case poll
        /// Continues after that: held up between reading and deciding.
        case turn
    }

    static let longestSleep = 500 * Span.millisecond
    /// The delay until a loop that was woken runs.
    static let wakeDelay = 50 * Span.millisecond
    static let flushInterval = 100 * Span.millisecond
    static let tokenInterval = Span.second

    /// The campaign owns its loops, and outlives them.
    unowned(unsafe) let campaign: SimulatedCampaign
    let index: Int
    var machine: DeliveryMachine
    var store = PushStore()
    private var texts: TextIndex
    var isOver = false
    private(set) var wakeAt: Int64

    // As in SenderLoop.
    var actions: [DeliveryMachine.Action] = []
    private(set) var isSourceEmpty = false
    private var flushedAt: Int64 = 0
    private var acceptedTold = 0, acceptedByOthers = 0
    private var tokenWatch = CredentialRenewal()

    // The wire.
    var inbox: [Delivery] = []
    var peers: [Peer] = []
    var wires: [Wire] = []
    var lastSerial = 0

    // The model's own account.
    private var resumption = Resumption.turn
    var isHeldUp = false
    var addedCount = 0
    var judgedCount = 0
    var settledCount = 0
    var answeredForGood = 0
    /// When what left that counts against the settings' pace, and against the pace of devices:
    /// monotonic nanoseconds.
    var submissions: [Int64] = [], deviceSubmissions: [Int64] = []
    /// When the machine was told, or had cause, to submit nothing more: monotonic nanoseconds.
    var endsSince: Int64?
    var hasSeenDeadline = false
    var causes = StopCauses()
    /// When APNs last accepted a push, or permanently refused one; how many failed since.
    var takenAt: Int64?
    var failuresInARow = 0
    /// The last one that failed, as in `Fate.lastPart`.
    var failedPart = 0
    /// The server was seen to leave each connection after the same number of requests.
    var knewBudget = false
    var idleTurns = 0
    /// What the model records of the quota: when the last hold began, and its shortest end;
    /// monotonic nanoseconds.
    var holdBegan = Int64.min, heldUntil = Int64.min
    /// No push has shown yet that the hold is over.
    var isHoldUnproven = false
    /// Whether this loop has read that a push was accepted.
    var hasReadAccepted = false
    /// For how many targets in a row the settings were refused, or something else answered, while
    /// none was accepted.
    var blamedTargets = 0
    /// For how many devices alone the text that no device gets was refused.
    var refusedAlone = 0
    /// Recipients in the order in which this loop first had them named or submitted them, until it
    /// is clear that the canary was awaited.
    var firsts: [Int] = []
    private(set) var turnsUntilScan = 16

    init(_ campaign: SimulatedCampaign, index: Int, isHelper: Bool) {
        self.campaign = campaign
        self.index = index
        var settings = campaign.nature.settings
        settings.connectsFirst = isHelper
        if isHelper { settings.canaryPushes = 0 }
        settings.jitterSeed &+= UInt64(index + 16 * campaign.epoch)
        let shared = campaign.nature.devicePace.map { SharedPace($0, counting: .targets) }
        settings.sharedPaces = [shared].compactMap(\.self)
        settings.deadline = campaign.nature.deadlineAfter.map { campaign.clock.moment.adding(nanoseconds: $0).wall }
        machine = DeliveryMachine(settings)
        machine.paceArbiter = settings.sharedPaces.map { $0.join() }
        texts = TextIndex(settings.service.batching)
        wakeAt = campaign.clock.now
    }

    var settings: MachineSettings { machine.settings }

    /// Wakes no later than this, unless it is held up.
    func wake(by time: Int64) { if !isHeldUp, time < wakeAt { wakeAt = time } }

    /// While the machine is suspended.
    func postpone(by nanoseconds: Int64) { if wakeAt < .max { wakeAt += nanoseconds } }

    // MARK: The loop

    func wake() {
        campaign.tally.noteTurn()
        if !isHeldUp { passIdleTurns() }
        isHeldUp = false
        if resumption == .poll {
            deliverEvents()
            if campaign.random.happens(campaign.nature.heldUp) { return holdUp(.turn) }
        }
        turn()
    }

    /// The real loop checked from time to time, and the machine relies on this.
    private func passIdleTurns() {
        let now = campaign.clock.monotonic
        if let last = machine.lastAdvance, now - last > Self.longestSleep {
            machine.lastAdvance = now - Self.longestSleep
        }
    }

    private func holdUp(_ resumption: Resumption) {
        self.resumption = resumption
        isHeldUp = true
        let random = campaign.random.below(10)
        let longest = random < 6 ? 200 * Span.millisecond : random < 9 ? 3 * Span.second : 45 * Span.second
        wakeAt = campaign.clock.now + campaign.random.span(0, longest)
        campaign.tally.note(.heldUp)
        campaign.trace("loop \(index) is held up")
    }

    private func turn() {
        let now = campaign.clock.moment
        listenToLoopGroup(at: now)
        checkToken(at: now)
        takeNames(at: now)
        takeBatches(at: now)
        advance(to: now)
        carryOut(at: now)
        judgeSettlements(at: now)
        checkTurn(at: now)
        flush(at: now)
        campaign.tick()
        if let end = machine.end { return leave(end) }
        if campaign.random.happens(campaign.nature.heldUp) { return holdUp(.poll) }
        resumption = .poll
        wakeAt = sleepEnd(after: now)
    }

    private func advance(to now: Moment) {
        if let deadline = settings.deadline, now.wall >= deadline, machine.ending == nil, !hasSeenDeadline {
            hasSeenDeadline = true
            campaign.tally.note(.deadlinePassed)
            campaign.trace("loop \(index): the deadline is over")
        }
        let retryDeadline = machine.credentialDeadline
        let nameDeadline = machine.nameDeadline
        machine.advance(to: now)
        if let retryDeadline, now.nanoseconds > retryDeadline {
            causes.hasAwaitedTokenInVain = true
            campaign.tally.note(.tokenAwaitedInVain)
        }
        if let nameDeadline, now.nanoseconds > nameDeadline {
            causes.hasAwaitedNamesInVain = true
            campaign.tally.note(.namesAwaitedInVain)
        }
        // The canary and the campaign's limits are judged there.
        if case .stopped = machine.ending?.end { noteEnding(at: now) }
    }

    private func leave(_ end: RunEnd) {
        campaign.trace("loop \(index) ends: \(end)")
        isOver = true
        wakeAt = .max
        campaign.namer?.forget(client: index)
        campaign.ends.append(end)
        campaign.loopGroup.leave()
        checkEnd(end)
    }

    // MARK: Team

    private func listenToLoopGroup(at now: Moment) {
        if campaign.loopGroup.control.isInterrupted {
            machine.interrupt(at: now)
            noteEnding(at: now)
        }
        if let cause = campaign.loopGroup.stopCause {
            if machine.ending == nil { campaign.tally.note(.stoppedByOther) }
            causes.other = true
            machine.stop(cause, at: now)
            noteEnding(at: now)
        }
        if case .stopped(let cause) = machine.ending?.end {
            noteEnding(at: now)
            if campaign.loopGroup.stopCause == nil {
                campaign.loopGroup.stop(cause)
                campaign.wakeAll(within: Self.wakeDelay)
            }
        }
        if machine.hasEverAnswered {
            campaign.loopGroup.noteAnswer()
        } else if campaign.loopGroup.hasAnswered {
            machine.hasEverAnswered = true
        }
        hearOfAccepted(at: now)
        machine.quota.join(until: campaign.loopGroup.hold(until: machine.quota.until), at: now.nanoseconds)
        machine.noteGate(isOpen: campaign.loopGroup.control.isGateOpen, at: now)
        if machine.wait(at: now) == .store { campaign.tally.note(.heldAtGate) }
    }

    private func hearOfAccepted(at now: Moment) {
        let accepted = machine.tally.accepted
        let byOthers = campaign.loopGroup.count(accepted: accepted - acceptedTold) - accepted
        acceptedTold = accepted
        guard byOthers > acceptedByOthers else { return }
        acceptedByOthers = byOthers
        blamedTargets = 0
        machine.noteAccepted(at: now)
    }

    /// From here on, nothing may be submitted.
    func noteEnding(at now: Moment) { endsSince = endsSince ?? now.nanoseconds }

    private func sleepEnd(after now: Moment) -> Int64 {
        let time = campaign.clock.now
        guard inbox.isEmpty, machine.actions.isEmpty else { return time + 1000 }
        if machine.ending != nil, !machine.isSourceEnded { return time + 1000 }
        if machine.wantsPushes, !isSourceEmpty, !machine.isSourceEnded { return time + 1000 }
        var end = Int64.max
        if let wake = machine.nextWake(after: now) { end = max(wake + campaign.clock.asleep, time + 1000) }
        checkSleep(until: end, at: now)
        if campaign.nature.wakesOften { end = min(end, time + Self.longestSleep) }
        // What the real loop finds when it checks: capacity for more pushes, a token that has grown
        // old, a source that is done.
        let mayTake = machine.wantsPushes && !isSourceEmpty || machine.openPushes == 0 && campaign.source.isFinished
        if mayTake, !machine.isSourceEnded { end = min(end, time + Self.longestSleep) }
        if campaign.fetched != nil {
            let isWatched = machine.credentialPendingSince == nil && machine.ending == nil
            if isWatched, let token = tokenWatch.token, token.usableUntil > time { end = min(end, token.usableUntil) }
        } else if let token = tokenWatch.token {
            end = min(
                end,
                max(time + Self.tokenInterval, token.mintedAt + Int64(SignedTokenFacts.standard.renewalSeconds * 1e9)))
        }
        return end
    }

    // MARK: Source

    private func takeBatches(at now: Moment) {
        if machine.ending != nil { return drainSource(at: now) }
        isSourceEmpty = false
        while machine.wantsPushes, !machine.isSourceEnded {
            guard let batch = campaign.takeBatch() else {
                if campaign.source.isFinished { machine.sourceEnded() } else { isSourceEmpty = true }
                return
            }
            add(batch, at: now)
        }
        if machine.openPushes == 0, campaign.source.isFinished { machine.sourceEnded() }
    }

    private func drainSource(at now: Moment) {
        guard !machine.isSourceEnded else { return }
        campaign.source.close()
        campaign.wakeAll(within: Self.wakeDelay)
        while let batch = campaign.takeBatch() {
            add(batch, at: now)
            advance(to: now)
            carryOut(at: now)
            judgeSettlements(at: now)
            flush(at: now)
        }
        machine.sourceEnded()
    }

    private func add(_ batch: SourceBatch, at now: Moment) {
        if batch.call != nil || !campaign.pasts.isEmpty { return add(batch, withPast: now) }
        let batch = batch.recipients
        var bytes = PushBatch()
        for recipient in batch {
            bytes.append(
                recipient: recipient, token: String(recipient), payload: [campaign.nature.payload(of: recipient)])
        }
        let stored = store.insert(bytes)
        for (index, recipient) in batch.enumerated() {
            if machine.largestRequest > 1 {
                texts.add(recipient, in: (stored, index), &store, to: &machine, at: now)
            } else {
                store.assign(machine.add(recipient: recipient, at: now), batch: stored, index: index)
            }
        }
        noteAdded(batch.count)
    }

    /// Adds a push after what an earlier process did with it.
    func add(_ recipient: Int, in stored: (batch: Int, index: Int), at now: Moment) {
        let past = campaign.pasts[recipient] ?? PushHistory()
        if machine.largestRequest > 1 {
            texts.add(recipient, in: stored, after: past, &store, to: &machine, at: now)
        } else {
            store.assign(
                machine.add(recipient: recipient, after: past, at: now), batch: stored.batch, index: stored.index)
        }
    }

    func noteAdded(_ count: Int) {
        while wires.count < machine.pushes.count { wires.append(Wire()) }
        addedCount += count
        campaign.lastProgress = campaign.clock.now
    }

    // MARK: Actions

    func carryOut(at now: Moment) {
        swap(&machine.actions, &actions)
        for action in actions {
            switch action {
            case .open(let connection): open(connection)
            case .close(let connection): close(connection)
            case .submit(let push, let connection): submit(push, on: connection, at: now)
            case .name(let request, let question): askForName(of: request, question)
            case .abandon(let push, let connection): abandon(push, on: connection)
            case .hold(let push): store.hold(push)
            case .ping(let connection): ping(connection)
            case .renewToken(let connection): renewToken(of: connection, at: now)
            case .changeServer: break
            case .forgetText(let name): forgetText(name)
            case .confirmToken(let connection):
                if let token = peers[connection].token { campaign.tokens?.confirm(token) }
            }
        }
        actions.removeAll(keepingCapacity: true)
        for push in machine.released { store.free(Int(push)) }
        machine.released.removeAll(keepingCapacity: true)
    }

    // MARK: Provider token

    private func checkToken(at now: Moment) {
        guard let tokens = campaign.tokens else { return }
        let renewal = tokenWatch.check(tokens, isAwaited: machine.credentialPendingSince != nil, at: campaign.clock.now)
        if let token = tokenWatch.token { _ = campaign.noteToken(token) }
        follow(renewal, at: now)
    }

    private func renewToken(of connection: Int, at now: Moment) {
        guard let tokens = campaign.tokens, let refused = peers[connection].token else { return }
        let isSecond = campaign.noteRefusal(of: refused, hadPassed: peers[connection].hadPassedWhenRefused)
        let renewal = tokenWatch.renew(tokens, after: refused)
        if campaign.fetched != nil, isSecond != (renewal == .refused) {
            campaign.violate(
                .tokenRefusals, "\(renewal) after the \(isSecond ? "second refusal" : "refusal") of a token")
        }
        if let token = tokenWatch.token { _ = campaign.noteToken(token) }
        campaign.planFetch()
        if renewal == .refused {
            campaign.tally.note(.tokenRefused)
            causes.tokenRefused = true
            machine.tokenRefused(at: now)
            noteEnding(at: now)
        }
        follow(renewal, at: now)
    }

    private func follow(_ renewal: CredentialRenewal.Renewal, at now: Moment) {
        machine.follow(renewal, at: now)
        guard case .ended = renewal else { return }
        causes.tokenRefused = true
        noteEnding(at: now)
    }

    // MARK: Results

    private func flush(at now: Moment) {
        let isDue = now.nanoseconds - flushedAt >= Self.flushInterval || machine.end != nil
        guard isDue else { return }
        flushedAt = now.nanoseconds
        guard !machine.settlements.isEmpty else { return }
        campaign.put(machine.settlements)
        machine.settlements.removeAll(keepingCapacity: true)
        judgedCount = 0
    }

    /// Whether it is time to check the whole state.
    func isScanDue() -> Bool {
        turnsUntilScan -= 1
        guard turnsUntilScan <= 0 else { return false }
        turnsUntilScan = 48
        return true
    }
}
