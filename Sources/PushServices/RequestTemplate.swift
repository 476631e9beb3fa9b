public import Base

/// What an app and a campaign say about all pushes of a run, as far as requests carry it.
public struct PushOptions: Hashable, Sendable {
    /// The app as the service calls it, with whatever the push type adds to it.
    public var topic: String
    /// What kind of push it is.
    public var pushType: PushType
    /// How urgent it is.
    public var priority: PushPriority
    /// When it is no longer worth delivering: epoch seconds, 0 = try once; nil leaves it to the service.
    public var expiration: Int64?
    /// A push replaces one with the same on a device: at most 64 bytes; nil for none.
    public var collapseID: String?

    /// Options of a run.
    public init(topic: String, pushType: PushType, priority: PushPriority, expiration: Int64? = nil, collapseID: String? = nil) {
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
    }
}

/// What all requests of a run have in common: POST over HTTPS, the payload as the body.
public struct RequestTemplate: Hashable, Sendable {
    /// A header field.
    public struct Header: Hashable, Sendable {
        /// In lower-case letters, as HTTP/2 wants it.
        public var name: String
        /// Without a secret: who asks is said by the credential.
        public var value: String

        /// A header field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The path up to the target, which is its last component.
    public var pathPrefix: String
    /// Fields in the order in which they are sent.
    public var headers: [Header]
    /// The field that carries each push's own id, and in which answers give it back.
    public var idHeader: String

    /// Requests of a run.
    public init(pathPrefix: String, headers: [Header], idHeader: String) {
        self.pathPrefix = pathPrefix
        self.headers = headers
        self.idHeader = idHeader
    }
}

/// A push that reaches nobody, by which a way and credentials are tried.
public struct ProbePush: Hashable, Sendable {
    /// A target that no device has.
    public var target: String
    /// Shows nothing on any device.
    public var payload: String
}

/// What the body of an answer says.
public struct AnswerDetails: Hashable, Sendable {
    /// The reason, as the service wrote it; blank when it gave none.
    public var reason = ""
    /// Since when the target is dead.
    public var invalidSince: Timestamp?

    /// Nothing.
    public init() {}
}
