import CCurl

/// What libcurl's error says about a push and its connection.
enum CurlFailure: Hashable {
    /// No connection came about: nothing was sent.
    case connection(ConnectionFailure)
    /// The connection cannot be used for more.
    case broken
    /// This stream alone was reset.
    case stream

    init(_ code: CURLcode, message: String, connection: CurlConnection, proxy: CurlProxyReply?) {
        if let proxy, !connection.isSealed, let failure = proxy.failure(code, message, isBeforeTunnel: connection.isBeforeTunnel) {
            self = .connection(failure)
        } else if connection.negotiated == .other, !connection.hasAnswered {
            self = .connection(.notHTTP2)
        } else if !connection.hasAnswered, let alert = connection.certificateAlert {
            self = .connection(.certificateRefused(alert))
        } else if connection.isSealed {
            self = code == CURLE_HTTP2_STREAM ? .stream : .broken
        } else {
            self = .connection(Self.failure(code, message))
        }
    }

    private static func failure(_ code: CURLcode, _ message: String) -> ConnectionFailure {
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION: .untrusted(message)
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE: .misconfigured("the ca file cannot be read: \(message)")
        case CURLE_SSL_CERTPROBLEM: .misconfigured("the client certificate cannot be used: \(message)")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_SSL_ENGINE_NOTFOUND, CURLE_OUT_OF_MEMORY:
            .misconfigured(message)
        default: .unreachable(message)
        }
    }

    /// Whether a text tells of an alert by which a server refuses a client's certificate (RFC 8446 section 6.2). With TLS 1.3 it arrives
    /// after the client's handshake is over, as an error of reading.
    static func isAboutClientCertificate(_ text: String) -> Bool {
        let text = text.lowercased()
        // Alerts that go out are ours, about the server's certificate.
        guard text.contains("alert"), !text.contains("(out)") else { return false }
        let alerts = [
            "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired", "certificate unknown", "unknown ca",
            "access denied", "certificate required",
        ]
        return alerts.contains { text.contains($0) }
    }
}
