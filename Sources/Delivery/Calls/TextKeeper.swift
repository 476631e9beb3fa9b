import Base
import CCurl
import PushServices
import Synchronization

/// What became of a text that was handed to a service.
enum TextKeeping: Hashable, Sendable {
    /// The service keeps it under this name.
    case kept(RequestName)
    /// It does not take the text.
    case refused
    /// It could not be handed over.
    case failed(NameTrouble)
    /// The run is over.
    case cancelled
}

/// Hands texts to a service that keeps them. If it gives out nothing at one of its servers, the next attempt goes to the next one.
final class TextKeeper: Sendable {
    private let asker: ServiceAsker
    private let settings: SenderSettings
    private let texts: KeptTexts
    private let hosts: [String]
    private let host = Mutex(0)

    init(_ settings: SenderSettings, _ texts: KeptTexts) {
        (asker, self.settings, self.texts) = (ServiceAsker(settings), settings, texts)
        hosts = [settings.endpoint.host] + settings.endpoint.spareHosts
    }

    /// Hands the text of a payload over once. Blocks the calling thread for at most fifteen seconds, or until it is cancelled.
    func keep(_ payload: [UInt8], until cancellation: FetchCancellation) -> TextKeeping {
        let now = Timestamp.now()
        var body: [UInt8] = []
        texts.body(payload[...], now.epochSeconds, &body)
        let number = host.withLock { $0 }
        switch asker.ask(.post(body), texts.path, at: hosts[number], until: cancellation) {
        case .cancelled: return .cancelled
        case .failed(let cause):
            changeServer(from: number)
            return failed(cause)
        case .answered(let answer): return read(answer, from: number, at: now)
        }
    }

    private func changeServer(from number: Int) { host.withLock { $0 = (number + 1) % hosts.count } }

    private func failed(_ cause: String, status: Int = 0, waitSeconds: Double? = nil) -> TextKeeping {
        .failed(NameTrouble(text: "texts could not be handed over: \(cause)", status: status, retryAfterSeconds: waitSeconds))
    }

    /// Reads an answer: a name, or what the service's facts say that it means.
    private func read(_ answer: ServiceAsker.Answer, from number: Int, at now: Timestamp) -> TextKeeping {
        if answer.status == 200, let name = answer.json.flatMap(texts.read) {
            guard ServiceAsker.isName(name) else { return failed("it gave out no name that can be used") }
            return .kept(RequestName(text: name, usableUntil: now.adding(seconds: max(1, texts.usableSeconds(now.epochSeconds)))))
        }
        let text = "it answered \(answer.status) \(answer.reasonText)"
        switch answer.meaning {
        // Requests that hold the text show what is wrong with it.
        case .split, .invalidTarget, .rejected, .rejectedLikeAll: return .refused
        case .stop: return .failed(NameTrouble(text: answer.reasonText, status: answer.status, isFinal: true))
        case .retry(.credentialExpired):
            // nil: another token would be refused, too.
            guard let token = answer.token, settings.credentials.tokens?.renewed(after: token) != nil else {
                return .failed(NameTrouble(text: answer.reasonText, status: answer.status, isFinal: true))
            }
            return failed(text, status: answer.status)
        case .retry(let retry):
            if retry == .otherServer { changeServer(from: number) }
            let usual = retry == .quota ? settings.retry.firstQuotaSeconds : settings.retry.shortestDelaySeconds
            return failed(text, status: answer.status, waitSeconds: max(usual, answer.retryAfterSeconds ?? 0))
        case .accepted, .maybeTaken, .notTheService:
            return failed(text, status: answer.status, waitSeconds: answer.retryAfterSeconds)
        }
    }
}
