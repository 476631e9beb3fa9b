import Base

extension DeliveryMachine.Answer {
    /// What APNs answered: `{"reason": "Unregistered", "timestamp": 1700000000000}` unless it accepted the push.
    init(status: Int, retryAfterSeconds: Double?, body: [UInt8]) {
        self.init(status: status)
        guard status != 200 else { return }
        if let retryAfterSeconds, retryAfterSeconds > 0 { self.retryAfterSeconds = retryAfterSeconds }
        guard let json = try? JSONValue(parsing: body) else { return }
        reason = String((json["reason"]?.stringValue ?? "").prefix(100))
        invalidSince = json["timestamp"]?.integerValue.map { Timestamp(epochMilliseconds: $0) }
    }
}
