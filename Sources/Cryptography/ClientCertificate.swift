public import Base

/// A client certificate with its key, checked and ready for TLS. Never printed.
public struct ClientCertificate: Sendable {
    /// Certificate, the rest of its chain, and the unencrypted key, PEM. Stays in memory.
    public let pem: [UInt8]
    /// The subject's common name, as in `Push Services: com.example.shop`; empty if it has none.
    public let commonName: String
    /// The subject's user id, in which some services name the topic: `com.example.shop`; empty if
    /// it has none.
    public let userID: String
    /// When it expires.
    public let notAfter: Timestamp
    /// The file it was read from.
    public let file: String

    /// How long before its expiry a certificate gets a warning.
    public static let warningDays = 30

    /// Reads a .p12 or a PEM with certificate and key.
    /// - Parameters:
    ///   - passphrase: the passphrase of the file; nil if none was given. Ignored for a file that
    ///     needs none.
    ///   - now: the moment at which the certificate must be valid.
    ///   - words: for messages about a file that cannot be used.
    /// - Throws: a `Diagnostic` with the file and the remedy: file missing, wrong passphrase, no
    ///   key inside, expired, key of another certificate.
    public init(file: String, passphrase: String?, now: Timestamp, words: KeyFileWords = .plain) throws(Diagnostic) {
        try self.init(file: file, passphrase: passphrase, now: now, words: words, allowsLegacy: true)
    }

    /// - Parameter allowsLegacy: false behaves like a machine with an OpenSSL that has no legacy
    ///   algorithms.
    init(file: String, passphrase: String?, now: Timestamp, words: KeyFileWords = .plain, allowsLegacy: Bool)
        throws(Diagnostic)
    {
        let bytes = try SecretFile.read(file, kind: "certificate")
        let source = CertificateSource(file: file, passphrase: passphrase, words: words)
        let identity = try bytes.withBytes { (buffer) throws(Diagnostic) -> CertificateIdentity in
            let algorithms = try AlgorithmLibrary(allowsLegacy: allowsLegacy)
            return PEMLabels(buffer).all.isEmpty
                ? try source.readPKCS12(buffer, algorithms) : try source.readPEM(buffer, algorithms)
        }
        guard now >= identity.notBefore else {
            throw Diagnostic(
                "the certificate is not valid before \(identity.notBefore)", file: file,
                remedy: "Check the clock of this machine: it says \(now).")
        }
        guard now < identity.notAfter else {
            throw Diagnostic(
                "the certificate expired at \(identity.notAfter)", file: file,
                remedy: "Create a new one under Certificates, Identifiers & Profiles, and export it with its key.")
        }
        self.file = file
        pem = identity.pem
        commonName = identity.commonName
        userID = identity.userID
        notAfter = identity.notAfter
    }

    /// A warning if the certificate expires within 30 days of `now`; nil if it is valid for longer.
    public func expiryWarning(now: Timestamp) -> Diagnostic? {
        let day: Int64 = 86_400
        let left = notAfter.epochSeconds - now.epochSeconds
        guard left <= Int64(Self.warningDays) * day else { return nil }
        let days = max(0, left / day)
        let when = days == 0 ? "within a day" : days == 1 ? "in 1 day" : "in \(days) days"
        return .warning(
            .certificateExpires, message: "the certificate expires \(when), at \(notAfter)", file: file,
            remedy: "Create a new one under Certificates, Identifiers & Profiles before then.")
    }

    /// A warning if other users of the machine may read the file, with the command that prevents
    /// this; nil if they may not.
    public static func permissionWarning(file: String) -> Diagnostic? { SecretFile.permissionWarning(file) }
}
