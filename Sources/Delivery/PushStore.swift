/// The bytes of the pushes that the machine holds, by slot. Fresh batches are kept whole. A push that must wait for a retry gets a copy of
/// its few bytes, so that a single straggler does not keep a whole batch in memory.
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
        held[slot] = HeldPush(bytes: Array(batches[batch].batch.bytes[push.start..<push.end]), tokenCount: push.payloadStart - push.start)
        release(slot)
    }

    /// Frees the bytes of a settled push.
    mutating func free(_ slot: Int) {
        if places[slot].batch >= 0 { release(slot) } else { held[slot] = HeldPush() }
    }

    /// Passes the token's hex digits and the payload to `body`, which must not keep them.
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
