import Base
import CCurl

/// A proxy's reply to a transfer that got no connection, as libcurl keeps it.
struct CurlProxyReply {
    private let address: ProxyAddress
    /// The status that answered CONNECT; 0 for none.
    private let status: Int
    /// libcurl's code for the SOCKS answer (CURLproxycode).
    private let socks: CURLproxycode

    init(address: ProxyAddress, easy: UnsafeMutableRawPointer) {
        self.address = address
        status = volley_easy_get_long(easy, CURLINFO_HTTP_CONNECTCODE)
        socks = CURLproxycode(UInt32(clamping: volley_easy_get_long(easy, CURLINFO_PROXY_ERROR)))
    }

    /// Returns what went wrong at the proxy; nil if the failure was behind it.
    /// - Parameter isBeforeTunnel: whether a failed handshake was the one with the proxy.
    func failure(_ code: CURLcode, message: String, isBeforeTunnel: Bool) -> ConnectionFailure? {
        switch code {
        case CURLE_PROXY: return socksFailure(message)
        case CURLE_COULDNT_RESOLVE_PROXY: return .unreachable("the name of the proxy \(address) cannot be resolved")
        case CURLE_PEER_FAILED_VERIFICATION: return isBeforeTunnel ? .proxyRefused(.untrusted(message)) : nil
        case CURLE_RECV_ERROR where status != 0 && !(200...299).contains(status): return connectFailure
        default: return nil
        }
    }

    private var connectFailure: ConnectionFailure {
        let answer = "it answered \(status) to CONNECT"
        switch status {
        case 407: return .proxyRefused(.credentials(answer))
        case 408, 429, 500...: return .unreachable("the proxy cannot reach it: \(answer)")
        default: return .proxyRefused(.forbidden(answer))
        }
    }

    private func socksFailure(_ message: String) -> ConnectionFailure {
        switch socks {
        case CURLPX_USER_REJECTED, CURLPX_NO_AUTH, CURLPX_IDENTD, CURLPX_IDENTD_DIFFER: .proxyRefused(.credentials(message))
        case CURLPX_REPLY_NOT_ALLOWED: .proxyRefused(.forbidden(message))
        default: .unreachable(message)
        }
    }
}
