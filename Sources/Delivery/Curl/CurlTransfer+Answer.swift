import CCurl

extension CurlTransfer {
    /// What the server answered before the transfer failed; nil when its status never came.
    ///
    /// A server may answer before it has read the body, and then reset the stream with NO_ERROR; the answer counts (RFC 9113 section 8.1). nginx
    /// does so, and libcurl 7.88 calls it a failure (CURLE_HTTP2_STREAM without a text).
    func answerBeforeFailure() -> DeliveryMachine.Answer? {
        guard volley_easy_get_long(easy.pointer, CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) else { return nil }
        let answer = readAnswer()
        return answer.status >= 200 ? answer : nil
    }

    /// What APNs answered.
    func readAnswer() -> DeliveryMachine.Answer {
        let status = volley_easy_get_long(easy.pointer, CURLINFO_RESPONSE_CODE)
        let date = status == 403 ? volley_easy_get_header(easy.pointer, "date").map { String(cString: $0) } : nil
        return DeliveryMachine.Answer(
            status: status, retryAfterSeconds: Double(volley_easy_get_offset(easy.pointer, CURLINFO_RETRY_AFTER)), date: date, body: answer)
    }
}
