import Base
import CCurl
import Cryptography
import HTTP2
import PushServices

/// How libcurl reaches a service: the same way for a probe as for pushes.
struct CurlRoute {
    /// Up to the path.
    let origin: String
    let authority: CurlAuthority?
    let clientCertificate: [UInt8]?
    let connectTimeoutSeconds: Double
    /// The proxy; empty for none.
    let proxy: String
    /// The authorities to trust for the certificate of an `https` proxy; nil for the system's.
    let proxyAuthorityFile: String?

    /// - Parameter host: nil for the endpoint's own.
    init(_ settings: SenderSettings, host: String? = nil) {
        let host = host ?? settings.endpoint.host
        // An IPv6 address must be in brackets within a URL.
        origin = "https://\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(settings.endpoint.port)"
        authority = settings.endpoint.certificateAuthorityFile.map(CurlAuthority.init)
        if case .certificate(let certificate) = settings.credentials {
            clientCertificate = certificate.pem
        } else {
            clientCertificate = nil
        }
        connectTimeoutSeconds = settings.connectTimeoutSeconds
        proxy = settings.proxy ?? ""
        proxyAuthorityFile = settings.proxyAuthorityFile
    }

    func apply(to easy: UnsafeMutableRawPointer) {
        volley_easy_set_string(easy, CURLOPT_URL, origin + "/")
        volley_easy_set_long(easy, CURLOPT_POST, 1)
        volley_easy_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        volley_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "https")
        volley_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        // A signal could interrupt any thread.
        volley_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        volley_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(connectTimeoutSeconds * 1000))
        applyTLS(to: easy)
        useProxy(easy, proxy)
        if let proxyAuthorityFile { volley_easy_set_string(easy, CURLOPT_PROXY_CAINFO, proxyAuthorityFile) }
    }

    /// Returns the headers of a push in libcurl's form.
    /// - Parameter signature: the lines that are for one request alone.
    static func headerLines(_ request: RequestTemplate, _ token: ServiceToken?, signature: [String] = []) -> [String] {
        var lines = request.headers.map { "\($0.name): \($0.value)" }
        if let token { lines.append("\(token.header): \(token.value)") }
        lines += signature
        // As for pushes: this is the last place that can detect one.
        precondition(lines.allSatisfy(HTTP2Header.canHold), "a header with a control character")
        // A name without a value makes libcurl omit its own header. `Expect` would make each push wait for a 100.
        return lines + ["Expect:", "Accept:", "Content-Type:"]
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
