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

/// What the connections of a TLS server share: TLS 1.2 or later, its certificate, one application protocol (RFC 7301) that clients must
/// offer.
///
/// `@unchecked Sendable`: the SSL_CTX is not changed after init, and OpenSSL counts its references atomically.
public final class TLSServerContext: @unchecked Sendable {
    let pointer: OpaquePointer
    /// The application protocol, by default `h2`.
    public let applicationProtocol: String
    private let wireProtocol: UnsafeMutableBufferPointer<UInt8>

    /// - Parameter offersResumption: whether clients may shorten later handshakes. Otherwise every connection shows its certificate again,
    ///   and clients cannot tell a simulator's restart from a first start.
    /// - Throws: a `Diagnostic` if the authority file cannot be read, or if there is not enough memory.
    public init(
        certificate: IssuedCertificate, clients: ClientCertificatePolicy = .notAsked, applicationProtocol: String = "h2",
        offersResumption: Bool = false
    ) throws(Diagnostic) {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw .openSSLCannotMake("the shared TLS settings") }
        pointer = context
        self.applicationProtocol = applicationProtocol
        wireProtocol = .allocate(capacity: applicationProtocol.utf8.count)
        _ = wireProtocol.initialize(from: applicationProtocol.utf8)
        setOptions()
        if !offersResumption { refuseResumption() }
        use(certificate)
        try setClients(clients)
        requireApplicationProtocol()
    }

    deinit {
        SSL_CTX_free(pointer)
        wireProtocol.deallocate()
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
        SSL_CTX_set_options(pointer, UInt64(1) << 14)  // SSL_OP_NO_TICKET, a macro that Swift does not import
        SSL_CTX_set_num_tickets(pointer, 0)
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    }

    private func use(_ issued: IssuedCertificate) {
        let certificateText = Self.reader(issued.certificatePEM), keyText = Self.reader(issued.keyPEM)
        let certificate = require(
            OpenSSLHandle.certificate(PEM_read_bio_X509(certificateText.pointer, nil, nil, nil)), "reading a certificate")
        let key = require(OpenSSLHandle.key(PEM_read_bio_PrivateKey(keyText.pointer, nil, nil, nil)), "reading a key")
        guard SSL_CTX_use_certificate(pointer, certificate.pointer) == 1, SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1 else {
            fatalError("OpenSSL failed: a certificate that does not match its key")
        }
        while let next = PEM_read_bio_X509(certificateText.pointer, nil, nil, nil) {
            // The context takes ownership of the certificate.
            if SSL_CTX_ctrl(pointer, SSL_CTRL_EXTRA_CHAIN_CERT, 0, UnsafeMutableRawPointer(next)) != 1 { X509_free(next) }
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

    /// A client that offers other protocols than ours gets the alert no_application_protocol; a client that offers none is detected by
    /// `TLSServerConnection.handshake()`.
    private func requireApplicationProtocol() {
        // The context outlives its SSL_CTX, and every connection holds the context.
        let this = Unmanaged.passUnretained(self).toOpaque()
        SSL_CTX_set_alpn_select_cb(
            pointer,
            { _, chosen, chosenLength, offered, offeredLength, user in
                guard let chosen, let chosenLength, let offered, let user else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                let wanted = Unmanaged<TLSServerContext>.fromOpaque(user).takeUnretainedValue().wireProtocol
                var index = 0
                while index < Int(offeredLength) {
                    let length = Int(offered[index])
                    guard index + 1 + length <= Int(offeredLength) else { break }
                    if UnsafeBufferPointer(start: offered + index + 1, count: length).elementsEqual(wanted) {
                        chosen.pointee = UnsafePointer(wanted.baseAddress)
                        chosenLength.pointee = UInt8(wanted.count)
                        return SSL_TLSEXT_ERR_OK
                    }
                    index += 1 + length
                }
                return SSL_TLSEXT_ERR_ALERT_FATAL
            }, this)
    }
}
