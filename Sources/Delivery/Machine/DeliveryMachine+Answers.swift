import Base
import PushServices

extension DeliveryMachine {
    /// Handles the service's answer to a request in flight.
    /// - Parameter targets: what the answer says about each push of the request, in the service's
    ///   words; blank for a push that it does not name. Ignored where a request carries one push.
    mutating func answered(_ request: Int, _ answer: Answer, targets: [String] = [], at now: Moment) {
        let connection = takeOff(request)
        noteAnswer(on: connection, at: now)
        pushes[request].noteAnswer(status: answer.status, at: now.nanoseconds)
        noteClock(answer, at: now)
        if let seconds = answer.budgetReturnsAfterSeconds { quota.spent(forSeconds: seconds, at: now.nanoseconds) }
        if batching.largestTargets > 1, let parts = parts(of: request, by: answer, targets: targets) {
            answered(in: parts, answer, on: connection, at: now)
        } else {
            let meaning = settings.service.meaning(of: answer.facts)
            if meaning.isOverload(status: answer.status) {
                noteOverload(request, at: now)
            } else if meaning.isFinal {
                noteTaken(request, at: now)
            }
            answered(request, meaning, answer, on: connection, at: now)
        }
        closeIfDrained(connection)
    }

    /// Handles an answer that says something about each push.
    private mutating func answered(in parts: [Part], _ answer: Answer, on connection: Int, at now: Moment) {
        // It looked at the targets, whatever it says of them.
        confirmToken(of: connection)
        let settlesSome = parts.contains(where: \.meaning.isFinal)
        if settlesSome {
            noteTaken(parts[0].request, at: now)
        } else if parts.contains(where: { $0.meaning.isOverload(status: answer.status) }) {
            noteOverload(parts[0].request, at: now)
        }
        if nameRule == .calls, settlesSome || parts.contains(where: { $0.meaning == .split }) {
            // The service dealt with the call, the first time or now.
            for part in parts { pushes[part.request].mayBeDelivered = false }
        }
        for part in parts {
            var answer = answer
            if !part.words.isEmpty { answer.reason = part.words }
            if case .split = part.meaning {
                split(part.request, answer, settlesOthers: settlesSome, at: now)
            } else {
                answered(part.request, part.meaning, answer, on: connection, at: now)
            }
        }
    }

    /// Handles an answer that means the same for all pushes of a request.
    private mutating func answered(
        _ request: Int, _ meaning: AnswerMeaning, _ answer: Answer, on connection: Int, at now: Moment
    ) {
        confirmToken(of: connection, by: meaning)
        if case .split = meaning { return split(request, answer, at: now) }
        // An answer about the quota says nothing about the push: the canary still waits for it.
        if meaning != .retry(.quota) { resolveCanary(request) }
        switch meaning {
        case .accepted:
            noteAccepted(at: now)
            refusedTexts.take(pushes[request].text, accepted: pushes[request].count)
            noteHealth(of: request, at: now)
            _ = rejectionHealth.isAlarming(afterBad: false, pushes: pushes[request].count)
            connections[connection].isWarm = true
            window.accepted()
            settle(request, .accepted, reason: "", at: now)
        case .invalidTarget(let pointsAtSettings):
            refusedTexts.take(pushes[request].text)
            let isAlarming = noteHealth(of: request, badToken: pointsAtSettings, at: now)
            lastReasons.invalidToken = reasonText(answer)
            if pointsAtSettings { lastReasons.badToken = reasonText(answer) }
            settle(request, .invalidToken, reason: reasonText(answer), invalidSince: answer.invalidSince, at: now)
            if isAlarming { stopForBadTokens(at: now) }
        case .rejected:
            refusedTexts.take(pushes[request].text)
            refused(request, answer, at: now)
        case .rejectedLikeAll where hasEverAccepted: refused(request, answer, at: now)
        case .rejectedLikeAll, .stop, .stopIfRepeated: blameSettings(for: request, meaning, answer, at: now)
        case .usedUp:
            serviceHealth.answered()
            pushes[request].reason = reasonText(answer)
            stopForService(.refused(reason: answer.reason, status: answer.status, clockLagSeconds: nil), at: now)
            settleUnsent(request, at: now)
        case .retry(let retry):
            if retry == .quota {
                serviceHealth.answered()
            } else if retry == .serviceBusy || retry == .otherServer {
                lastServiceReason = "\(answer.status) \(answer.reason)"
                _ = tokenHealth.isAlarming(afterBad: false)
            } else {
                serviceHealth.answered()
                _ = tokenHealth.isAlarming(afterBad: false)
            }
            pushes[request].reason = reasonText(answer)
            self.retry(request, retry, answer, connection: connection, at: now)
        case .split: break
        case .maybeTaken:
            lastServiceReason =
                settings.service.words(about: answer.reason) == nil
                ? "\(reasonText(answer)), apparently not from \(settings.service.displayName) itself"
                : "\(answer.status) \(answer.reason)"
            // This push stays in doubt, but the others need not meet the same trouble.
            if answer.status >= 500, settings.hasSpareServers {
                actions.append(.changeServer(name: nil))
                drain(connection)
            }
            leaveInDoubt(request, reason: reasonText(answer), at: now)
        case .notTheService: answeredByStranger(request, answer, at: now)
        case .untold:
            serviceHealth.answered()
            settle(request, .unknown, reason: reasonText(answer), at: now)
        }
    }

