public import Base
import COpenSSL
import Glibc

/// Finds certificate and key in the bytes of a .p12 or PEM file, or says in the user's words why it
/// cannot.
struct CertificateSource {
    let file: String
    let passphrase: String?
    var words = KeyFileWords.plain

    /// PEM: any number of certificates and one key, in any order; the leaf is the certificate to
    /// which the key belongs.
    func readPEM(_ bytes: UnsafeRawBufferPointer, _ algorithms: borrowing AlgorithmLibrary) throws(Diagnostic)
        -> CertificateIdentity
    {
        let labels = PEMLabels(bytes)
        guard labels.hasCertificate else {
            let what =
                labels.hasPrivateKey ? "a key without a certificate" : "a \(labels.all.first?.lowercased() ?? "text")"
            throw Diagnostic(
                "the file holds no certificate: this is \(what)", file: file,
                remedy: labels.hasPrivateKey ? "Put the certificate into the same file\(keyRemedy)." : exportRemedy)
        }
        guard labels.hasPrivateKey else { throw noKey }
        var request = PassphraseRequest(passphrase)
        guard let key = readPrivateKey(bytes, &request, context: algorithms.context) else {
            throw request.wasAsked ? passphraseProblem : damaged
        }
        return try identity(key.pointer, certificates: certificates(inPEM: bytes))
    }

    /// PKCS #12, which older tools encrypt with algorithms that OpenSSL 3 keeps separate.
    func readPKCS12(_ bytes: UnsafeRawBufferPointer, _ algorithms: borrowing AlgorithmLibrary) throws(Diagnostic)
        -> CertificateIdentity
    {
        defer { ERR_clear_error() }
        let source = require(OpenSSLHandle.reader(bytes), "BIO")
        // If decoding fails, OpenSSL has either freed the object and set the pointer to nil, or
        // left it unchanged.
        var object = PKCS12_init_ex(NID_pkcs7_data, algorithms.context, nil)
        let isDecoded = d2i_PKCS12_bio(source.pointer, &object) != nil
        guard let store = OpenSSLHandle.pkcs12(object), isDecoded else { throw notAStore(bytes) }
        let isProtected = PKCS12_mac_present(store.pointer) == 1
        guard let word = workingPassphrase(store.pointer) else { throw passphraseProblem }
        // PKCS12_parse requires a checksum if there is a passphrase, so a store without one gets it
        // here.
        if !isProtected, !word.isEmpty { PKCS12_set_mac(store.pointer, word, -1, nil, 0, 1, nil) }

        var keyPointer: OpaquePointer?
        var leafPointer: OpaquePointer?
        var others: OpaquePointer?
        let isParsed = PKCS12_parse(store.pointer, word, &keyPointer, &leafPointer, &others) == 1
        let key = OpenSSLHandle.key(keyPointer)
        let certificates = [X509Certificate(leafPointer)].compactMap(\.self) + takeAll(others)
        guard isParsed else { throw undecodable(isProtected: isProtected, hasLegacy: algorithms.hasLegacy) }
        guard let key else { throw certificates.isEmpty ? empty : noKey }
        return try identity(key.pointer, certificates: certificates)
    }

    private func identity(_ key: OpaquePointer, certificates: [X509Certificate]) throws(Diagnostic)
        -> CertificateIdentity
    {
        guard !certificates.isEmpty else {
            throw Diagnostic("the file holds a key but no certificate", file: file, remedy: exportRemedy)
        }
        guard let leaf = certificates.firstIndex(where: { $0.belongs(to: key) }) else {
            let names = certificates.map(\.commonName).joined(separator: ", ")
            throw Diagnostic(
                "the key in the file does not belong to the certificate (\(names))", file: file,
                remedy: "Export certificate and key together from the keychain where you made the request.")
        }
        var chain = certificates
        chain.remove(at: leaf)
        return CertificateIdentity(leaf: certificates[leaf], chain: chain, key: key)
    }

    private func certificates(inPEM bytes: UnsafeRawBufferPointer) -> [X509Certificate] {
        let source = require(OpenSSLHandle.reader(bytes), "BIO")
        defer { ERR_clear_error() }
        var found: [X509Certificate] = []
        while let certificate = X509Certificate(PEM_read_bio_X509(source.pointer, nil, nil, nil)) {
            found.append(certificate)
        }
        return found
    }

