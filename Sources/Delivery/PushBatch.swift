public import Base

/// A batch of pushes on its way to the sender. All bytes are in one arena, without an allocation per push.
public struct PushBatch: Sendable {
    /// One push: the recipient's id, and where its token (hex) and payload are in `bytes`.
    public struct Push: Hashable, Sendable {
        /// The recipient's dense id within the run.
        public var recipient: Int
        /// Token in `bytes[start..<payloadStart]`, payload in `bytes[payloadStart..<end]`.
        public var start: Int, payloadStart: Int, end: Int
    }

    /// In sending order.
    public private(set) var pushes: [Push] = []
    /// Tokens and payloads one after the other.
    public private(set) var bytes: [UInt8] = []

    /// The call that its pushes are, all of them and in this order, if an earlier process named it and perhaps sent it.
    public var call: EarlierCall?
    /// What an earlier process did with pushes, by recipient, for services that recognize a push by its generation; those that are missing
    /// have no past.
    public var pasts: [Int: PushPast] = [:]

    /// An empty batch.
    public init() {}

    /// Reserves capacity, so that a batch of known size is not copied while it grows.
    public mutating func reserve(pushes: Int, bytes: Int) {
        self.pushes.reserveCapacity(pushes)
        self.bytes.reserveCapacity(bytes)
    }

    /// Adds a push.
    public mutating func append(recipient: Int, token: String, payload: [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: token.utf8)
        let payloadStart = bytes.count
        bytes.append(contentsOf: payload)
        pushes.append(Push(recipient: recipient, start: start, payloadStart: payloadStart, end: bytes.count))
    }

    /// Adds a push and writes its payload in place.
    /// - Parameters:
    ///   - token: lower-case hex digits.
    ///   - appendPayload: appends the payload to the bytes of the batch, and does nothing else with them. When it throws, nothing is added.
    public mutating func append(
        recipient: Int, token: UnsafeBufferPointer<UInt8>, appendPayload: (_ bytes: inout [UInt8]) throws -> Void
    ) rethrows {
        let start = bytes.count
        bytes.append(contentsOf: token)
        let payloadStart = bytes.count
        do { try appendPayload(&bytes) } catch {
            bytes.removeSubrange(start...)
            throw error
        }
        pushes.append(Push(recipient: recipient, start: start, payloadStart: payloadStart, end: bytes.count))
    }
}

/// What a service recognizes a call of an earlier process by.
public struct EarlierCall: Hashable, Sendable {
    /// As the service gave it out.
    public var name: String
    /// When it was given out.
    public var namedAt: Timestamp

    /// A call.
    public init(name: String, namedAt: Timestamp) { (self.name, self.namedAt) = (name, namedAt) }
}

/// What an earlier process did with a push.
public struct PushPast: Hashable, Sendable {
    /// The generation under which it goes now; on record, unless it is the first.
    public var generation: UInt16
    /// Whether it may have arrived under this generation.
    public var isInDoubt: Bool

    /// A push's past; without arguments, none.
    public init(generation: UInt16 = 0, isInDoubt: Bool = false) { (self.generation, self.isInDoubt) = (generation, isInDoubt) }
}
