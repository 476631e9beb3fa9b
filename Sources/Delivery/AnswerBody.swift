import Base
import PushServices

extension DeliveryMachine.Answer {
    /// What a service answered: its body counts unless it accepted the push, or where it may say something of each target.
    init(status: Int, retryAfterSeconds: Double?, date: String?, body: [UInt8], of service: any PushService) {
        self.init(status: status)
        guard status != 200 || service.batching.largestTargets > 1 else { return }
        if status == 403 { serverTime = date.flatMap { Timestamp(httpDate: $0) } }
        if let retryAfterSeconds, retryAfterSeconds > 0 { self.retryAfterSeconds = retryAfterSeconds }
        guard let json = try? JSONValue(parsing: body) else { return }
        let details = service.details(of: json)
        reason = TextFormat.foreign(details.reason, maximumBytes: 100)
        invalidSince = details.invalidSince
        targets = details.targets
    }
}
