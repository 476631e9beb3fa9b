import Base

/// What a campaign can meet; counted, so that a simulation that meets too little is noticed.
enum Encounter: Int, CaseIterable {
    case accepted, invalidToken, rejected, tooManyRequests, retryAfter, busy, shutdown, idleTimeout, fatalAnswer,
        unknownStatus
    case tokenExpired, tokenTooNew, tooManyUpdates, tokenRenewed, tokenGrewOld, tokenRefused, clocksDiffer
    case fetched, fetchFailed, fetchRefused, tokenAwaited, tokenAwaitedInVain
    case streamRefused, beyondLimit, limitChanged, fellBackToOne, goAway, unprocessedByGoAway, answeredAfterGoAway,
        streamReset
    case requestNamed, namesFetched, namesNotFetched, namesAwaited, namesAwaitedInVain, generationRaised,
        repeatRecognized, callRepeated,
        unsentAfterCrash, doubtBegins, textKept, textRefused, textNamed
    case acceptedUnanswered, swallowed, lateAnswer, pinged, silentConnection, connectionDied, provablyUnsent, doubt
    case quotaUsedUp, quotaOutage, quotaTried, refusedLikeAll, likeOthers, secondRefusal, refusedAgain
    case gatewayAnswer, stranger, cutOff, leftInOrder, requestsLimited, budgetKnown, windowClosed, probing, keptInOutage
    case together, targetsRefused, textAtFault, halved, targetsNamed, eachAnswered, probedWithOne
    case connectRefused, connectSlow, connectHopeless, certificateRefusedLate, outage
    case wallClockStepped, machineSlept, heldUp, sourcePaused, interrupted, deadlinePassed
    case gateClosed, heldAtGate
    case secondConnection, troubled, alarmed, stoppedForConnections, helperStarted, stoppedByOther, killed, killedAgain,
        resumedAfterStop,
        resent, duplicateAccepted, unknownAfterCrash, paced, pacedByDevices
    case settingsWrong, stoppedAtTheEnd, stoppedAgain, stoppedForLastEpoch, spared, suppressedGone, suppressedDoubtful,
        retried,
        stoppedRetry
}

/// The nature of all campaigns together.
struct Tally {
    private(set) var campaigns = 0
    private(set) var encounters = [Int](repeating: 0, count: Encounter.allCases.count)
    private(set) var campaignsWith = [Int](repeating: 0, count: Encounter.allCases.count)
    private(set) var outcomes = [Int](repeating: 0, count: Outcome.allCases.count)
    /// Finished, stopped, interrupted: the campaigns' last epochs.
    private(set) var ends = [0, 0, 0]
    private(set) var submissions = 0
    private(set) var virtualSeconds = 0.0
    private(set) var turns = 0

    mutating func note(_ encounter: Encounter) { encounters[encounter.rawValue] += 1 }
    mutating func note(_ outcome: Outcome) { outcomes[outcome.rawValue] += 1 }
    mutating func noteSubmission() { submissions += 1 }
    mutating func noteTurn() { turns += 1 }
    mutating func noteEnd(_ end: Int, after nanoseconds: Int64) {
        campaigns += 1
        ends[end] += 1
        virtualSeconds += Double(nanoseconds) / 1e9
    }

    /// Adds a campaign's figures.
    mutating func add(_ other: Tally) {
        campaigns += other.campaigns
        for index in encounters.indices where other.encounters[index] > 0 {
            encounters[index] += other.encounters[index]
            campaignsWith[index] += max(other.campaignsWith[index], other.campaignsWith[index] == 0 ? 1 : 0)
        }
        for index in outcomes.indices { outcomes[index] += other.outcomes[index] }
        for index in ends.indices { ends[index] += other.ends[index] }
        submissions += other.submissions
        virtualSeconds += other.virtualSeconds
        turns += other.turns
    }

    var text: String {
        func share(_ part: Int, of whole: Int) -> String {
            let hundredths = whole == 0 ? 0 : (part * 10_000 + whole / 2) / whole
            return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) %"
        }
        let recipients = outcomes.reduce(0, +)
        var lines = [
            "\(campaigns) campaigns, \(recipients) recipients, \(submissions) submissions, \(Int(virtualSeconds / 3600)) simulated hours",
            "ends: finished \(share(ends[0], of: campaigns)), stopped \(share(ends[1], of: campaigns)), interrupted \(share(ends[2], of: campaigns))",
            "outcomes: "
                + Outcome.allCases.map { "\($0) \(share(outcomes[$0.rawValue], of: recipients))" }.joined(
                    separator: ", "),
            "campaigns that met, and how often in all:",
        ]
        for encounter in Encounter.allCases {
            let name = "\(encounter)"
            lines.append(
                "  \(name)\(String(repeating: " ", count: max(1, 26 - name.count)))"
                    + "\(share(campaignsWith[encounter.rawValue], of: campaigns))  \(encounters[encounter.rawValue])")
        }
        return lines.joined(separator: "\n")
    }
}

extension Tally {
    /// What these campaigns should have met and did not, in sentences: a simulation that meets
    /// nothing finds nothing.
    var gaps: [String] {
        var gaps: [String] = []
        for encounter in Encounter.allCases where campaignsWith[encounter.rawValue] * 10_000 < campaigns * 3 {
            gaps.append("only \(campaignsWith[encounter.rawValue]) of \(campaigns) campaigns met \(encounter)")
        }
        let recipients = outcomes.reduce(0, +)
        for outcome in Outcome.allCases where outcomes[outcome.rawValue] * 100 < recipients {
            gaps.append("only \(outcomes[outcome.rawValue]) of \(recipients) recipients ended as \(outcome)")
        }
        for (index, end) in ["finished", "stopped", "interrupted"].enumerated() where ends[index] * 100 < campaigns {
            gaps.append("only \(ends[index]) of \(campaigns) campaigns \(end == "finished" ? end : "were \(end)")")
        }
        return gaps
    }
}