    /// Settles a request that the service refused for good.
    mutating func refused(_ request: Int, _ answer: Answer, at now: Moment) {
        pushes[request].reason = reasonText(answer)
        refused(request, at: now)
    }

    /// Settles a request that the service refused for good with its last answer.
    mutating func refused(_ request: Int, at now: Moment) {
        let (count, reason) = (pushes[request].count, pushes[request].reason)
        noteHealth(of: request, at: now)
        lastReasons.rejected = "\(reason) (\(pushes[request].status))"
        settleRejected(request, reason: reason, at: now)
        if rejectionHealth.isAlarming(afterBad: true, pushes: count) { stopForRejections(at: now) }
    }

    /// Notes that the service accepted a request or refused it for good. Returns true if too many
    /// of its answers blame tokens.
    @discardableResult
    mutating func noteHealth(of request: Int, badToken: Bool = false, at now: Moment) -> Bool {
        serviceHealth.taken(at: now.nanoseconds)
        return tokenHealth.isAlarming(afterBad: badToken, pushes: pushes[request].count)
    }

    /// Handles a response that does not show what the service did with the request: the request is
    /// sent again only after a while, if at all.
    mutating func leaveInDoubt(_ request: Int, reason: String, at now: Moment) {
        serviceHealth.doubted(submittedAt: pushes[request].submitted, at: now.nanoseconds)
        if serviceHealth.probes > 0 {
            probeAt =
                now.nanoseconds
                + settings.retry.delayNanoseconds(
                    afterAttempts: serviceHealth.doubtfulTries, retryAfterSeconds: nil, random: &random)
        }
        resolveCanary(request)
        pushes[request].mayBeDelivered = true
        pushes[request].reason = reason
        if resendsDoubtful(request) {
            retryLater(request, retryAfterSeconds: nil, at: now)
        } else {
            settle(request, .unknown, reason: reason, at: now)
        }
    }

    /// Sends a request again because it provably never reached the peer's application. The attempt
    /// does not count.
    mutating func notProcessed(_ request: Int, at now: Moment) {
        let connection = takeOff(request)
        pushes[request].attempts -= 1
        requeueAtOnce(request, at: now)
        closeIfDrained(connection)
    }

    /// Sends a request again because its stream was refused while its connection stays open. The
    /// attempt does not count. A server that refuses stream after stream has trouble, unless it has
    /// just lowered its limit below what was in flight.
    mutating func streamRefused(_ request: Int, at now: Moment) {
        let isOverLimit = connections[Int(pushes[request].connection)].isOverLimit
        let connection = takeOff(request)
        pushes[request].attempts -= 1
        if !isOverLimit {
            pushes[request].refusals += 1
            noteOverload(request, at: now)
            serviceHealth.refused(at: now.nanoseconds)
            lastServiceReason = "REFUSED_STREAM"
            // This is not an answer, but the canary must not wait for a stream that is refused for
            // ever.
            if pushes[request].refusals >= settings.retry.maximumAttempts { resolveCanary(request) }
        }
        if serviceHealth.troubleSince == nil || ending != nil || isExpired {
            requeueAtOnce(request, at: now)
        } else {
            wait(request, until: now.adding(nanoseconds: retryDelay(of: request, retryAfterSeconds: nil)))
        }
        closeIfDrained(connection)
    }

    /// Handles a stream that the server reset while its connection stays open. The request is in
    /// doubt, and is tried again only after a while.
    mutating func streamReset(_ request: Int, at now: Moment) {
        let connection = takeOff(request)
        lastServiceReason = OwnReason.streamReset.rawValue
        leaveInDoubt(request, reason: OwnReason.streamReset.rawValue, at: now)
        closeIfDrained(connection)
    }

    /// Handles a request that was handed to the wire but will never be answered. Whether the
    /// devices have its pushes is unknown.
    mutating func answerLost(_ request: Int, reason: OwnReason, at now: Moment) {
        let connection = takeOff(request)
        window.lost(afterAnswers: connections[connection].answers)
        resolveLost(request, reason: reason, at: now)
        closeIfDrained(connection)
    }

