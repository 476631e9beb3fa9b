import Base

extension DeliveryMachine.Answer {
    /// What APNs answered: `{"reason": "Unregistered", "timestamp": 1700000000000}` unless it accepted the push.
    init(status: Int, retryAfterSeconds: Double?, date: String?, body: [UInt8]) {
        self.init(status: status)
        guard status != 200 else { return }
        if status == 403 { serverTime = date.flatMap { Timestamp(httpDate: $0) } }
        if let retryAfterSeconds, retryAfterSeconds > 0 { self.retryAfterSeconds = retryAfterSeconds }
        guard let json = try? JSONValue(parsing: body) else { return }
        reason = TextFormat.foreign(json["reason"]?.stringValue ?? "", maximumBytes: 100)
        // What lies outside of the years that can be written down is no moment.
        if let milliseconds = json["timestamp"]?.integerValue, (0...253_402_300_799_999).contains(milliseconds) {
            invalidSince = Timestamp(epochMilliseconds: milliseconds)
        }
    }
}
