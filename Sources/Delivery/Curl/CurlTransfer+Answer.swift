import Base
import CCurl

extension CurlTransfer {
    /// What APNs answered: `{"reason": "Unregistered", "timestamp": 1700000000000}` unless it accepted the push.
    func readAnswer() -> DeliveryMachine.Answer {
        var result = DeliveryMachine.Answer(status: volley_easy_get_long(easy.pointer, CURLINFO_RESPONSE_CODE))
        guard result.status != 200 else { return result }
        let retryAfter = volley_easy_get_offset(easy.pointer, CURLINFO_RETRY_AFTER)
        if retryAfter > 0 { result.retryAfterSeconds = Double(retryAfter) }
        guard let body = try? JSONValue(parsing: answer) else { return result }
        result.reason = String((body["reason"]?.stringValue ?? "").prefix(100))
        result.invalidSince = body["timestamp"]?.integerValue.map { Timestamp(epochMilliseconds: $0) }
        return result
    }
}
