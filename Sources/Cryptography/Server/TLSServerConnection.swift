import COpenSSL

/// How far a TLS operation on a non-blocking socket came.
public enum TLSProgress: Hashable, Sendable {
    /// The handshake is complete, or so many bytes were read or written (never 0).
    case done(Int)
    /// Again when the socket is readable.
    case wantsRead
    /// Again when the socket is writable.
    case wantsWrite
    /// The peer closed, properly or not, or broke the protocol: nothing more will come of this connection.
    case closed
}

/// The server's end of a TLS connection over a non-blocking socket. It does not own the socket.
///
/// Writing to a socket that the peer has closed raises SIGPIPE: the thread that uses this must block that signal.
public struct TLSServerConnection: ~Copyable {
    private let ssl: OpaquePointer
    /// Keeps the ALPN callback's memory alive.
    private let context: TLSServerContext

    /// A connection whose handshake has not begun.
    public init(_ context: TLSServerContext, socket: Int32) {
        guard let ssl = SSL_new(context.pointer), SSL_set_fd(ssl, socket) == 1 else { fatalError("OpenSSL failed: TLS connection") }
        SSL_set_accept_state(ssl)
        self.ssl = ssl
        self.context = context
    }

    deinit { SSL_free(ssl) }

    /// Goes on with the handshake. A client that did not agree on the application protocol is `.closed`.
    public func handshake() -> TLSProgress {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        guard result == 1 else { return failure(result) }
        return negotiatedProtocol == context.applicationProtocol ? .done(0) : .closed
    }

    /// Reads what fits into `buffer`, at most one record.
    public func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSProgress {
        ERR_clear_error()
        var count = 0
        let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        return result == 1 ? .done(count) : failure(result)
    }

    /// Writes a beginning of `bytes`, which must not be empty. After `.wantsWrite` the same bytes must be offered again (from wherever they
    /// are).
    public func write(_ bytes: UnsafeRawBufferPointer) -> TLSProgress {
        ERR_clear_error()
        var count = 0
        let result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        return result == 1 ? .done(count) : failure(result)
    }

    /// Sends close_notify, once; does not wait for the peer's.
    public func shutdown() {
        ERR_clear_error()
        SSL_shutdown(ssl)
    }

    /// Whether the client showed a certificate that the context's policy takes. Known after the handshake.
    public var hasClientCertificate: Bool { SSL_get0_peer_certificate(ssl) != nil }

    /// Whether that certificate has begun and not ended.
    public var clientCertificateIsInForce: Bool {
        guard let certificate = SSL_get0_peer_certificate(ssl) else { return false }
        return X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0 && X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0
    }

    /// What ALPN agreed on; empty when the client offered nothing.
    public var negotiatedProtocol: String {
        var start: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &start, &length)
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }

    private func failure(_ result: Int32) -> TLSProgress {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: .wantsRead
        case SSL_ERROR_WANT_WRITE: .wantsWrite
        default: .closed
        }
    }
}
