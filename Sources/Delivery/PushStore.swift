public import Base

/// The bytes of the pushes that the machine holds, by slot. Fresh batches are kept whole. A push
/// that must wait for a retry gets a copy of its few bytes, so that a single straggler does not
/// keep a whole batch in memory.
struct PushStore {
    private struct StoredBatch {
        var batch: PushBatch
        var live: Int
    }

    private struct Place {
        /// -1 for a push in `held`.
        var batch: Int32 = -1
        var index: Int32 = 0
    }

    private struct HeldPush {
        var bytes: [UInt8] = []
        var tokenCount = 0
    }

    private var batches: [StoredBatch] = []
    private var freeBatches = IndexQueue()
    private var places: [Place] = []
    private var held: [HeldPush] = []

    /// Stores a batch. Each of its pushes must then get a slot with `assign`.
    mutating func insert(_ batch: PushBatch) -> Int {
        let stored = StoredBatch(batch: batch, live: batch.pushes.count)
        guard !batch.pushes.isEmpty, let free = freeBatches.removeFirst() else {
            batches.append(stored)
            return batches.count - 1
        }
        batches[free] = stored
        return free
    }

    /// Assigns a batch's push to a slot.
    mutating func assign(_ slot: Int, batch: Int, index: Int) {
        while places.count <= slot {
            places.append(Place())
            held.append(HeldPush())
        }
        places[slot] = Place(batch: Int32(batch), index: Int32(index))
    }

    /// Copies a push's bytes out of its batch.
    mutating func hold(_ slot: Int) {
        guard places[slot].batch >= 0 else { return }
        let batch = Int(places[slot].batch)
        let push = batches[batch].batch.pushes[Int(places[slot].index)]
        held[slot] = HeldPush(
            bytes: Array(batches[batch].batch.bytes[push.start..<push.end]), tokenCount: push.payloadStart - push.start)
        release(slot)
    }

    /// Frees the bytes of a settled push.
    mutating func free(_ slot: Int) {
        if places[slot].batch >= 0 { release(slot) } else { held[slot] = HeldPush() }
    }

    /// Passes the token's hex digits and the payload to `body`, which must not keep them.
    func withBytes(
        of slot: Int, _ body: (_ token: UnsafeBufferPointer<UInt8>, _ payload: UnsafeBufferPointer<UInt8>) -> Void
    ) {
        let place = places[slot]
        guard place.batch >= 0 else {
            return held[slot].bytes.withUnsafeBufferPointer { bytes in
                body(.init(rebasing: bytes[..<held[slot].tokenCount]), .init(rebasing: bytes[held[slot].tokenCount...]))
            }
        }
        let push = batches[Int(place.batch)].batch.pushes[Int(place.index)]
        batches[Int(place.batch)].batch.bytes.withUnsafeBufferPointer { bytes in
            body(
                .init(rebasing: bytes[push.start..<push.payloadStart]),
                .init(rebasing: bytes[push.payloadStart..<push.end]))
        }
    }

    /// Returns the payload of a batch's push.
    func payload(batch: Int, index: Int) -> ArraySlice<UInt8> {
        let push = batches[batch].batch.pushes[index]
        return batches[batch].batch.bytes[push.payloadStart..<push.end]
    }

    /// Returns the target and the payload as slices of the stored bytes.
    func bytes(of slot: Int) -> (target: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) {
        let place = places[slot]
        guard place.batch >= 0 else {
            let push = held[slot]
            return (push.bytes[..<push.tokenCount], push.bytes[push.tokenCount...])
        }
        let batch = batches[Int(place.batch)].batch
        let push = batch.pushes[Int(place.index)]
        return (batch.bytes[push.start..<push.payloadStart], batch.bytes[push.payloadStart..<push.end])
    }

    private mutating func release(_ slot: Int) {
        let batch = Int(places[slot].batch)
        places[slot] = Place()
        batches[batch].live -= 1
        guard batches[batch].live == 0 else { return }
        batches[batch].batch = PushBatch()
        freeBatches.append(batch)
    }
}

/// A batch of pushes on its way to the sender. All bytes are in one arena, without an allocation
/// per push.
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

    /// The call that its pushes are, all of them and in this order, if an earlier process named it
    /// and perhaps sent it.
    public var call: EarlierCall?
    /// What an earlier process did with pushes, by recipient, for services that recognize a push by
    /// its generation; those that are missing have no past.
    public var pasts: [Int: PushHistory] = [:]

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
    ///   - appendPayload: appends the payload to the bytes of the batch, and does nothing else with
    ///     them. When it throws, nothing is added.
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
public struct PushHistory: Hashable, Sendable {
    /// The generation under which it goes now; on record, unless it is the first.
    public var generation: UInt16
    /// Whether it may have arrived under this generation.
    public var isInDoubt: Bool

    /// A push's past; without arguments, none.
    public init(generation: UInt16 = 0, isInDoubt: Bool = false) {
        (self.generation, self.isInDoubt) = (generation, isInDoubt)
    }
}
