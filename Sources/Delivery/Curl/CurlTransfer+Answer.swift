import CCurl

extension CurlTransfer {
    /// What APNs answered.
    func readAnswer() -> DeliveryMachine.Answer {
        DeliveryMachine.Answer(
            status: volley_easy_get_long(easy.pointer, CURLINFO_RESPONSE_CODE),
            retryAfterSeconds: Double(volley_easy_get_offset(easy.pointer, CURLINFO_RETRY_AFTER)), body: answer)
    }
}
