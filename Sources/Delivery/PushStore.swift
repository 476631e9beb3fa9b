/// The bytes of the pushes that the machine holds, by slot. Batches are kept whole while they are fresh; a push that must wait for a retry takes
/// its own few bytes along, so that a single straggler does not keep a whole batch in memory.
struct PushStore {
    private struct StoredBatch {
        var batch: PushBatch
        var live: Int
    }

    private struct Place {
        /// -1: in `held`.
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

    /// Keeps a batch; its pushes must all be assigned a slot with `assign`.
    mutating func insert(_ batch: PushBatch) -> Int {
        let stored = StoredBatch(batch: batch, live: batch.pushes.count)
        guard !batch.pushes.isEmpty, let free = freeBatches.removeFirst() else {
            batches.append(stored)
            return batches.count - 1
        }
        batches[free] = stored
        return free
    }

    /// The bytes of `slot` are those of a batch's push.
    mutating func assign(_ slot: Int, batch: Int, index: Int) {
        while places.count <= slot {
            places.append(Place())
            held.append(HeldPush())
        }
        places[slot] = Place(batch: Int32(batch), index: Int32(index))
    }

    /// Takes a push's bytes out of its batch.
    mutating func hold(_ slot: Int) {
        guard places[slot].batch >= 0 else { return }
        let batch = Int(places[slot].batch)
        let push = batches[batch].batch.pushes[Int(places[slot].index)]
        held[slot] = HeldPush(bytes: Array(batches[batch].batch.bytes[push.start..<push.end]), tokenCount: push.payloadStart - push.start)
        release(slot)
    }

    /// A push is settled: its bytes are not needed any more.
    mutating func free(_ slot: Int) {
        if places[slot].batch >= 0 { release(slot) } else { held[slot] = HeldPush() }
    }

    /// Lends the token's hex digits and the payload.
    func withBytes(of slot: Int, _ body: (_ token: UnsafeBufferPointer<UInt8>, _ payload: UnsafeBufferPointer<UInt8>) -> Void) {
        let place = places[slot]
        guard place.batch >= 0 else {
            return held[slot].bytes.withUnsafeBufferPointer { bytes in
                body(.init(rebasing: bytes[..<held[slot].tokenCount]), .init(rebasing: bytes[held[slot].tokenCount...]))
            }
        }
        let push = batches[Int(place.batch)].batch.pushes[Int(place.index)]
        batches[Int(place.batch)].batch.bytes.withUnsafeBufferPointer { bytes in
            body(.init(rebasing: bytes[push.start..<push.payloadStart]), .init(rebasing: bytes[push.payloadStart..<push.end]))
        }
    }

    /// The payload of a batch's push.
    func payload(batch: Int, index: Int) -> ArraySlice<UInt8> {
        let push = batches[batch].batch.pushes[index]
        return batches[batch].batch.bytes[push.payloadStart..<push.end]
    }

    /// The target and the payload, as parts of the bytes that are kept.
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
