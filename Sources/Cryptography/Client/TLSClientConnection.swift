import COpenSSL
import Glibc

/// How far a TLS operation on a non-blocking socket came.
public enum TLSClientProgress: Hashable, Sendable {
    /// The handshake is complete, or so many bytes were read or written (never 0).
    case done(Int)
    /// Again when the socket is readable.
    case wantsRead
    /// Again when the socket is writable.
    case wantsWrite
    /// Nothing more will come of this connection.
    case failed(TLSClientFailure)
}

/// Why a TLS connection came to its end; the texts are OpenSSL's or the system's own.
public enum TLSClientFailure: Hashable, Sendable {
    /// The server closed it, in good order or not.
    case closed(String)
    /// The server's certificate is not to be trusted, or is for another name.
    case untrusted(String)
    /// The server does not speak the application protocol.
    case otherProtocol
    /// The server refused the client's certificate, or misses one.
    case certificateRefused(String)
    /// Anything else: a reset, a broken record, no common version.
    case broken(String)
}

/// The client's end of a TLS connection over a non-blocking socket, which it does not own. The server's certificate is always verified.
///
/// Writing to a socket that the peer has closed raises SIGPIPE: the thread that uses this must block that signal.
public struct TLSClientConnection: ~Copyable {
    private let ssl: OpaquePointer
    /// Keeps the context of the session callback alive.
    private let context: TLSClientContext

    /// A connection whose handshake has not begun.
    /// - Parameter host: the name or address that the server's certificate must carry; a name is also sent as SNI (RFC 6066).
    public init(_ context: TLSClientContext, host: String, socket: Int32) {
        guard let ssl = SSL_new(context.pointer), SSL_set_fd(ssl, socket) == 1 else { fatalError("OpenSSL failed: TLS connection") }
        SSL_set_connect_state(ssl)
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) != 1 {
            guard SSL_set1_host(ssl, host) == 1 else { fatalError("OpenSSL failed: host name") }
            var name = Array(host.utf8CString)
            SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
        }
        ERR_clear_error()
        if let session = context.takeSession() {
            SSL_set_session(ssl, session)
            SSL_SESSION_free(session)
        }
        self.ssl = ssl
        self.context = context
    }

    deinit { SSL_free(ssl) }

    /// Goes on with the handshake.
    public func handshake() -> TLSClientProgress {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        guard result == 1 else { return failure(result) }
        return negotiatedProtocol == context.applicationProtocol ? .done(0) : .failed(.otherProtocol)
    }

    /// Reads what fits into `buffer`, at most one record (16 KiB).
    public func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSClientProgress {
        ERR_clear_error()
        var count = 0
        let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        return result == 1 ? .done(count) : failure(result)
    }

    /// Writes a beginning of `bytes`, at most one record; they must not be empty. After `.wantsWrite` the same bytes must be offered again
    /// (from wherever they are).
    public func write(_ bytes: UnsafeRawBufferPointer) -> TLSClientProgress {
        ERR_clear_error()
        var count = 0
        let result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        return result == 1 ? .done(count) : failure(result)
    }

    /// Sends close_notify, once; does not wait for the peer's.
    public func shutdown() {
        ERR_clear_error()
        SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// Whether the handshake was shortened by an earlier session.
    public var isResumed: Bool { SSL_session_reused(ssl) == 1 }

    private var negotiatedProtocol: String {
        var start: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &start, &length)
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }

    private func failure(_ result: Int32) -> TLSClientProgress {
        let cause = errno
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .failed(.closed("the server closed the connection"))
        case SSL_ERROR_SYSCALL: return .failed(.broken(cause == 0 ? "the connection ended" : String(cString: strerror(cause))))
        default: return .failed(protocolFailure())
        }
    }

    private func protocolFailure() -> TLSClientFailure {
        let error = ERR_peek_error()
        ERR_clear_error()
        let verification = SSL_get_verify_result(ssl)
        if verification != X509_V_OK { return .untrusted(String(cString: X509_verify_cert_error_string(verification))) }
        let text = ERR_reason_error_string(error).map { String(cString: $0) } ?? "a TLS error"
        switch ERR_GET_REASON(error) {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: return .closed("the server cut the connection")
        // Alerts of the peer: 1000 and the number of RFC 8446 section 6.
        case 1042...1046, 1048, 1049, 1116: return .certificateRefused(text)
        case 1120: return .otherProtocol
        default: return .broken(text)
        }
    }
}
