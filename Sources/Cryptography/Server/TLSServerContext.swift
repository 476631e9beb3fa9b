public import Base
import COpenSSL

/// The client certificates that a server accepts. A certificate is never required.
public enum ClientCertificatePolicy: Sendable {
    /// Clients are not asked for one.
    case notAsked
    /// Any readable certificate, signed by anyone.
    case anyAuthority
    /// Only certificates of the authorities in this PEM file; others fail the handshake.
    case authority(file: String)
}

/// What the connections of a TLS server share: TLS 1.2 or later, its certificate, and the
/// application protocols that it speaks (RFC 7301).
///
/// A client that offers only other protocols gets the alert no_application_protocol. One that
/// offers none is served: the owner of the connection decides what it speaks.
///
/// `@unchecked Sendable`: the SSL_CTX is not changed after init, and OpenSSL counts its references
/// atomically.
public final class TLSServerContext: @unchecked Sendable {
    let pointer: OpaquePointer
    /// As TLS writes them: each after its length.
    private let wireProtocols: UnsafeMutableBufferPointer<UInt8>

    /// - Parameters:
    ///   - applicationProtocols: what the server speaks, the preferred one first.
    ///   - offersResumption: whether clients may shorten later handshakes. Otherwise every
    ///     connection shows its certificate again, and clients cannot tell a simulator's restart
    ///     from a first start.
    /// - Throws: a `Diagnostic` if the authority file cannot be read, or if there is not enough
    ///   memory.
    public init(
        certificate: IssuedCertificate, clients: ClientCertificatePolicy = .notAsked,
        applicationProtocols: [String] = ["h2"],
        offersResumption: Bool = false
    ) throws(Diagnostic) {
        guard let context = SSL_CTX_new(TLS_server_method()) else {
            throw .openSSLCannotMake("the shared TLS settings")
        }
        pointer = context
        let written = applicationProtocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        wireProtocols = .allocate(capacity: written.count)
        _ = wireProtocols.initialize(from: written)
        setOptions()
        if !offersResumption { refuseResumption() }
        use(certificate)
        try setClients(clients)
        chooseApplicationProtocol()
    }

    deinit {
        SSL_CTX_free(pointer)
        wireProtocols.deallocate()
    }

    private func setOptions() {
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        let mode = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(mode), nil)
        // Reads many records with one system call.
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_READ_AHEAD, 1, nil)
        SSL_CTX_set_default_read_buffer_len(pointer, 256 << 10)
    }

    private func refuseResumption() {
        // SSL_OP_NO_TICKET, a macro that Swift does not import
        SSL_CTX_set_options(pointer, UInt64(1) << 14)
        SSL_CTX_set_num_tickets(pointer, 0)
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    }

    private func use(_ issued: IssuedCertificate) {
        let certificateText = Self.reader(issued.certificatePEM), keyText = Self.reader(issued.keyPEM)
        let certificate = require(
            OpenSSLHandle.certificate(PEM_read_bio_X509(certificateText.pointer, nil, nil, nil)),
            "reading a certificate")
        let key = require(OpenSSLHandle.key(PEM_read_bio_PrivateKey(keyText.pointer, nil, nil, nil)), "reading a key")
        guard SSL_CTX_use_certificate(pointer, certificate.pointer) == 1,
            SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1
        else {
            fatalError("OpenSSL failed: a certificate that does not match its key")
        }
        while let next = PEM_read_bio_X509(certificateText.pointer, nil, nil, nil) {
            // The context takes ownership of the certificate.
            if SSL_CTX_ctrl(pointer, SSL_CTRL_EXTRA_CHAIN_CERT, 0, UnsafeMutableRawPointer(next)) != 1 {
                X509_free(next)
            }
        }
        ERR_clear_error()
    }

    private static func reader(_ text: String) -> OpenSSLHandle {
        let bytes = require(OpenSSLHandle.writer(), "BIO")
        BIO_puts(bytes.pointer, text)
        return bytes
    }

    private func setClients(_ policy: ClientCertificatePolicy) throws(Diagnostic) {
        switch policy {
        case .notAsked:
            SSL_CTX_set_verify(pointer, SSL_VERIFY_NONE, nil)
        case .anyAuthority:
            SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER) { _, _ in 1 }
        case .authority(let file):
            if let kind = FileKind(path: file), kind != .regular { throw kind.refusal(file) }
            guard SSL_CTX_load_verify_file(pointer, file) == 1 else {
                ERR_clear_error()
                throw Diagnostic(
                    "the authority of client certificates cannot be read", file: file,
                    remedy: "Name a PEM file with the authority's certificate")
            }
            SSL_CTX_set_client_CA_list(pointer, SSL_load_client_CA_file(file))
            SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        }
    }

    private func chooseApplicationProtocol() {
        // The context outlives its SSL_CTX, and every connection holds the context.
        let this = Unmanaged.passUnretained(self).toOpaque()
        SSL_CTX_set_alpn_select_cb(
            pointer,
            { _, chosen, chosenLength, offered, offeredLength, user in
                guard let chosen, let user else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                let own = Unmanaged<TLSServerContext>.fromOpaque(user).takeUnretainedValue().wireProtocols
                var start: UnsafeMutablePointer<UInt8>?
                let result = SSL_select_next_proto(
                    &start, chosenLength, own.baseAddress, UInt32(own.count), offered, offeredLength)
                chosen.pointee = UnsafePointer(start)
                return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL
            }, this)
    }
}
