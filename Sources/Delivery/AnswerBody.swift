import Base
import PushServices

extension DeliveryMachine.Answer {
    /// Creates an answer from a response. Its body counts unless its status alone says that the service accepted the push.
    init(status: Int, retryAfterSeconds: Double?, date: String?, body: [UInt8], of service: any PushService) {
        self.init(status: status)
        guard Self.mayReadBody(status: status, of: service) else { return }
        // A service that refuses a credential may do so because of this machine's clock.
        if status == 401 || status == 403 { serverTime = date.flatMap { Timestamp(httpDate: $0) } }
        if let retryAfterSeconds, retryAfterSeconds > 0 { self.retryAfterSeconds = retryAfterSeconds }
        guard let json = try? JSONValue(parsing: body) else { return }
        let details = service.details(of: json)
        reason = TextFormat.foreign(details.reason, maximumBytes: 100)
        invalidSince = details.invalidSince
        targets = details.targets
        receipt = TextFormat.foreign(details.receipt, maximumBytes: 100)
    }

    /// Whether the body of an answer with this status may say something: it may name single targets, or contradict the status.
    static func mayReadBody(status: Int, of service: any PushService) -> Bool {
        status != 200 || service.batching.largestTargets > 1 || service.readsAcceptedBodies
    }
}
