public import Base

/// What differs where a call is a broadcast to the phones that follow a channel, and how channels
/// are managed.
public struct BroadcastRules: Sendable {
    /// The most bytes of a payload.
    let payloadBytes: Int
    /// The longest time for which a channel keeps a broadcast.
    public let longestStorageSeconds: Int
    /// What may happen to the activities of a channel.
    public let events: [ActivityContent.Event]
    /// An id as the service writes it; nil for a text that cannot be one.
    public let id: @Sendable (String) -> String?
    /// The server that manages the channels of an environment, with its port.
    public let manager: @Sendable (ServiceEnvironment) -> (host: String, port: Int)
    /// The request that does something with the channels of an app.
    /// - Parameter topic: the app's name at the service.
    public let request: @Sendable (_ deed: ChannelDeed, _ topic: String) -> ChannelRequest
    /// The ids in an answer to `list`; nil for another answer.
    public let ids: @Sendable (_ answer: JSONValue) -> [String]?
    /// What a channel keeps, in an answer to `read`; nil for another answer.
    public let storage: @Sendable (_ answer: JSONValue) -> ChannelStorage?
}

/// What a channel keeps for phones that are off, for good.
public enum ChannelStorage: String, CaseIterable, Sendable {
    /// Nothing, which allows more broadcasts.
    case nothing
    /// The newest broadcast, until it expires.
    case newest
}

/// What is done with the channels of an app.
public enum ChannelDeed: Hashable, Sendable {
    /// Makes one; a header of the answer names it (`ChannelRequest.idHeader`).
    case create(ChannelStorage)
    /// Lists the ids of all.
    case list
    /// Reads what one keeps.
    case read(String)
    /// Deletes one for good.
    case delete(String)
}

/// A request to the server that manages channels.
public struct ChannelRequest: Hashable, Sendable {
    /// GET, POST or DELETE.
    public let method: String
    /// The whole path.
    public let path: String
    /// Those that requests have in addition to the credential.
    public var headers: [RequestTemplate.Header] = []
    /// Empty for none.
    public var body: [UInt8] = []
    /// The status of the answer if it was done.
    public let goodStatus: Int
    /// The header of an answer that names a channel.
    public let idHeader: String
}
