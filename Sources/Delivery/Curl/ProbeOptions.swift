import Base
import CCurl
import Cryptography
import HTTP2
import PushServices

/// What a probe's handle is set to, so that it goes where pushes go.
struct ProbeOptions {
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
        volley_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(connectTimeoutSeconds * 1000))
        applyTLS(to: easy)
        applyProxy(to: easy)
    }

    /// The headers of a push, in libcurl's form.
    static func headerLines(_ request: RequestTemplate, _ token: SignedToken?) -> [String] {
        var lines = request.headers.map { "\($0.name): \($0.value)" }
        if let token { lines.append("authorization: bearer \(token.text)") }
        // As for pushes: the last place at which it can be seen.
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
