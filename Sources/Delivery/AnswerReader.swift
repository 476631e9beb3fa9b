import Base
import PushServices

/// Makes answers of a service's responses.
struct AnswerReader {
    private let service: any PushService
    /// Whether the body of an answer with status 200 may say something: it may name single targets,
    /// or contradict the status. Known once, as nearly all answers of a run ask for nothing else of
    /// the service.
    private let readsAcceptedBodies: Bool

    /// Reads the answers of a service.
    init(_ service: any PushService) {
        self.service = service
        readsAcceptedBodies = service.batching.largestTargets > 1 || service.readsAcceptedBodies
    }

    /// Whether the body of an answer with this status may say something.
    func mayReadBody(status: Int) -> Bool { status != 200 || readsAcceptedBodies }

    /// Returns the answer that a response is. Its body counts unless its status alone says that the
    /// service accepted the push.
    func answer(status: Int, retryAfterSeconds: Double?, date: String?, body: [UInt8]) -> DeliveryMachine.Answer {
        var answer = DeliveryMachine.Answer(status: status)
        guard mayReadBody(status: status) else { return answer }
        if status == 200, service.plainlyAccepts(body) {
            answer.isPlain = true
            return answer
        }
        // A service that refuses a credential may do so because of this machine's clock.
        if status == 401 || status == 403 { answer.serverTime = date.flatMap { Timestamp(httpDate: $0) } }
        if let retryAfterSeconds, retryAfterSeconds > 0 { answer.retryAfterSeconds = retryAfterSeconds }
        guard let json = try? JSONValue(parsing: body) else {
            // A service that says something with each 200 writes JSON: this is a page, a part of an
            // answer, or nothing.
            answer.isCutOff = status == 200
            return answer
        }
        let details = service.details(of: json)
        answer.reason = TextFormat.foreign(details.reason, maximumBytes: 100)
        answer.invalidSince = details.invalidSince
        (answer.targets, answer.server) = (details.targets, details.server)
        answer.receipt = TextFormat.foreign(details.receipt, maximumBytes: 100)
        return answer
    }
}
