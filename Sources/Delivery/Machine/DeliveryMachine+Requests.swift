import Base
import PushServices

/// Requests that carry several pushes: how they are filled and divided.
extension DeliveryMachine {
    /// Returns the pushes of a request, in the order in which it carries them.
    func pushes(of request: Int) -> some Sequence<Int> {
        sequence(first: request) { [pushes] push in
            let companion = pushes[push].companion
            return companion < 0 ? nil : Int(companion)
        }
    }

    /// Returns whether one more push may join a request: it waits for its first attempt and is not
    /// full.
    func mayJoin(_ request: Int) -> Bool { pushes[request].isOpen && Int(pushes[request].count) < largestRequest }

    /// Returns whether a push with this past may join a request: one history must hold for all.
    func mayJoin(_ request: Int, after past: PushHistory) -> Bool {
        guard mayJoin(request), pushes[request].generation == past.generation,
            pushes[request].mayBeDelivered == past.isInDoubt
        else {
            return false
        }
        // What may have arrived goes where the service recognizes it.
        return !past.isInDoubt || !batching.namesText(targets: Int(pushes[request].count) + 1)
    }

    /// Adds a push to a request that `mayJoin` allowed. Returns the push's slot.
    mutating func add(recipient: Int, to request: Int, at now: Moment) -> Int {
        precondition(end == nil && mayJoin(request), "a request that is full or was submitted accepts no more pushes")
        let push = claimSlot()
        pushes[push].recipient = recipient
        pushes[push].state = .member
        pushes[pushes[request].count == 1 ? request : Int(pushes[request].last)].companion = Int32(push)
        pushes[request].last = Int32(push)
        pushes[request].count += 1
        // What was on record of it was its generation.
        if namesText(request) { pushes[request].isNamed = false }
        untriedPushes += 1
        return push
    }

