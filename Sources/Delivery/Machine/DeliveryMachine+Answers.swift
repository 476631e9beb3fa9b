import Base
import PushServices

extension DeliveryMachine {
    /// The service answered a push in flight.
    mutating func answered(_ push: Int, _ answer: Answer, at now: Moment) {
        let connection = takeOff(push)
        noteAnswer(on: connection, at: now)
        pushes[push].noteAnswer(status: answer.status, at: now.nanoseconds)
        resolveCanary(push)
        noteClock(answer, at: now)
        let meaning = settings.service.meaning(of: answer.facts)
        if meaning.isOverload(status: answer.status) { noteOverload(push, at: now) } else if meaning.isFinal { noteTaken(push, at: now) }
        switch meaning {
        case .accepted:
            noteHealth(at: now)
            _ = rejectionHealth.isAlarming(afterBad: false)
            connections[connection].isWarm = true
            window.accepted()
            settle(push, .accepted, reason: "", at: now)
        case .invalidTarget(let pointsAtSettings):
            let isAlarming = noteHealth(badToken: pointsAtSettings, at: now)
            lastReasons.invalidToken = reasonText(answer)
            if pointsAtSettings { lastReasons.badToken = reasonText(answer) }
            settle(push, .invalidToken, reason: answer.reason, invalidSince: answer.invalidSince, at: now)
            if isAlarming { stopForBadTokens(at: now) }
        case .rejected:
            noteHealth(at: now)
            lastReasons.rejected = "\(reasonText(answer)) (\(answer.status))"
            settle(push, .rejected, reason: reasonText(answer), at: now)
            if rejectionHealth.isAlarming(afterBad: true) { stopForRejections(at: now) }
        case .stop:
            noteHealth(at: now)
            settle(push, .rejected, reason: reasonText(answer), at: now)
            stopForService(
                .refused(reason: answer.reason, status: answer.status, clockLagSeconds: harmfulClockLagSeconds), at: now)
        case .retry(let retry):
            if retry == .serviceBusy {
                lastServiceReason = "\(answer.status) \(answer.reason)"
                _ = tokenHealth.isAlarming(afterBad: false)
            } else {
                serviceHealth.answered()
                _ = tokenHealth.isAlarming(afterBad: false)
            }
            pushes[push].reason = reasonText(answer)
            self.retry(push, retry, answer, connection, at: now)
        case .maybeTaken:
            lastServiceReason = "\(reasonText(answer)), and not from \(settings.service.displayName) itself, as far as can be seen"
            leaveInDoubt(push, reasonText(answer), at: now)
        case .notTheService:
            settle(push, .unknown, reason: reasonText(answer), at: now)
            stopForService(.notTheService(status: answer.status), at: now)
        }
        closeIfDrained(connection)
    }

    /// The service took a push or refused it for good; true when too many of its answers blame tokens.
    @discardableResult
    private mutating func noteHealth(badToken: Bool = false, at now: Moment) -> Bool {
        serviceHealth.taken(at: now.nanoseconds)
        return tokenHealth.isAlarming(afterBad: badToken)
    }

    /// Something was heard of a push, and not what the service did with it: again only after a while, if at all.
    private mutating func leaveInDoubt(_ push: Int, _ reason: String, at now: Moment) {
        serviceHealth.doubted(at: now.nanoseconds)
        if serviceHealth.probes > 0 {
            probeAt =
                now.nanoseconds
                + settings.retry.delayNanoseconds(
                    afterAttempts: serviceHealth.probes, retryAfterSeconds: nil, random: &random)
        }
        resolveCanary(push)
        pushes[push].mayBeDelivered = true
        pushes[push].reason = reason
        if settings.resendsUnknown {
            retryLater(push, retryAfterSeconds: nil, at: now)
        } else {
            settle(push, .unknown, reason: reason, at: now)
        }
    }

    /// Nothing of a push in flight reached the peer's application, provably: it is sent again and the attempt does not count.
    mutating func notProcessed(_ push: Int, at now: Moment) {
        let connection = takeOff(push)
        pushes[push].attempts -= 1
        requeueAtOnce(push, at: now)
        closeIfDrained(connection)
    }

    /// A stream was refused while its connection goes on: the push is sent again, and the attempt does not count. A server that refuses
    /// stream after stream has trouble, unless it has just lowered its limit below what was in flight.
    mutating func streamRefused(_ push: Int, at now: Moment) {
        let isOverLimit = connections[Int(pushes[push].connection)].isOverLimit
        let connection = takeOff(push)
        pushes[push].attempts -= 1
        if !isOverLimit {
            pushes[push].refusals += 1
            noteOverload(push, at: now)
            serviceHealth.refused(at: now.nanoseconds)
            lastServiceReason = "REFUSED_STREAM"
            // No answer, but the canary must not hang on a stream that is refused for ever.
            if pushes[push].refusals >= settings.retry.maximumAttempts { resolveCanary(push) }
        }
        if serviceHealth.troubleSince == nil || ending != nil || isExpired {
            requeueAtOnce(push, at: now)
        } else {
            wait(push, until: now.adding(nanoseconds: retryDelay(of: push, retryAfterSeconds: nil)))
        }
        closeIfDrained(connection)
    }