    /// Empties and frees a STACK_OF(X509).
    private func takeAll(_ stack: OpaquePointer?) -> [X509Certificate] {
        guard let stack else { return [] }
        defer { OPENSSL_sk_free(stack) }
        return (0..<OPENSSL_sk_num(stack)).compactMap {
            X509Certificate(OPENSSL_sk_value(stack, $0).map { OpaquePointer($0) })
        }
    }

    /// The passphrase that fits the store's checksum: the given one, or an empty one for a store
    /// that is not really protected. Without a checksum, only decoding can tell.
    private func workingPassphrase(_ store: OpaquePointer) -> String? {
        let wanted = passphrase ?? ""
        guard PKCS12_mac_present(store) == 1 else { return wanted }
        if PKCS12_verify_mac(store, wanted, -1) == 1 { return wanted }
        // There are two ways to write "no passphrase" into the checksum; PKCS12_parse tries both
        // when it gets an empty one.
        return PKCS12_verify_mac(store, "", 0) == 1 || PKCS12_verify_mac(store, nil, 0) == 1 ? "" : nil
    }
}

/// The diagnostics for all failures.
extension CertificateSource {
    /// Another way, where the service takes keys.
    private var keyRemedy: String { words.key.map { ", or name a .p8 under '\($0):'" } ?? "" }

    private var certificateName: String { words.certificate ?? "certificate" }

    private var exportRemedy: String { "Export certificate and key together, as .p12, from Keychain Access." }

    private var passphraseProblem: Diagnostic {
        passphrase == nil
            ? Diagnostic(
                "the file needs a passphrase, but there is none", file: file,
                remedy:
                    "Name the environment variable that holds it as '\(words.passphrase):' under '\(certificateName):', and set it."
            )
            : Diagnostic(
                "the passphrase is wrong\(invisibleEnd)", file: file,
                remedy: "Check the environment variable that '\(words.passphrase):' names.")
    }

    /// What a person does not see of the passphrase: a line end that came along with it, for
    /// example.
    private var invisibleEnd: String {
        let ends = [passphrase?.unicodeScalars.first, passphrase?.unicodeScalars.last].compactMap(\.self)
        return ends.first(where: Blank.isInvisible).map {
            ", and it begins or ends with an invisible character (\(TextFormat.codePoint($0)))"
        } ?? ""
    }

    private var noKey: Diagnostic {
        Diagnostic("the file holds a certificate but no key", file: file, remedy: exportRemedy)
    }

    private var empty: Diagnostic {
        Diagnostic("the file holds neither a certificate nor a key", file: file, remedy: exportRemedy)
    }

    private var damaged: Diagnostic {
        Diagnostic(
            "the file is damaged: it starts like a certificate with a key, but cannot be decoded", file: file,
            remedy: exportRemedy)
    }

    /// Binary, but not PKCS #12.
    private func notAStore(_ bytes: UnsafeRawBufferPointer) -> Diagnostic {
        var start = bytes.bindMemory(to: UInt8.self).baseAddress
        if X509Certificate(d2i_X509(nil, &start, bytes.count)) != nil {
            return Diagnostic("this is a certificate without its key (a .cer file)", file: file, remedy: exportRemedy)
        }
        return Diagnostic("this is neither a .p12 nor a PEM with certificate and key", file: file, remedy: exportRemedy)
    }

    private func undecodable(isProtected: Bool, hasLegacy: Bool) -> Diagnostic {
        var reasons: [String] = []
        while case let code = ERR_get_error(), code != 0 {
            reasons.append(ERR_reason_error_string(code).map { String(cString: $0) } ?? "")
        }
        if reasons.contains(where: { $0.contains("unsupported") || $0.contains("unknown") }) {
            let name = shellQuoted(file)
            let command = "openssl pkcs12 -legacy -in \(name) -nodes -out push.pem && chmod 600 push.pem"
            return Diagnostic(
                hasLegacy
                    ? "the file is encrypted with an algorithm that this machine's OpenSSL does not know"
                    : "the file is encrypted with an outdated algorithm (RC2 or RC4) that this machine's OpenSSL lacks",
                file: file,
                remedy:
                    "On a machine whose OpenSSL has it, run: \(command); then name push.pem under '\(certificateName):'."
            )
        }
        return isProtected ? damaged : passphraseProblem
    }
}

