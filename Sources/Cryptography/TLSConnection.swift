public import Base
import COpenSSL
import Glibc

/// The progress of a TLS operation on a non-blocking socket.
public enum TLSProgress: Hashable, Sendable {
    /// The handshake is complete, or this many bytes were read or written (never 0).
    case done(Int)
    /// Try again when the socket is readable.
    case wantsRead
    /// Try again when the socket is writable.
    case wantsWrite
    /// The connection can no longer be used.
    case failed(TLSFailure)
}

/// Why a TLS connection ended, in words; OpenSSL's own are in parentheses.
public enum TLSFailure: Hashable, Sendable {
    /// The peer closed it, cleanly or not.
    case closed(String)
    /// The server's certificate is not trusted, or is for another name.
    case untrusted(String)
    /// The peer does not speak the application protocol.
    case otherProtocol
    /// The server refused the client's certificate, or requires one.
    case certificateRefused(String)
    /// Anything else: a reset, a broken record, no common version.
    case broken(String)
}

/// One end of a TLS connection over a non-blocking socket, which it does not own. A client always
/// verifies the server's certificate.
///
/// Writing to a socket that the peer has closed raises SIGPIPE: the thread that uses this must
/// block that signal.
public struct TLSConnection: ~Copyable {
    private let ssl: OpaquePointer
    /// Keeps the objects alive that the context's callbacks use.
    private let context: AnyObject
    /// The protocol on which ALPN must agree; nil for a server, and for a client whose server need
    /// not support ALPN.
    private let requiredProtocol: String?
    /// The connection through which this one runs; nil for one directly on a socket.
    private let outer: Outer?

    private final class Outer {
        let connection: TLSConnection

        init(_ connection: consuming TLSConnection) { self.connection = connection }
    }

    /// The server's end of a connection before its handshake.
    /// - Throws: a `Diagnostic` if there is not enough memory; the same for the other initialisers.
    public init(_ context: TLSServerContext, socket: Int32) throws(Diagnostic) {
        ssl = try Self.make(context.pointer, socket)
        outer = nil
        self.context = context
        requiredProtocol = nil
        SSL_set_accept_state(ssl)
    }

    /// The client's end of a connection before its handshake.
    /// - Parameter host: the name or address that the server's certificate must carry; a name is
    ///   also sent as SNI (RFC 6066).
    public init(_ context: TLSClientContext, host: String, socket: Int32) throws(Diagnostic) {
        ssl = try Self.connecting(Self.make(context.pointer, socket), context, host: host)
        outer = nil
        self.context = context
        requiredProtocol = context.requiredProtocol
    }

    /// The client's end of a connection inside another one with a complete handshake: to a server
    /// behind a proxy that itself uses TLS. Progress refers to the socket of the outermost
    /// connection.
    public init(_ context: TLSClientContext, host: String, inside outer: consuming TLSConnection) throws(Diagnostic) {
        let ssl = try Self.connecting(Self.make(context.pointer), context, host: host)
        // OpenSSL's own filter: the outer connection encrypts what the inner one writes, and passes
        // on when it must wait.
        guard let filter = BIO_new(BIO_f_ssl()) else {
            SSL_free(ssl)
            throw .openSSLCannotMake("a TLS connection")
        }
        BIO_ctrl(filter, BIO_C_SET_SSL, Int(BIO_NOCLOSE), UnsafeMutableRawPointer(outer.ssl))
        SSL_set_bio(ssl, filter, filter)
        self.ssl = ssl
        self.outer = Outer(outer)
        self.context = context
        requiredProtocol = context.requiredProtocol
    }

