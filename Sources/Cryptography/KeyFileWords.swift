/// Words for messages about a file that contains no key or certificate of the right kind. They depend on the service that issues the keys.
public struct KeyFileWords: Hashable, Sendable {
    /// The service that accepts the signatures.
    public var service: String
    /// "the .p8 file that …"
    public var source: String
    /// The usual name of such files.
    public var fileName: String
    /// Where volley.yaml names such a file; nil for a service that takes none.
    public var key: String?
    /// Where volley.yaml names a client certificate; nil for a service that takes none.
    public var certificate: String?
    /// Where volley.yaml names the variable that holds a certificate's passphrase.
    public var passphrase: String

    /// The words of a service.
    public init(
        service: String, source: String, fileName: String, key: String? = "key", certificate: String? = "certificate",
        passphrase: String = "passphrase_env"
    ) {
        self.service = service
        self.source = source
        self.fileName = fileName
        self.key = key
        self.certificate = certificate
        self.passphrase = passphrase
    }

    /// For signatures whose recipient is not known.
    public static let plain = KeyFileWords(service: "Volley", source: "a .p8 file with a key for ES256", fileName: "key.p8")

    /// For signatures with RSA whose recipient is not known.
    public static let plainRSA = KeyFileWords(
        service: "Volley", source: "an RSA private key in PEM (PKCS #8) of at least 2048 bits, without a passphrase", fileName: "key.pem")
}
