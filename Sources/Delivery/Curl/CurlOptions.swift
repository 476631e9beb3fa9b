import Base
import CCurl
import Cryptography
import HTTP2

/// What every easy handle of a sender is set to, once.
struct CurlOptions {
    let url: String
    let authority: CurlAuthority?
    let clientCertificate: [UInt8]?
    let connectTimeoutSeconds: Double
    /// Empty for none.
    let proxy: String

    init(_ settings: SenderSettings) {
        let host = settings.endpoint.host
        // An IPv6 address stands in brackets within a URL.
        url = "https://\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(settings.endpoint.port)/"
        authority = settings.endpoint.certificateAuthorityFile.map(CurlAuthority.init)
        if case .certificate(let certificate) = settings.credentials {
            clientCertificate = certificate.pem
        } else {
            clientCertificate = nil
        }
        connectTimeoutSeconds = settings.connectTimeoutSeconds
        proxy = settings.proxy ?? ""
    }

    func apply(to easy: UnsafeMutableRawPointer) {
        volley_easy_set_string(easy, CURLOPT_URL, url)
        volley_easy_set_long(easy, CURLOPT_POST, 1)
        volley_easy_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        volley_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "https")
        volley_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        // Signals would hit whatever thread they like.
        volley_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Wait for the one connection rather than ask for another.
        volley_easy_set_long(easy, CURLOPT_PIPEWAIT, 1)
        volley_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(connectTimeoutSeconds * 1000))
        // A connection is never too old by itself, nor is its address: both are renewed by closing it.
        volley_easy_set_long(easy, CURLOPT_MAXAGE_CONN, 86_400)
        volley_easy_set_long(easy, CURLOPT_DNS_CACHE_TIMEOUT, -1)
        // libcurl 7.88 loses its way when the headers of an answer do not fit in here: it takes their rest for HTTP/0.9, or stops reading until
        // the answer is overdue, for other streams as well. A push is a few hundred bytes: the usual 64 KiB for each stream would be for nothing.
        volley_easy_set_long(easy, CURLOPT_BUFFERSIZE, 32_768)
        volley_easy_set_long(easy, CURLOPT_UPLOAD_BUFFERSIZE, 16_384)
        applyTLS(to: easy)
        applyProxy(to: easy)
        volley_easy_set_open_socket_function(easy) { context, purpose, address in
            guard let context, let address else { return CURL_SOCKET_BAD }
            return CurlConnection.from(context).openSocket(address.pointee)
        }
    }

    /// The header lines that all pushes of a connection share, in libcurl's form.
    static func headerLines(_ headers: PushHeaders, _ token: ProviderToken?) -> [String] {
        var lines = [
            "apns-topic: \(headers.topic)", "apns-push-type: \(headers.pushType.rawValue)", "apns-priority: \(headers.priority.rawValue)",
        ]
        if let token { lines.append("authorization: bearer \(token.text)") }
        if let expiration = headers.expiration { lines.append("apns-expiration: \(expiration)") }
        if let collapseID = headers.collapseID { lines.append("apns-collapse-id: \(collapseID)") }
        // As with nghttp2: the last place at which it can be seen.
        precondition(lines.allSatisfy(HTTP2Header.canHold), "a header with a control character")
        // Without a value: libcurl leaves its own out. `Expect` would make each push wait for a 100.
        return lines + ["Expect:", "Accept:", "Content-Type:"]
    }

    /// Exactly the proxy that was asked for, or none: the environment, which libcurl reads where these are not set, has no say.
    private func applyProxy(to easy: UnsafeMutableRawPointer) {
        volley_easy_set_string(easy, CURLOPT_PROXY, proxy)
        volley_easy_set_string(easy, CURLOPT_NOPROXY, "")
        guard !proxy.isEmpty else { return }
        volley_easy_set_long(easy, CURLOPT_HTTPPROXYTUNNEL, 1)
        // User and password at once, rather than a refusal and a second socket first.
        volley_easy_set_long(easy, CURLOPT_PROXYAUTH, volley_auth_basic)
        volley_easy_set_long(easy, CURLOPT_SOCKS5_AUTH, volley_auth_basic)
        volley_easy_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        volley_easy_set_long(easy, CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        volley_easy_set_long(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        volley_easy_set_long(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 2)
    }

    private func applyTLS(to easy: UnsafeMutableRawPointer) {
        verifyServer(easy, authority)
        guard var pem = clientCertificate else { return }
        pem.withUnsafeMutableBytes { bytes in
            var blob = curl_blob(data: bytes.baseAddress, len: bytes.count, flags: UInt32(CURL_BLOB_COPY))
            volley_easy_set_pointer(easy, CURLOPT_SSLCERT_BLOB, &blob)
            volley_easy_set_pointer(easy, CURLOPT_SSLKEY_BLOB, &blob)
        }
        volley_easy_set_string(easy, CURLOPT_SSLCERTTYPE, "PEM")
        volley_easy_set_string(easy, CURLOPT_SSLKEYTYPE, "PEM")
    }
}
