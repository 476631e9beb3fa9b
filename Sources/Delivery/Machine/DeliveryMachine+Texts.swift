import Base
import PushServices

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