    private mutating func retry(
        _ request: Int, _ retry: AnswerMeaning.Retry, _ answer: Answer, connection: Int, at now: Moment
    ) {
        raiseGeneration(of: request)
        switch retry {
        case .deviceBusy:
            retryLater(request, retryAfterSeconds: answer.retryAfterSeconds, at: now)
        case .serviceBusy, .serviceLeaves, .otherServer:
            if retry == .serviceLeaves { drain(connection) } else { serviceHealth.refused(at: now.nanoseconds) }
            if retry == .otherServer {
                actions.append(.changeServer(name: answer.server))
                drain(connection)
            }
            retryLater(request, retryAfterSeconds: answer.retryAfterSeconds, at: now)
        case .quota: holdForQuota(request, answer, at: now)
        case .connectionIdle:
            drain(connection)
            retryAtOnce(request, at: now)
        case .credentialExpired:
            guard settings.usesProviderToken else {
                settleRejected(request, reason: reasonText(answer), at: now)
                return stopForService(.certificateExpired(reason: answer.reason), at: now)
            }
            // The connection stays wedged with the token it saw first.
            if !connections[connection].isTokenRefused {
                connections[connection].isTokenRefused = true
                actions.append(.renewToken(connection: connection))
                drain(connection)
            }
            // Whatever its attempts: no push fails for the sender's token. If new tokens do not
            // help either, the run stops.
            requeueAtOnce(request, at: now)
        }
    }

    /// Queues a refused request for a later attempt, or gives it up.
    mutating func retryLater(_ request: Int, retryAfterSeconds: Double?, at now: Moment) {
        let due = now.adding(nanoseconds: retryDelay(of: request, retryAfterSeconds: retryAfterSeconds))
        let isTooLate =
            due.nanoseconds - pushes[request].firstSubmitted
            > Int64(nanosecondsFromSeconds: settings.retry.maximumTotalSeconds)
        let isPastDeadline = settings.deadline.map { due.wall >= $0 } ?? false
        if isPastDeadline { return giveUp(request, at: now) }
        guard ending == nil else { return settleUnsent(request, at: now) }
        // If a request may not fail although its attempts are used up, it is kept: the service does
        // not take the others either.
        if isTooLate || !mayTryAgain(request), pushes[request].mayBeDelivered || isAllowedToFail(request, at: now) {
            return giveUp(request, at: now)
        }
        wait(request, until: due)
    }

    private mutating func isAllowedToFail(_ request: Int, at now: Moment) -> Bool {
        serviceHealth.mayFail(firstSubmitted: pushes[request].firstSubmitted, at: now.nanoseconds)
    }

    private static let refusalsThatSlowDown: Int32 = 5

    private mutating func retryDelay(of request: Int, retryAfterSeconds: Double?) -> Int64 {
        // Many streams may be refused within a moment, which says nothing about how long to wait.
        settings.retry.delayNanoseconds(
            afterAttempts: Int(pushes[request].attempts + min(pushes[request].refusals, Self.refusalsThatSlowDown)),
            retryAfterSeconds: retryAfterSeconds, random: &random)
    }

    mutating func wait(_ request: Int, until due: Moment) {
        pushes[request].state = .waiting
        waiting.insert(request, at: due.nanoseconds)
        var push = request
        repeat {
            actions.append(.hold(push: push))
            push = Int(pushes[push].companion)
        } while push >= 0
    }

    private mutating func retryAtOnce(_ request: Int, at now: Moment) {
        guard mayTryAgain(request) else { return retryLater(request, retryAfterSeconds: nil, at: now) }
        requeueAtOnce(request, at: now)
    }

    mutating func resolveLost(_ request: Int, reason: OwnReason, at now: Moment) {
        pushes[request].mayBeDelivered = true
        pushes[request].reason = reason.rawValue
        guard resendsDoubtful(request), ending == nil, !isExpired, mayTryAgain(request) else {
            return settle(request, .unknown, reason: reason.rawValue, at: now)
        }
        requeueAtOnce(request, at: now)
    }

    mutating func requeueAtOnce(_ request: Int, at now: Moment) {
        guard ending == nil, !isExpired else { return settleUnsent(request, at: now) }
        pushes[request].state = .ready
        if pushes[request].attempts == 0 { queueUntried(request, isFirst: true) } else { again.append(request) }
    }

    private func mayTryAgain(_ request: Int) -> Bool {
        Int(pushes[request].attempts) < max(1, settings.retry.maximumAttempts)
    }

    /// Settles a request after its retries are used up. If an answer was lost before, the push may
    /// have arrived, whatever later refusals say.
    mutating func giveUp(_ request: Int, at now: Moment) {
        settle(request, pushes[request].mayBeDelivered ? .unknown : .failed, reason: pushes[request].reason, at: now)
    }

    /// Settles a request as refused for good, or as unknown if an answer was lost before: the
    /// service may have accepted the push then.
    mutating func settleRejected(_ request: Int, reason: String, at now: Moment) {
        guard pushes[request].mayBeDelivered else { return settle(request, .rejected, reason: reason, at: now) }
        settle(request, .unknown, reason: OwnReason.refusedAgain.rawValue, at: now)
    }

    func reasonText(_ answer: Answer) -> String {
        answer.reason.isEmpty ? StatusReason.text(answer.status) : answer.reason
    }
}
