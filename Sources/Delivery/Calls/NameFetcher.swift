import Base
import PushServices

/// What became of a request for names.
enum NameFetch: Hashable, Sendable {
    case given([String])
    case failed(NameTrouble)
    /// The run is over.
    case cancelled
}

/// Asks a service for names of requests.
struct NameFetcher: Sendable {
    private let asker: ServiceAsker
    private let names: FetchedNames

    init(_ settings: SenderSettings, _ names: FetchedNames) {
        asker = ServiceAsker(settings)
        self.names = names
    }

    /// Asks once. Blocks the calling thread for at most fifteen seconds, or until it is cancelled.
    func fetch(_ count: Int, until cancellation: FetchCancellation) -> NameFetch {
        switch asker.ask(.get, names.path(count), until: cancellation) {
        case .answered(let answer): read(answer)
        case .failed(let cause): failed(cause)
        case .cancelled: .cancelled
        }
    }

    private func failed(_ cause: String) -> NameFetch { .failed(NameTrouble(text: "no \(names.noun)s for calls: \(cause)")) }

    /// Reads an answer: names, or what the service's facts say that it means.
    private func read(_ answer: ServiceAsker.Answer) -> NameFetch {
        if answer.status == 200, let texts = answer.json.flatMap(names.read) {
            let usable = texts.filter(ServiceAsker.isName)
            return usable.isEmpty ? failed("it gave out none that can be used") : .given(usable)
        }
        guard case .stop = answer.meaning else {
            return .failed(
                NameTrouble(
                    text: "no \(names.noun)s for calls: it answered \(answer.status) \(answer.reasonText)", status: answer.status,
                    retryAfterSeconds: answer.retryAfterSeconds))
        }
        return .failed(NameTrouble(text: answer.reasonText, status: answer.status, isFinal: true))
    }
}
