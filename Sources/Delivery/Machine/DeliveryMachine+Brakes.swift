import Base

/// What keeps a run that goes wrong from going on: the canary, the alarms about shares of answers, the campaign's own limits.
extension DeliveryMachine {
    // MARK: Canary

    /// Whether the push that would be next may leave as far as the canary is concerned. What was submitted before belongs to it.
    var canaryAllowsNext: Bool {
        if canary.isOver || canary.hasCapacity || !again.isEmpty { return true }
        return fresh.first.map { pushes[$0].isCanary || pushes[$0].refusals > 0 } ?? true
    }

    /// A push goes out: the first ones are the canary.
    mutating func admitToCanary(_ push: Int) {
        // One that was let go after many refusals is no other push when it comes again.
        guard canary.hasCapacity, !pushes[push].isCanary, pushes[push].attempts == 0, pushes[push].refusals == 0 else { return }
        pushes[push].isCanary = true
        canary.admit()
    }

    /// A push needs no longer to be awaited before others may go out.
    mutating func resolveCanary(_ push: Int) {
        guard pushes[push].isCanary else { return }
        pushes[push].isCanary = false
        canary.resolve()
    }

    // MARK: Judging

    /// Judges the canary once it is over, and the whole run by the campaign's limits. Called before anything is submitted, so that what is
    /// known decides about the next push.
    mutating func judge(at now: Moment) {
        guard ending == nil, !isExpired, openPushes > 0 || !isSourceEnded else { return }
        if canary.isDueForJudgement() {
            if tokenHealth.isBad { stopForBadTokens(at: now) }
            if rejectionHealth.isBad { stopForRejections(at: now) }
        }
        judgeByLimits(at: now)
    }

    private mutating func judgeByLimits(at now: Moment) {
        guard let limits = settings.stopLimits else { return }
        let total = tally + tallyOfOthers + earlierTally
        guard total != judgedTally else { return }
        judgedTally = total
        let answers = total.answers
        guard answers >= limits.after else { return }
        for outcome in StopLimits.outcomes {
            guard let limit = limits.shares[outcome], limit.isPassed(by: total[outcome], of: answers) else { continue }
            return stop(
                "\(TextFormat.percent(Double(total[outcome]) / Double(answers))) of the answers so far were \(outcome) "
                    + "(\(TextFormat.count(total[outcome])) of \(TextFormat.count(answers))), and delivery.stop_when in the campaign allows "
                    + "\(limit). \(advice(about: outcome))", at: now)
        }
    }

    private func advice(about outcome: Outcome) -> String {
        switch outcome {
        case .invalidToken:
            "The last reason was \(lastReasons.invalidToken). Check that the export is recent and belongs to this app, and its environment and topic "
                + "in volley.yaml; an old list simply has many dead tokens, and then the limit may be raised."
        case .rejected:
            "The last reason was \(lastReasons.rejected). Check the campaign's content and delivery, and the reasons in the report, before more is "
                + "sent."
        default:
            "The last reason was \(lastReasons.failed): APNs took these pushes at none of their attempts. Check in the report whether it was all "
                + "at once, and send the rest later or with a slower delivery.pace."
        }
    }

    mutating func stopForRejections(at now: Moment) {
        stop(
            "More than half of the pushes were refused for good, the last with \(lastReasons.rejected). That is the campaign or the server, not the "
                + "devices: check the campaign's content and delivery, and environment and topic in volley.yaml.", at: now)
    }

    mutating func stopForBadTokens(at now: Moment) { stop(StopReason.tooManyBadTokens(lastReasons.badToken), at: now) }
}

/// The latest reasons, for sentences about why a run stops.
struct LastReasons {
    var invalidToken = ""
    /// Of those that blame the run rather than the token.
    var badToken = ""
    var rejected = ""
    var failed = ""
}