    /// Makes a new connection the client's end; frees it on failure.
    private static func connecting(_ ssl: OpaquePointer, _ context: TLSClientContext, host: String) throws(Diagnostic)
        -> OpaquePointer
    {
        SSL_set_connect_state(ssl)
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) != 1 {
            guard SSL_set1_host(ssl, host) == 1 else {
                SSL_free(ssl)
                throw .openSSLCannotMake("a TLS connection")
            }
            var name = Array(host.utf8CString)
            SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
        }
        if let session = context.takeSession() {
            SSL_set_session(ssl, session)
            SSL_SESSION_free(session)
        }
        return ssl
    }

    /// - Parameter socket: nil for none yet.
    private static func make(_ context: OpaquePointer, _ socket: Int32? = nil) throws(Diagnostic) -> OpaquePointer {
        guard let ssl = SSL_new(context) else { throw .openSSLCannotMake("a TLS connection") }
        guard let socket, SSL_set_fd(ssl, socket) != 1 else { return ssl }
        SSL_free(ssl)
        throw .openSSLCannotMake("a TLS connection")
    }

    deinit { SSL_free(ssl) }

    /// Continues the handshake.
    public func handshake() -> TLSProgress {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        guard result == 1 else { return failure(result) }
        return requiredProtocol == nil || negotiatedProtocol == requiredProtocol ? .done(0) : .failed(.otherProtocol)
    }

    /// Reads what fits into `buffer`, at most one record (16 KiB).
    public func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSProgress {
        ERR_clear_error()
        var count = 0
        let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        return result == 1 ? .done(count) : failure(result)
    }

    /// As `read`, but the bytes stay and can be read again.
    public func peek(into buffer: UnsafeMutableRawBufferPointer) -> TLSProgress {
        ERR_clear_error()
        var count = 0
        let result = SSL_peek_ex(ssl, buffer.baseAddress, buffer.count, &count)
        return result == 1 ? .done(count) : failure(result)
    }

    /// Writes the first part of `bytes`, which must not be empty, at most one record. After
    /// `.wantsWrite` the same bytes must be passed again (their address may differ).
    public func write(_ bytes: UnsafeRawBufferPointer) -> TLSProgress {
        ERR_clear_error()
        var count = 0
        let result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        return result == 1 ? .done(count) : failure(result)
    }

    /// Sends close_notify, once, on every layer; does not wait for the peer's.
    public func shutdown() {
        ERR_clear_error()
        SSL_shutdown(ssl)
        outer?.connection.shutdown()
    }

    /// Whether the handshake was shortened by an earlier session.
    public var isResumed: Bool { SSL_session_reused(ssl) == 1 }

    /// Whether the client showed a certificate that the server's policy accepts. Known after the
    /// handshake.
    public var hasClientCertificate: Bool { SSL_get0_peer_certificate(ssl) != nil }

    /// Whether that certificate is within its period of validity.
    public var clientCertificateIsInForce: Bool {
        guard let certificate = SSL_get0_peer_certificate(ssl) else { return false }
        return X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0
            && X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0
    }

    /// The protocol that ALPN agreed on; empty if the client offered none.
    public var negotiatedProtocol: String {
        var start: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &start, &length)
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }

    private func failure(_ result: Int32) -> TLSProgress {
        let cause = errno
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        // The layer below ended cleanly, for which OpenSSL has no error of its own here.
        case SSL_ERROR_SYSCALL where outer?.connection.isClosedByPeer == true:
            return .failed(.closed("the connection was cut"))
        case SSL_ERROR_ZERO_RETURN: return .failed(.closed("the peer closed the connection"))
        case SSL_ERROR_SYSCALL: return .failed(.broken(cause == 0 ? "the connection ended" : SystemError.words(cause)))
        default: return .failed(protocolFailure())
        }
    }

    private var isClosedByPeer: Bool { SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

    private func protocolFailure() -> TLSFailure {
        let error = ERR_peek_error()
        let verification = SSL_get_verify_result(ssl)
        if verification != X509_V_OK {
            return .untrusted(
                CertificateRefusal.words(verification, authorityFile: (context as? TLSClientContext)?.authorityFile))
        }
        let detail = ERR_reason_error_string(error).map { " (OpenSSL: \(String(cString: $0)))" } ?? ""
        switch ERR_GET_REASON(error) {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: return .closed("the connection was cut")
        // Alerts from the peer: 1000 plus the number of RFC 8446 section 6.
        case 1042...1046, 1048, 1049, 1116:
            return .certificateRefused("it ended the TLS handshake with an alert\(detail)")
        case 1120: return .otherProtocol
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST:
            return .broken("what answers there does not speak TLS\(detail)")
        default: return .broken("TLS failed\(detail)")
        }
    }
}
