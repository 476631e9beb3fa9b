public import Base

/// How a service is handed a text once, so that requests name it and hold nothing but their targets: POST, with the same credential and the
/// same headers as pushes.
///
/// Such requests are for more targets than fit into one that holds the texts (`Batching.namesText`). The service does not recognize one that
/// comes again, so that a lost answer leaves its pushes in doubt.
public struct KeptTexts: Sendable {
    /// Appends the body with the text of a payload to `bytes`.
    /// - Parameter now: in epoch seconds.
    public typealias Body = @Sendable (_ payload: ArraySlice<UInt8>, _ now: Int64, _ bytes: inout [UInt8]) -> Void

    /// The whole path.
    public let path: String
    /// Makes the body.
    public let body: Body
    /// How long a name is used that the service gave out at a moment, at least a second: less than the service keeps the text.
    /// `now`: in epoch seconds.
    public let usableSeconds: @Sendable (_ now: Int64) -> Double
    /// Reads the text's name from the body of an answer; nil if it holds none.
    public let read: @Sendable (_ body: JSONValue) -> String?

    /// How a service is handed texts.
    public init(
        path: String, body: @escaping Body, usableSeconds: @escaping @Sendable (_ now: Int64) -> Double,
        read: @escaping @Sendable (_ body: JSONValue) -> String?
    ) {
        self.path = path
        self.body = body
        self.usableSeconds = usableSeconds
        self.read = read
    }
}
