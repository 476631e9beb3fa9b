/// What people are told of a file that holds no key of the right kind: the words of whoever gives keys out.
public struct KeyFileWords: Hashable, Sendable {
    /// Who takes signatures.
    public var service: String
    /// "the .p8 file that …"
    public var source: String
    /// What such files are called.
    public var fileName: String

    /// Words of a service.
    public init(service: String, source: String, fileName: String) {
        self.service = service
        self.source = source
        self.fileName = fileName
    }

    /// Where nobody knows who takes the signatures.
    public static let plain = KeyFileWords(service: "Volley", source: "a .p8 file with a key for ES256", fileName: "key.p8")
}
