/// Words for messages about a file that contains no key of the right kind. They depend on the service that issues the keys.
public struct KeyFileWords: Hashable, Sendable {
    /// The service that accepts the signatures.
    public var service: String
    /// "the .p8 file that …"
    public var source: String
    /// The usual name of such files.
    public var fileName: String

    /// The words of a service.
    public init(service: String, source: String, fileName: String) {
        self.service = service
        self.source = source
        self.fileName = fileName
    }

    /// For signatures whose recipient is not known.
    public static let plain = KeyFileWords(service: "Volley", source: "a .p8 file with a key for ES256", fileName: "key.p8")
}
