import Base
import PushServices

extension DeliveryMachine.Answer {
    /// Creates an answer from a response. Its body counts unless the service accepted the push, and always
    /// where it may name single targets.
    init(status: Int, retryAfterSeconds: Double?, date: String?, body: [UInt8], of service: any PushService) {
        self.init(status: status)
        guard status != 200 || service.batching.largestTargets > 1 else { return }
        // A service that refuses a credential may do so because of this machine's clock.
        if status == 401 || status == 403 { serverTime = date.flatMap { Timestamp(httpDate: $0) } }
        if let retryAfterSeconds, retryAfterSeconds > 0 { self.retryAfterSeconds = retryAfterSeconds }
        guard let json = try? JSONValue(parsing: body) else { return }
        let details = service.details(of: json)
        reason = TextFormat.foreign(details.reason, maximumBytes: 100)
        invalidSince = details.invalidSince
        targets = details.targets
    }
}
