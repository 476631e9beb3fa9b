import Base
import Cryptography

@testable import Delivery

/// A campaign from plan to report, drawn from a seed: a reader that claims, one to six loops that
/// deliver with the machine under test to a model of APNs, a recorder, and perhaps a crash or two.
/// After every step, the invariants are checked.
final class SimulatedCampaign {
    /// Longer than any campaign needs as long as it makes progress.
    static let longestSilence = 3 * Span.hour
    static let mostTurns = 60_000

    let seed: UInt64
    let nature: Nature
    let isTraced: Bool
    let clock = VirtualClock()
    var random: SplitMix
    var agenda = Agenda()
    var tally = Tally()
    private(set) var violation: Violation?

    // What survives a crash.
    var account: RunAccount
    /// The accounts of the runs that a retry retries.
    var earlier: [RunAccount] = []
    var evidenceOfRetried = TokenEvidence()
    var truths: [TokenTruth]
    var suppressed: Set<Int> = []
    /// How the last epoch ended, judged by all answers of the run.
    var judgedEnd = RunEnd.interrupted
    /// Its last epoch reached the end, and was judged to have stopped.
    var isStoppedAtTheEnd = false
    var fates: [Fate]
    var server = ServerState()
    var epoch = 0
    var restartedAt: Int64 = 0

    // One epoch.
    var source: PushSource
    var loops: [SimulatedLoop] = []
    var loopGroup = LoopGroup(control: SendControl(), largest: 2)
    var tokens: (any TokenSource)?
    /// The same, if a server gives them out.
    var fetched: SimulatedTokens?
    var fetchPlan = 0
    var fetchedCount = 0
    var fetchOutageEnds: Int64?
    var tokenHistory: [SeenToken] = []
    /// Names of requests, for a service that recognizes repeats.
    var namer: CallSchedule?
    var namerAnswers: [Int: [NameReply]] = [:]
    var namerPlan = 0
    var isNamerBusy = false
    var nameCount = 0
    /// When the service gave out each name: true time.
    var givenNames: [String: Int64] = [:]
    /// The texts that the service gave names, by their names.
    var keptTexts: [String: UInt8] = [:]
    var nameOutageEnds: Int64?
    /// What the last process did with pushes, and the calls that it left.
    var pasts: [Int: PushHistory] = [:]
    var repeats: [NamedCall] = []
    /// Tokens that a server gave out and the service refused; those that stand in for them; those
    /// that the service let pass.
    var refusedTokens: Set<String> = [], standInTokens: Set<String> = [], passedTokens: Set<String> = []
    /// Whether a loop of this epoch has read that a push was accepted.
    var hasReadAccepted = false
    var unrecorded: [Settlement] = []
    var isCommitDue = false
    var ticks = 0
    var killsAtTick = Int.max
    var isKilled = false
    /// What a process that died had claimed and not recorded.
    private var mostUnknown = 0
    var turns = 0
    var lastProgress: Int64 = 0
    /// The ends of the loops in the present epoch.
    var ends: [RunEnd] = []

    init(seed: UInt64, isTraced: Bool = false) {
        self.seed = seed
        self.isTraced = isTraced
        random = SplitMix(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678)
        nature = Nature(from: &random)
        account = RunAccount(of: Array(0..<nature.pushes), among: nature.pushes)
        truths = Array(repeating: .good, count: nature.pushes)
        let first = nature.acceptedComeFirst ? nature.pushes - nature.refusedBySettings : 0
        for recipient in first..<first + nature.refusedBySettings {
            truths[recipient] = .refusedBySettings(nature.settingsAnswer)
        }
        fates = Array(repeating: Fate(), count: nature.pushes)
        source = PushSource([], nature, repeats: [])
    }

