/// A request that was named before it left, for a service that recognizes repeats: by a name that
/// the service gave out for the request, or by the generation of its pushes.
public struct NamedCall: Hashable, Sendable {
    /// Its place among the calls of its run, in the order in which they were named; 0 before it is
    /// recorded.
    public var number: Int
    /// The number of the service in the run.
    public var service: Int
    /// The name by which the service recognizes the call; blank for recipients that may have got a
    /// push under an earlier name.
    public var name: String
    /// When it was named.
    public var namedAt: Timestamp
    /// The recipients of its pushes, in their order.
    public var recipients: [Int]

    /// A call.
    public init(number: Int = 0, service: Int = 0, name: String, namedAt: Timestamp, recipients: [Int]) {
        self.number = number
        self.service = service
        self.name = name
        self.namedAt = namedAt
        self.recipients = recipients
    }
}
