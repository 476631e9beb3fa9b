import Base

@testable import Delivery

/// What happens at the end of an epoch that ends cleanly, and what follows a run: it is judged by
/// all its answers, the devices that turned out to be gone are suppressed, and some of the rest get
/// a retry, which is a separate run.
extension SimulatedCampaign {
    /// APNs answers for the first time that a recipient's token is invalid, for a reason other than
    /// the settings.
    func learn(_ recipient: Int, _ answer: Int) {
        if ServerAnswer.gone.contains(answer) { truths[recipient] = .gone(answer) }
        if ServerAnswer.badTokens.contains(answer) { truths[recipient] = .bad(answer) }
    }

    /// As RunSender and SuppressionList do it.
    func judgeEnd(hadNothingToSend: Bool) {
        let evidence = RunEvidence(account.evidence, retried: evidenceOfRetried, before: account.evidenceBefore)
        let wasStopped = isStoppedAtTheEnd
        judgedEnd = end
        isStoppedAtTheEnd = end == .finished && evidence.settingsEvidence != nil
        if isStoppedAtTheEnd {
            judgedEnd = .stopped(.service("apns", .targetsRefused(reason: "BadDeviceToken", TargetRefusals(evidence))))
            if !evidence.all.pointsAtSettings { tally.note(.stoppedForLastEpoch) }
            tally.note(.stoppedAtTheEnd)
            if !earlier.isEmpty { tally.note(.stoppedRetry) }
            if wasStopped { tally.note(.stoppedAgain) }
        }
        if wasStopped, hadNothingToSend, end == .finished, !isStoppedAtTheEnd {
            violate(.settingsJudged, "the run was stopped at its end, was gone on with, and finished with nothing sent")
        }
        let before = suppressed
        for recipient in account.members where account.reported(recipient) == .invalidToken {
            guard evidence.suppresses(status: account.statuses[recipient], hasFinished: judgedEnd == .finished) else {
                if judgedEnd == .finished { tally.note(.spared) }
                continue
            }
            suppressed.insert(recipient)
        }
        checkJudgement()
        checkSuppression(before)
    }

    // MARK: Retries

    /// The recipients of a retry: those that the first run did not reach and that may still get the
    /// push; nil if there is no retry.
    func nextRun() -> [Int]? {
        guard earlier.isEmpty, let outcomes = nature.retriedOutcomes else { return nil }
        let recipients = account.members.filter { outcomes.contains(account.reported($0) ?? .unsent) }
        guard !recipients.isEmpty else { return nil }
        tally.note(.retried)
        trace("a retry of \(recipients.count)")
        evidenceOfRetried = account.evidence
        earlier.append(account)
        account = RunAccount(of: recipients, among: nature.pushes)
        isStoppedAtTheEnd = false
        // A new run's pushes are new pushes.
        for recipient in recipients { fates[recipient] = Fate() }
        startAnew(after: random.span(Span.second, Span.minute))
        return recipients
    }

    /// What the reports together say about a recipient.
    func outcome(of recipient: Int) -> Outcome? {
        account.isMember[recipient] ? account.reported(recipient) : earlier.last?.reported(recipient)
    }

    // MARK: Checks against the model's record of the tokens

    /// Answers, counted by the true state of the tokens.
    private struct Answers {
        var accepted = 0, doubtful = 0, gone = 0, others = 0

        var count: Int { accepted + doubtful + gone + others }
        var blameSettings: Bool { 2 * doubtful > count }
        var blameTokens: Bool { doubtful == 0 || accepted > 0 && accepted >= 4 * (doubtful + others) }

        static func + (left: Answers, right: Answers) -> Answers {
            var sum = left
            sum.accepted += right.accepted
            sum.doubtful += right.doubtful
            sum.gone += right.gone
            sum.others += right.others
            return sum
        }
    }

    /// For each epoch of a run that has any, in order.
    private func answers(of run: RunAccount) -> [Answers] {
        var epochs: [Int: Answers] = [:]
        for recipient in run.members {
            let epoch = run.epochOfAnswer[recipient]
            switch run.reported(recipient) {
            case .accepted: epochs[epoch, default: Answers()].accepted += 1
            case .invalidToken where truths[recipient].isGone: epochs[epoch, default: Answers()].gone += 1
            case .invalidToken: epochs[epoch, default: Answers()].doubtful += 1
            case .rejected, .failed: epochs[epoch, default: Answers()].others += 1
            case .unknown, .unsent, nil: break
            }
        }
        return epochs.sorted { $0.key < $1.key }.map(\.value)
    }

    private func checkJudgement() {
        guard end == .finished else { return }
        let all = (earlier + [account]).flatMap(answers).reduce(Answers(), +)
        let isMostly = all.blameSettings || answers(of: account).last?.blameSettings ?? false
        if isMostly != isStoppedAtTheEnd {
            violate(
                .settingsJudged,
                "\(all.doubtful) of \(all.count) answers blame the settings, and of lives \(answers(of: account)); the run \(isMostly ? "finished" : "stopped")"
            )
        }
    }

    private func checkSuppression(_ before: Set<Int>) {
        var (reached, gone) = (0, 0)
        for recipient in truths.indices {
            switch outcome(of: recipient) {
            case .accepted: reached += 1
            case .invalidToken where truths[recipient].isGone: gone += 1
            default: break
            }
        }
        let isEnough =
            reached > 0 && reached >= 4 * (nature.pushes - reached - gone)
            && answers(of: account).allSatisfy(\.blameTokens)
        let isOver = judgedEnd == .finished
        for recipient in account.members where account.reported(recipient) == .invalidToken {
            let isSuppressed = suppressed.contains(recipient)
            switch truths[recipient] {
            case .gone:
                tally.note(.suppressedGone)
                if !isSuppressed { violate(.goneDevicesGo, "recipient \(recipient) is gone, and not suppressed") }
            case .bad, .refusedBySettings:
                if isSuppressed, truths[recipient].isGood {
                    violate(
                        .goodDevicesStay, "recipient \(recipient) is refused because of the settings, and suppressed")
                }
                if case .refusedBySettings = truths[recipient] { tally.note(.settingsWrong) }
                if isSuppressed { tally.note(.suppressedDoubtful) }
                if isSuppressed, !before.contains(recipient), !(isOver && isEnough) {
                    violate(
                        .tokensJudged,
                        "recipient \(recipient) is suppressed: \(reached) of \(nature.pushes) were accepted, \(judgedEnd)"
                    )
                }
                if !isSuppressed, isOver, isEnough {
                    violate(
                        .tokensJudged,
                        "recipient \(recipient) is not suppressed: \(reached) of \(nature.pushes) were accepted")
                }
            case .good: violate(.goodDevicesStay, "recipient \(recipient) is good, and recorded as invalid")
            }
        }
    }
}