    /// Runs it to its end, or to the first violation.
    func run() {
        trace("\(nature)")
        scheduleWorld()
        var recipients = Array(0..<nature.pushes)
        while true {
            live(recipients)
            guard violation == nil else { return }
            if let next = nextEpoch() {
                recipients = next
                continue
            }
            checkReport()
            guard violation == nil else { return }
            guard let next = nextRun() else { break }
            recipients = next
        }
        finishTally()
    }

    /// Another process is started later.
    func startAnew(after nanoseconds: Int64) {
        agenda.removeAll()
        scheduleWorld()
        clock.move(to: clock.now + nanoseconds)
    }

    // MARK: Epochs

    /// One process, from its start to its end or its death.
    private func live(_ recipients: [Int]) {
        epoch += 1
        source = PushSource(recipients, nature, repeats: repeats)
        loopGroup = LoopGroup(control: SendControl(), largest: nature.loops)
        tokenHistory.removeAll()
        (refusedTokens, standInTokens, passedTokens) = ([], [], [])
        hasReadAccepted = false
        openNamer()
        if let fetching = nature.fetching {
            startFetching(fetching)
        } else if nature.settings.usesProviderToken {
            let clock = clock
            tokens = SignedTokenSource(
                key: Self.key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", history: SignedTokenHistory()
            ) { clock.bootMoment }
        }
        unrecorded.removeAll()
        isCommitDue = false
        ends.removeAll()
        isKilled = false
        killsAtTick =
            [nature.killAfterTicks, nature.killAfterTicks == nil ? nil : nature.secondKillAfterTicks, nil][
                min(epoch - 1, 2)
            ].map {
                ticks + $0
            } ?? .max
        lastProgress = clock.now
        restartedAt = clock.now
        loops = [SimulatedLoop(self, index: 0, isHelper: false)]
        agenda.add(.read, at: clock.now + random.span(0, 5 * Span.millisecond))
        if nature.loops > 1, nature.settings.pace == nil {
            agenda.add(.helperStarts, at: clock.now + nature.helperAfter)
        }
        runEpoch()
        guard violation == nil else { return }
        guard !isKilled else { return die() }
        endEpoch()
        if violation == nil { judgeEnd(hadNothingToSend: recipients.isEmpty) }
    }

    private func runEpoch() {
        while violation == nil, !isKilled {
            var next: SimulatedLoop?
            for loop in loops where !loop.isOver && loop.wakeAt < next?.wakeAt ?? .max { next = loop }
            let wakeAt = next?.wakeAt ?? .max
            if agenda.earliest <= wakeAt {
                guard agenda.earliest < .max else { return checkAllOver() }
                let entry = agenda.removeFirst()
                // Nothing is left to see it.
                if loops.allSatisfy(\.isOver), !concernsRecorder(entry.happening) { continue }
                clock.move(to: max(clock.now, entry.time))
                happen(entry.happening)
            } else if let next {
                clock.move(to: max(clock.now, wakeAt))
                turns += 1
                if turns > Self.mostTurns { return violate(.ends, "\(turns) turns, and no end") }
                if clock.now - lastProgress > Self.longestSilence {
                    return violate(.ends, "no progress for three hours")
                }
                next.wake()
                checkAccounts()
            }
        }
    }

    private func concernsRecorder(_ happening: Happening) -> Bool {
        if case .commit = happening { true } else { false }
    }

    private func checkAllOver() {
        for loop in loops where !loop.isOver { violate(.awake, "loop \(loop.index) waits for nothing") }
    }

    /// The process ends cleanly: everything is recorded, and what was claimed but not passed on is
    /// unsent.
    private func endEpoch() {
        record(unrecorded)
        unrecorded.removeAll()
        source.close()
        for recipient in source.hand { record(recipient, .unsent) }
        for recipient in source.hand { fates[recipient].state = .settled }
        if account.recordedCount != account.claimedCount {
            violate(.accounts, "\(account.claimedCount) were claimed, \(account.recordedCount) recorded")
        }
    }