    /// Divides a request that is not on a connection. Its first pushes stay; the others become a
    /// request with the same history.
    /// - Parameter count: how many pushes stay: at least 1, and fewer than there are.
    /// - Returns: the other request, which is not in a queue.
    mutating func divide(_ request: Int, after count: Int) -> Int {
        precondition(count >= 1 && count < pushes[request].count, "both parts of a request have pushes")
        var end = request
        for _ in 1..<count { end = Int(pushes[end].companion) }
        let rest = Int(pushes[end].companion)
        pushes[end].companion = -1
        if namesAreOfRequests { pushes[request].isNamed = false }
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

    /// Pushes of a request about which an answer says the same, now a request of their own.
    struct Part {
        var request: Int
        var meaning: AnswerMeaning
        /// The service's own words; blank for none.
        var words: String
    }

    /// Divides a request that is not on a connection by what an answer says about each of its
    /// pushes.
    /// - Parameter answers: one for each push, in their order.
    /// - Returns: the parts, accepted ones first, because the shares of bad answers are judged push
    ///   by push.
    mutating func divide(_ request: Int, by answers: [(meaning: AnswerMeaning, words: String)]) -> [Part] {
        struct PartAnswer: Hashable {
            var meaning: AnswerMeaning
            var words: String
        }
        precondition(answers.count == pushes[request].count, "each push of a request has an answer")
        let past = pushes[request]
        var parts: [Part] = []
        var partsBySaying: [PartAnswer: Int] = [:]
        var next = request
        for answer in answers {
            let push = next
            next = Int(pushes[push].companion)
            let said = PartAnswer(meaning: answer.meaning, words: answer.words)
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
        if namesAreOfRequests, parts.count > 1 { for part in parts { pushes[part.request].isNamed = false } }
        return parts.filter { $0.meaning == .accepted } + parts.filter { $0.meaning != .accepted }
    }

    /// Appends a push to a request.
    mutating func append(_ push: Int, to request: Int) {
        pushes[pushes[request].count == 1 ? request : Int(pushes[request].last)].companion = Int32(push)
        pushes[push].state = .member
        pushes[push].companion = -1
        pushes[request].last = Int32(push)
        pushes[request].count += 1
    }

    // MARK: Answers

    /// Divides a request that is not on a connection by its answer; nil if the answer applies to
    /// the request as a whole.
    /// - Parameter targets: what the answer says about each push; empty if it names none.
    mutating func parts(of request: Int, by answer: Answer, targets: [String]) -> [Part]? {
        let said = targets.isEmpty ? Array(repeating: "", count: Int(pushes[request].count)) : targets
        guard let meanings = settings.service.meanings(of: answer.facts, targets: said) else { return nil }
        return divide(request, by: Array(zip(meanings, said)))
    }

    /// Sends a request again at once because a target in it kept the service from processing the
    /// rest. This does not count as an attempt.
    /// - Parameter settlesOthers: the answer settled other pushes of the request, so that the rest
    ///   is sent again as a whole; otherwise in halves.
    mutating func split(_ request: Int, _ answer: Answer, settlesOthers: Bool = false, at now: Moment) {
        serviceHealth.answered()
        // A service that recognizes the call says that it did nothing, the first time included.
        if nameRule == .calls { pushes[request].mayBeDelivered = false }
        guard settlesOthers || pushes[request].count > 1 else { return refusedAlone(request, answer, at: now) }
        pushes[request].attempts -= 1
        if nameRule == .generations, pushes[request].mayBeDelivered {
            // The refusal may have used up the names: under them the service would say "accepted"
            // and drop the pushes. Under new ones it could show again what arrived before.
            resolveCanary(request)
            return giveUp(request, at: now)
        }
        pushes[request].reason = reasonText(answer)
        forgetTextIfRefused(request, answer)
        raiseGeneration(of: request)
        let half = settlesOthers ? nil : divide(request, after: staying(in: request))
        queueDivided(request, at: now)
        if let half { queueDivided(half, at: now) }
    }

    /// How many pushes stay in a request that is divided because of a refusal that names none of
    /// them.
    private mutating func staying(in request: Int) -> Int {
        refusedTexts.triesAlone(pushes[request].text) ? 1 : Int(pushes[request].count + 1) / 2
    }

    /// Queues a divided request behind those that were tried before. It has no attempt, but is
    /// older than what was never submitted.
    private mutating func queueDivided(_ request: Int, at now: Moment) {
        guard ending == nil, !isExpired else { return settleUnsent(request, at: now) }
        pushes[request].state = .ready
        again.append(request)
    }

    // MARK: Queues

    /// Queues a request for its first attempt, before or behind all others.
    mutating func queueUntried(_ request: Int, isFirst: Bool) {
        pushes[request].state = .ready
        if isFirst { fresh.prepend(request) } else { fresh.append(request) }
        untriedPushes += Int(pushes[request].count)
    }

    /// Removes the first request that was never submitted from its queue.
    mutating func removeUntried() -> Int? {
        guard let request = fresh.removeFirst() else { return nil }
        untriedPushes -= Int(pushes[request].count)
        pushes[request].isOpen = false
        return request
    }

    /// Removes the request to submit next from its queue. Requests that were tried before go first,
    /// the oldest of them in front, so that few pushes stay in doubt. The request carries no more
    /// pushes than may be risked now; the rest stays first in its queue.
    mutating func removeNext() -> Int? {
        if let request = again.removeFirst() {
            if let rest = divideForCaution(request) { again.prepend(rest) }
            return request
        }
        return removeNextUntried()
    }

    /// The same, of those that were never submitted.
    mutating func removeNextUntried() -> Int? {
        guard let request = removeUntried() else { return nil }
        if let rest = divideForCaution(request) { queueUntried(rest, isFirst: true) }
        return request
    }

    /// Cuts a request down to what may be risked now: the canary must not grow beyond its size, and
    /// an attempt that tests whether the service is well carries a single push. Returns the rest;
    /// nil for none.
    private mutating func divideForCaution(_ request: Int) -> Int? {
        guard pushes[request].count > 1, !mustStayWhole(request) else { return nil }
        let most = serviceHealth.probes > 0 ? 1 : belongsToCanary(request) ? canary.capacity : Int.max
        return most < pushes[request].count ? divide(request, after: most) : nil
    }
}

/// Texts that the service keeps (`KeptTexts`). A request for more targets than fit into one that
/// holds the texts is named by its text, and is on record before it leaves: the service does not
/// recognize it if it comes again. Smaller requests, with whatever texts, share one.
extension DeliveryMachine {
    /// Whether a request names a text that the service keeps.
    func namesText(_ request: Int) -> Bool { batching.namesText(targets: Int(pushes[request].count)) }

    /// Whether names are those of whole requests, so that the parts of a divided one have none.
    var namesAreOfRequests: Bool { nameRule == .calls || batching.keepsTexts }

    /// The name of a request or of its text; nil if it leaves without one.
    func name(of request: Int) -> RequestName? {
        guard pushes[request].isNamed, nameRule == .calls || namesText(request) else { return nil }
        return names[request]
    }

    /// The most requests that are passed over in the search for small ones.
    private static let longestSearch = 64

    /// Joins small requests that were never submitted with the next one, if that is small and was
    /// never submitted either. No other push joins it then.
    mutating func gatherSmallRequests(in next: Int) {
        guard again.isEmpty, pushes[next].isOpen, !namesText(next), removeUntried() == next else { return }
        let most = min(batching.largestWithOwnTexts, largestRequest)
        var passed: [(request: Int, wasOpen: Bool)] = []
        while Int(pushes[next].count) < most, passed.count < Self.longestSearch, let other = fresh.first {
            let wasOpen = pushes[other].isOpen
            _ = removeUntried()
            if wasOpen, Int(pushes[next].count + pushes[other].count) <= most, haveOnePast(next, other) {
                join(other, to: next)
            } else {
                passed.append((other, wasOpen))
            }
        }
        for (request, wasOpen) in passed.reversed() {
            queueUntried(request, isFirst: true)
            pushes[request].isOpen = wasOpen
        }
        queueUntried(next, isFirst: true)
    }

    /// Whether one history holds for both requests.
    private func haveOnePast(_ one: Int, _ other: Int) -> Bool {
        let (one, other) = (pushes[one], pushes[other])
        return one.generation == other.generation && one.mayBeDelivered == other.mayBeDelivered
            && one.isNamed == other.isNamed
            && one.isOfEarlierProcess == other.isOfEarlierProcess && one.attempts == other.attempts
    }

    /// Moves all pushes of a request, which is in no queue, to another one.
    private mutating func join(_ other: Int, to request: Int) {
        pushes[other].isOpen = false
        for push in Array(pushes(of: other)) { append(push, to: request) }
    }

    /// Has a text handed over again if a refusal may mean that the service keeps it no longer.
    mutating func forgetTextIfRefused(_ request: Int, _ answer: Answer) {
        guard namesText(request), let name = name(of: request), settings.service.mayHaveForgottenText(answer.facts)
        else { return }
        actions.append(.forgetText(name: name.text))
    }

    /// Divides a request, when the service does not take its text by itself, into requests that
    /// hold the text: their answers show what is wrong.
    /// - Parameter question: as in the action.
    mutating func textRefused(of request: Int, question: Int, at now: Moment) {
        guard unnamed[request] == question else { return }
        unnamed[request] = nil
        namesMissingSince = nil
        pushes[request].state = .ready
        var parts = [request]
        while let last = parts.last, namesText(last) { parts.append(divide(last, after: batching.largestWithOwnTexts)) }
        for part in parts.reversed() { again.prepend(part) }
    }
}