/// A separate library context with OpenSSL's default and legacy algorithms. Files from Keychain
/// Access and old tools are encrypted with RC2 or RC4; if these were loaded for the whole process,
/// they would be available to TLS, too. Keys that were read in this context must not outlive it.
struct AlgorithmLibrary: ~Copyable {
    let context: OpaquePointer
    private let standard: OpaquePointer?
    private let legacy: OpaquePointer?

    /// Whether the old algorithms could be loaded.
    var hasLegacy: Bool { legacy != nil }

    /// - Throws: a `Diagnostic` if there is not enough memory.
    init(allowsLegacy: Bool) throws(Diagnostic) {
        guard let context = OSSL_LIB_CTX_new() else { throw .openSSLCannotMake("the library that reads certificates") }
        self.context = context
        standard = OSSL_PROVIDER_load(context, "default")
        legacy = allowsLegacy ? OSSL_PROVIDER_load(context, "legacy") : nil
        ERR_clear_error()
    }

    deinit {
        if let legacy { OSSL_PROVIDER_unload(legacy) }
        if let standard { OSSL_PROVIDER_unload(standard) }
        OSSL_LIB_CTX_free(context)
    }
}

/// A certificate, its chain and its key, in the form that TLS takes.
struct CertificateIdentity {
    let pem: [UInt8]
    /// Where the key begins in `pem`, after the certificates.
    let keyStart: Int
    let commonName: String
    let userID: String
    let notBefore: Timestamp
    let notAfter: Timestamp

    /// - Parameter chain: further certificates, in the order in which they are sent.
    init(leaf: X509Certificate, chain: [X509Certificate], key: OpaquePointer) {
        let output = require(OpenSSLHandle.writer(), "BIO")
        var done = true
        for certificate in [leaf] + chain {
            done = done && PEM_write_bio_X509(output.pointer, certificate.pointer) == 1
        }
        keyStart = BIO_ctrl_pending(output.pointer)
        done = done && PEM_write_bio_PKCS8PrivateKey(output.pointer, key, nil, nil, 0, nil, nil) == 1
        guard done else { fatalError("OpenSSL failed: writing a certificate") }
        pem = output.collectedBytes()
        commonName = leaf.commonName
        userID = leaf.userID
        notBefore = leaf.notBefore
        notAfter = leaf.notAfter
    }
}

/// An X.509 certificate.
final class X509Certificate {
    private let handle: OpenSSLHandle
    var pointer: OpaquePointer { handle.pointer }

    /// Takes ownership of what a C call returned; nil stays nil.
    init?(_ pointer: OpaquePointer?) {
        guard let handle = OpenSSLHandle.certificate(pointer) else { return nil }
        self.handle = handle
    }

    /// The subject's common name; empty if it has none.
    var commonName: String { subjectEntry(NID_commonName) }

    /// The subject's user id (RFC 4519 section 2.39); empty if it has none.
    var userID: String { subjectEntry(NID_userId) }

    private func subjectEntry(_ kind: Int32) -> String {
        let subject = X509_get_subject_name(pointer)
        let index = X509_NAME_get_index_by_NID(subject, kind, -1)
        guard index >= 0, let text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)) else { return "" }
        var start: UnsafeMutablePointer<UInt8>?
        let length = ASN1_STRING_to_UTF8(&start, text)
        guard length >= 0, let start else { return "" }
        defer { CRYPTO_free(start, #file, #line) }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }

    var notBefore: Timestamp { Self.moment(X509_get0_notBefore(pointer)) }
    var notAfter: Timestamp { Self.moment(X509_get0_notAfter(pointer)) }

    /// Whether `key` belongs to this certificate.
    func belongs(to key: OpaquePointer) -> Bool {
        defer { ERR_clear_error() }
        return X509_check_private_key(pointer, key) == 1
    }

    /// A time that cannot be read counts as 1970: such a certificate is refused as expired.
    private static func moment(_ time: UnsafePointer<ASN1_TIME>?) -> Timestamp {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return Timestamp(epochMilliseconds: 0) }
        let days = daysFromCivil(year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday))
        return Timestamp(
            epochSeconds: Int64(days * 86400) + Int64(parts.tm_hour * 3600 + parts.tm_min * 60 + parts.tm_sec))
    }
}

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