    /// The process is gone, and with it everything that was not recorded.
    private func die() {
        tally.note(epoch == 1 ? .killed : .killedAgain)
        trace("killed")
        mostUnknown = unrecorded.count + source.queuedCount + source.hand.count
        for loop in loops { mostUnknown += loop.machine.openPushes + loop.machine.settlements.count }
        for loop in loops { loop.vanish() }
        agenda.removeAll()
        scheduleWorld()
    }

    /// The recipients of the next epoch; nil after the last.
    private func nextEpoch() -> [Int]? {
        // Of those some may not have been handed over.
        let repeated = repeats.reduce(0) { $0 + $1.recipients.count } + pasts.values.count(where: \.isInDoubt)
        (repeats, pasts) = ([], [:])
        let wasKilled = isKilled
        if !wasKilled {
            guard judgedEnd != .finished, nature.resumesAfterStop, epoch < 4 else { return nil }
            tally.note(.resumedAfterStop)
            agenda.removeAll()
            scheduleWorld()
        }
        let (toSend, unknown) = resumeAccount()
        let most = (wasKilled ? mostUnknown : 0) + repeated
        if unknown.count > most {
            violate(.accounts, "\(unknown.count) are unknown, and at most \(most) were in flight or not recorded")
        }
        for recipient in fates.indices where account.outcomes[recipient] == .unsent && fates[recipient].accepted > 0 {
            violate(.ledger, "recipient \(recipient) is unsent, and was accepted")
        }
        for recipient in toSend { fates[recipient].beginEpoch(carriesDoubt: account.carriesDoubt[recipient]) }
        beginRepeats()
        for recipient in unknown {
            fates[recipient].wasEverInDoubt = true
            tally.note(.unknownAfterCrash)
        }
        clock.move(to: clock.now + random.span(Span.second, random.oneIn(4) ? Span.hour : Span.minute))
        return toSend
    }

    /// How the present epoch ended: judged from its loops as Sender does.
    var end: RunEnd {
        for end in ends { if case .stopped = end { return end } }
        return ends.contains(.interrupted) ? .interrupted : .finished
    }

    // MARK: Telling

    func trace(_ text: @autoclosure () -> String) {
        guard isTraced else { return }
        let microseconds = (clock.now - 1000 * Span.second) / 1000
        let fraction = String(microseconds % 1_000_000 + 1_000_000).dropFirst()
        Output.say("\(microseconds / 1_000_000).\(fraction)  \(text())")
    }

    /// Only the first violation counts: later ones may be its consequences.
    func violate(_ invariant: Invariant, _ text: @autoclosure () -> String) {
        guard violation == nil else { return }
        let words = text()
        trace("VIOLATION: \(invariant.rawValue): \(words)")
        violation = Violation(invariant: invariant, text: words, time: clock.now - 1000 * Span.second)
    }

    func tick() {
        ticks += 1
        if ticks >= killsAtTick { isKilled = true }
    }

    private static let key = SigningKey.generate()
}

/// A provider token as the model first saw it.
struct SeenToken {
    var text: String
    var seenAt: Int64
    var issuedAt: Int64
    /// The end that the server that gave it out told.
    var endsAt = Int64.max
}

/// State that the servers share.
struct ServerState {
    var lastToken = ""
    var lastTokenAt: Int64 = .min / 2
    var tooManyUpdatesUntil: Int64 = 0
    /// Named requests that it accepted, at least in part, with the answer.
    var calls: [String: AcceptedCall] = [:]
    /// Pushes that it accepted, by their derived names.
    var pushes: Set<DerivedName> = []
}

/// A named request as the server remembers it.
struct AcceptedCall {
    /// As in `Delivery.answered`.
    var answer: Int
    var targets: [Int]
    /// When it forgets the name: true time.
    var forgottenAt: Int64
}

/// What a push is recognized by.
struct DerivedName: Hashable {
    /// Which run of the campaign: a retry's pushes have other ids.
    var run: Int
    var recipient: Int
    var generation: UInt16
}
