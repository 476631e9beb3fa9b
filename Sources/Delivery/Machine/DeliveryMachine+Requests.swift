import Base
import PushServices

/// Requests that carry several pushes: how they fill up, and how they are divided.
extension DeliveryMachine {
    /// The pushes of a request, in the order in which it carries them.
    func pushes(of request: Int) -> some Sequence<Int> {
        sequence(first: request) { [pushes] push in
            let companion = pushes[push].companion
            return companion < 0 ? nil : Int(companion)
        }
    }

    /// Whether one more push may join a request: it waits for its first attempt, and is not full.
    func mayJoin(_ request: Int) -> Bool { pushes[request].isOpen && Int(pushes[request].count) < largestRequest }

    /// Takes a push over into a request that `mayJoin` allowed; returns its slot.
    mutating func add(recipient: Int, to request: Int, at now: Moment) -> Int {
        precondition(end == nil && mayJoin(request), "a request that is full or was submitted takes no more pushes")
        let push = claimSlot()
        pushes[push].recipient = recipient
        pushes[push].state = .member
        pushes[pushes[request].count == 1 ? request : Int(pushes[request].last)].companion = Int32(push)
        pushes[request].last = Int32(push)
        pushes[request].count += 1
        untriedPushes += 1
        return push
    }

    /// Divides a request that is on no connection: its first pushes stay, the others become a request with the same past.
    /// - Parameter count: that stay, from 1 on and fewer than there are.
    /// - Returns: the other request, which is in no queue.
    mutating func divide(_ request: Int, after count: Int) -> Int {
        precondition(count >= 1 && count < pushes[request].count, "both parts of a request have pushes")
        var end = request
        for _ in 1..<count { end = Int(pushes[end].companion) }
        let rest = Int(pushes[end].companion)
        pushes[end].companion = -1
        var slot = pushes[request]
        slot.recipient = pushes[rest].recipient
        slot.companion = pushes[rest].companion
        slot.count -= Int32(count)
        slot.isOpen = false
        pushes[rest] = slot
        pushes[request].last = Int32(end)
        pushes[request].count = Int32(count)
        pushes[request].isOpen = false
        return rest
    }

    /// What an answer says of some pushes of a request, which are a request of their own now.
    struct Part {
        var request: Int
        var meaning: AnswerMeaning
        /// The service's; blank for none.
        var words: String
    }

    /// Divides a request that is on no connection by what an answer says of each of its pushes.
    /// - Parameter answers: as many as there are pushes, in their order.
    /// - Returns: what was accepted first, as the shares of bad answers are judged push by push.
    mutating func divide(_ request: Int, by answers: [(meaning: AnswerMeaning, words: String)]) -> [Part] {
        struct Said: Hashable {
            var meaning: AnswerMeaning
            var words: String
        }
        precondition(answers.count == pushes[request].count, "each push of a request has an answer")
        let past = pushes[request]
        var parts: [Part] = []
        var partsBySaying: [Said: Int] = [:]
        var next = request
        for answer in answers {
            let push = next
            next = Int(pushes[push].companion)
            let said = Said(meaning: answer.meaning, words: answer.words)
            if let part = partsBySaying[said] {
                append(push, to: parts[part].request)
            } else {
                partsBySaying[said] = parts.count
                parts.append(Part(request: push, meaning: answer.meaning, words: answer.words))
                let recipient = pushes[push].recipient
                pushes[push] = past
                pushes[push].recipient = recipient
                (pushes[push].companion, pushes[push].last, pushes[push].count) = (-1, -1, 1)
            }
        }
        return parts.filter { $0.meaning == .accepted } + parts.filter { $0.meaning != .accepted }
    }

    /// Puts a push behind the last one of a request.
    private mutating func append(_ push: Int, to request: Int) {
        pushes[pushes[request].count == 1 ? request : Int(pushes[request].last)].companion = Int32(push)
        pushes[push].state = .member
        pushes[push].companion = -1
        pushes[request].last = Int32(push)
        pushes[request].count += 1
    }

    // MARK: Answers

    /// Divides a request that is on no connection by its answer; nil when that is for the request as a whole.
    /// - Parameter targets: what it says of each push; empty when it names none.
    mutating func parts(of request: Int, by answer: Answer, _ targets: [String]) -> [Part]? {
        let said = targets.isEmpty ? Array(repeating: "", count: Int(pushes[request].count)) : targets
        guard let meanings = settings.service.meanings(of: answer.facts, targets: said) else { return nil }
        return divide(request, by: Array(zip(meanings, said)))
    }

    /// The service did nothing about a request because of a target in it, so that this was no attempt: it is sent again at once.
    /// - Parameter settlesOthers: the answer settled others that were in the request, so that it goes again as it is left; in halves otherwise.
    mutating func split(_ request: Int, _ answer: Answer, settlesOthers: Bool = false, at now: Moment) {
        serviceHealth.answered()
        guard settlesOthers || pushes[request].count > 1 else {
            resolveCanary(request)
            return refused(request, answer, at: now)
        }
        pushes[request].reason = reasonText(answer)
        pushes[request].attempts -= 1
        let half = settlesOthers ? nil : divide(request, after: Int(pushes[request].count + 1) / 2)
        queueDivided(request, at: now)
        if let half { queueDivided(half, at: now) }
    }

    /// Behind those that were tried before, though it had no attempt: it is older than what was never submitted.
    private mutating func queueDivided(_ request: Int, at now: Moment) {
        guard ending == nil, !isExpired else { return settleUnsent(request, at: now) }
        pushes[request].state = .ready
        again.append(request)
    }

    // MARK: Queues

    /// A request is to be submitted for the first time, before all others or behind them.
    mutating func queueUntried(_ request: Int, isFirst: Bool) {
        pushes[request].state = .ready
        if isFirst { fresh.prepend(request) } else { fresh.append(request) }
        untriedPushes += Int(pushes[request].count)
    }

    /// Takes the first request that was never submitted.
    mutating func removeUntried() -> Int? {
        guard let request = fresh.removeFirst() else { return nil }
        untriedPushes -= Int(pushes[request].count)
        pushes[request].isOpen = false
        return request
    }

    /// Takes the request that is to be submitted next: of those tried before the oldest, so that the number of pushes in doubt stays small. It carries
    /// no more pushes than may be risked now; what is beyond that stays first in its queue.
    mutating func removeNext() -> Int? {
        if let request = again.removeFirst() {
            if let rest = divideForCaution(request) { again.prepend(rest) }
            return request
        }
        guard let request = removeUntried() else { return nil }
        if let rest = divideForCaution(request) { queueUntried(rest, isFirst: true) }
        return request
    }

    /// The canary is no larger than it should be, and what is tried to see whether the service is well is a single push.
    private mutating func divideForCaution(_ request: Int) -> Int? {
        guard pushes[request].count > 1 else { return nil }
        let most = serviceHealth.probes > 0 ? 1 : belongsToCanary(request) ? canary.capacity : Int.max
        return most < pushes[request].count ? divide(request, after: most) : nil
    }
}
