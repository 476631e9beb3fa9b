public import Base
import COpenSSL

/// What a TLS client's connections to one server share: TLS 1.2 or later, the authorities to trust,
/// the client's certificate, one application protocol (RFC 7301), and the last session, so that a
/// later connection to the same server needs no full handshake.
///
/// Belongs to one thread, as its connections do.
public final class TLSClientContext {
    let pointer: OpaquePointer
    /// The protocol on which ALPN must agree; nil if a server need not support ALPN.
    let requiredProtocol: String?
    /// The file with the only authorities to trust; nil for this machine's.
    let authorityFile: String?
    /// The newest session that the server offered for resumption; used once (RFC 8446 appendix
    /// C.4).
    private var session: OpaquePointer?

    /// - Parameters:
    ///   - authorityFile: a PEM file with the only authorities to trust; nil for the system's.
    /// - Throws: a `Diagnostic` if the authority file or the certificate cannot be used, or if
    ///   there is not enough memory.
    public init(authorityFile: String?, certificate: ClientCertificate?, applicationProtocol: String = "h2")
        throws(Diagnostic)
    {
        guard let context = SSL_CTX_new(TLS_client_method()) else {
            throw .openSSLCannotMake("the shared TLS settings")
        }
        pointer = context
        requiredProtocol = applicationProtocol
        self.authorityFile = authorityFile
        setOptions(offering: applicationProtocol)
        if let authorityFile { try trust(authorityFile) } else { trustSystem() }
        if let certificate { try use(certificate) }
        rememberSessions()
    }

    /// For proxies: trusted if this machine trusts them, and always HTTP/1.1, whether or not they
    /// support ALPN.
    /// - Parameter systemBundle: a PEM file with authorities to trust in addition to those that
    ///   OpenSSL finds by itself; nil for none.
    /// - Throws: a `Diagnostic` if there is not enough memory.
    public init(systemBundle: String?) throws(Diagnostic) {
        guard let context = SSL_CTX_new(TLS_client_method()) else {
            throw .openSSLCannotMake("the shared TLS settings")
        }
        pointer = context
        requiredProtocol = nil
        authorityFile = nil
        setOptions(offering: "http/1.1")
        trustSystem()
        if let systemBundle { _ = addAuthorities(of: systemBundle) }
        rememberSessions()
    }

    deinit {
        SSL_SESSION_free(session)
        SSL_CTX_free(pointer)
    }

    /// The session to resume; returned only once.
    func takeSession() -> OpaquePointer? {
        defer { session = nil }
        return session
    }

    private func setOptions(offering applicationProtocol: String) {
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        // HTTP/2 forbids renegotiation (RFC 9113 section 9.2.1). SSL_OP_NO_RENEGOTIATION is a macro
        // that Swift does not import.
        SSL_CTX_set_options(pointer, UInt64(1) << 30)
        let mode = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(mode), nil)
        // Reads many records with one system call.
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_READ_AHEAD, 1, nil)
        SSL_CTX_set_default_read_buffer_len(pointer, 128 << 10)
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        // A configured authority is trusted even if it is not a root, as in libcurl.
        X509_VERIFY_PARAM_set_flags(
            SSL_CTX_get0_param(pointer), UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        var offer = [UInt8(applicationProtocol.utf8.count)] + Array(applicationProtocol.utf8)
        SSL_CTX_set_alpn_protos(pointer, &offer, UInt32(offer.count))
    }

    private func trustSystem() { SSL_CTX_set_default_verify_paths(pointer) }

    private func trust(_ authorityFile: String) throws(Diagnostic) {
        guard addAuthorities(of: authorityFile) > 0 else {
            throw Diagnostic(
                "the certificate authority cannot be used", file: authorityFile,
                remedy: "Check the app's ca in volley.yaml.")
        }
    }

    /// OpenSSL does not get the file's name: it would wait if a named pipe had replaced the file.
    /// - Returns: how many certificates of the file are trusted now.
    private func addAuthorities(of file: String) -> Int {
        defer { ERR_clear_error() }
        return CertificateAuthorityFile.pem(of: file).withUnsafeBytes { bytes in
            guard let source = OpenSSLHandle.reader(bytes) else { return 0 }
            var count = 0
            while let certificate = PEM_read_bio_X509_AUX(source.pointer, nil, nil, nil) {
                // The store keeps a reference of its own.
                if X509_STORE_add_cert(SSL_CTX_get_cert_store(pointer), certificate) == 1 { count += 1 }
                X509_free(certificate)
            }
            return count
        }
    }

    private func use(_ certificate: ClientCertificate) throws(Diagnostic) {
        let isUsable = certificate.pem.withUnsafeBytes { bytes in
            guard let certificates = OpenSSLHandle.reader(bytes), let keys = OpenSSLHandle.reader(bytes),
                let leaf = OpenSSLHandle.certificate(PEM_read_bio_X509(certificates.pointer, nil, nil, nil)),
                let key = OpenSSLHandle.key(PEM_read_bio_PrivateKey(keys.pointer, nil, nil, nil)),
                SSL_CTX_use_certificate(pointer, leaf.pointer) == 1, SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1
            else { return false }
            while let next = PEM_read_bio_X509(certificates.pointer, nil, nil, nil) {
                // The context takes ownership of the certificate.
                if SSL_CTX_ctrl(pointer, SSL_CTRL_EXTRA_CHAIN_CERT, 0, UnsafeMutableRawPointer(next)) != 1 {
                    X509_free(next)
                }
            }
            return true
        }
        ERR_clear_error()
        guard isUsable else {
            throw Diagnostic("the client certificate cannot be used for TLS", file: certificate.file)
        }
    }

    private func rememberSessions() {
        SSL_CTX_ctrl(
            pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL), nil)
        // Its connections hold this object, so it outlives every call.
        SSL_CTX_set_ex_data(pointer, 0, Unmanaged.passUnretained(self).toOpaque())
        SSL_CTX_sess_set_new_cb(pointer) { ssl, session in
            guard let this = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0) else { return 0 }
            Unmanaged<TLSClientContext>.fromOpaque(this).takeUnretainedValue().keep(session)
            return 0
        }
    }

    /// Keeps a copy: OpenSSL makes the session of a connection that ends without close_notify
    /// unusable, but after such a loss the session is needed (RFC 5246 section 7.2.1 allows this
    /// since TLS 1.1).
    private func keep(_ newest: OpaquePointer?) {
        SSL_SESSION_free(session)
        session = SSL_SESSION_dup(newest)
    }
}