    /// A stream was reset while its connection goes on, for a reason of the server's own: in doubt, and tried again only after a while.
    mutating func streamReset(_ push: Int, at now: Moment) {
        let connection = takeOff(push)
        lastServiceReason = OwnReason.streamReset.rawValue
        leaveInDoubt(push, OwnReason.streamReset.rawValue, at: now)
        closeIfDrained(connection)
    }

    /// A push was handed to the wire and its answer will never come; nobody knows whether the phone has it.
    mutating func answerLost(_ push: Int, reason: OwnReason, at now: Moment) {
        let connection = takeOff(push)
        window.lost(afterAnswers: connections[connection].answers)
        resolveLost(push, reason: reason, at: now)
        closeIfDrained(connection)
    }

    private mutating func retry(_ push: Int, _ retry: AnswerMeaning.Retry, _ answer: Answer, _ connection: Int, at now: Moment) {
        switch retry {
        case .deviceBusy:
            retryLater(push, retryAfterSeconds: answer.retryAfterSeconds, at: now)
        case .serviceBusy, .serviceLeaves:
            if retry == .serviceLeaves { drain(connection) } else { serviceHealth.refused(at: now.nanoseconds) }
            retryLater(push, retryAfterSeconds: answer.retryAfterSeconds, at: now)
        case .connectionIdle:
            drain(connection)
            retryAtOnce(push, at: now)
        case .credentialExpired:
            guard settings.usesProviderToken else {
                settle(push, .rejected, reason: reasonText(answer), at: now)
                return stopForService(.certificateExpired(reason: answer.reason), at: now)
            }
            // The connection stays wedged with the token it saw first.
            if connections[connection].state == .open {
                actions.append(.renewToken(connection: connection))
                drain(connection)
            }
            retryAtOnce(push, at: now)
        }
    }

    /// Queues a push that the service refused for a later attempt, or gives it up.
    mutating func retryLater(_ push: Int, retryAfterSeconds: Double?, at now: Moment) {
        let due = now.adding(nanoseconds: retryDelay(of: push, retryAfterSeconds: retryAfterSeconds))
        let isTooLate = due.nanoseconds - pushes[push].firstSubmitted > Int64(nanosecondsFromSeconds: settings.retry.maximumTotalSeconds)
        let isPastDeadline = settings.deadline.map { due.wall >= $0 } ?? false
        if isPastDeadline { return giveUp(push, at: now) }
        guard ending == nil else { return settleUnsent(push, at: now) }
        // A push that is kept although its attempts are used up has all others for company: the service takes none of them.
        if isTooLate || !mayTryAgain(push), pushes[push].mayBeDelivered || isAllowedToFail(push, at: now) {
            return giveUp(push, at: now)
        }
        wait(push, until: due)
    }

    private mutating func isAllowedToFail(_ push: Int, at now: Moment) -> Bool {
        serviceHealth.mayFail(firstSubmitted: pushes[push].firstSubmitted, at: now.nanoseconds)
    }

    private static let refusalsThatSlowDown: Int32 = 5

    private mutating func retryDelay(of push: Int, retryAfterSeconds: Double?) -> Int64 {
        // Streams may be refused many times within a moment, which says nothing of how long to wait.
        settings.retry.delayNanoseconds(
            afterAttempts: Int(pushes[push].attempts + min(pushes[push].refusals, Self.refusalsThatSlowDown)),
            retryAfterSeconds: retryAfterSeconds, random: &random)
    }

    private mutating func wait(_ push: Int, until due: Moment) {
        pushes[push].state = .waiting
        waiting.insert(push, at: due.nanoseconds)
        actions.append(.hold(push: push))
    }

    private mutating func retryAtOnce(_ push: Int, at now: Moment) {
        guard mayTryAgain(push) else { return retryLater(push, retryAfterSeconds: nil, at: now) }
        requeueAtOnce(push, at: now)
    }

    mutating func resolveLost(_ push: Int, reason: OwnReason, at now: Moment) {
        pushes[push].mayBeDelivered = true
        pushes[push].reason = reason.rawValue
        guard settings.resendsUnknown, ending == nil, !isExpired, mayTryAgain(push) else {
            return settle(push, .unknown, reason: reason.rawValue, at: now)
        }
        requeueAtOnce(push, at: now)
    }

    mutating func requeueAtOnce(_ push: Int, at now: Moment) {
        guard ending == nil, !isExpired else { return settleUnsent(push, at: now) }
        pushes[push].state = .ready
        if pushes[push].attempts == 0 { fresh.prepend(push) } else { again.append(push) }
    }

    private func mayTryAgain(_ push: Int) -> Bool { Int(pushes[push].attempts) < max(1, settings.retry.maximumAttempts) }

    /// The retries are used up. A push that was lost before may have arrived, whatever the later refusals say.
    mutating func giveUp(_ push: Int, at now: Moment) {
        settle(push, pushes[push].mayBeDelivered ? .unknown : .failed, reason: pushes[push].reason, at: now)
    }

    private func reasonText(_ answer: Answer) -> String { answer.reason.isEmpty ? "HTTP\(answer.status)" : answer.reason }
}
