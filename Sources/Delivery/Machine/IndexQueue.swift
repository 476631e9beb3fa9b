/// A first-in, first-out ring of indices that also accepts indices at its front. It allocates only
/// when it grows, by doubling.
struct IndexQueue {
    private var ring: [Int32]
    private var head = 0
    private(set) var count = 0

    init(minimumCapacity: Int = 64) {
        var capacity = 64
        while capacity < minimumCapacity { capacity *= 2 }
        ring = Array(repeating: 0, count: capacity)
    }

    var isEmpty: Bool { count == 0 }

    /// The next index, which stays in the queue.
    var first: Int? { count == 0 ? nil : Int(ring[head]) }

    mutating func append(_ index: Int) {
        if count == ring.count { grow() }
        ring[(head + count) & (ring.count - 1)] = Int32(index)
        count += 1
    }

    /// Puts an index before all others.
    mutating func prepend(_ index: Int) {
        if count == ring.count { grow() }
        head = (head - 1) & (ring.count - 1)
        ring[head] = Int32(index)
        count += 1
    }

    mutating func removeFirst() -> Int? {
        guard count > 0 else { return nil }
        let index = Int(ring[head])
        head = (head + 1) & (ring.count - 1)
        count -= 1
        return index
    }

    private mutating func grow() {
        var larger = [Int32](repeating: 0, count: ring.count * 2)
        for offset in 0..<count { larger[offset] = ring[(head + offset) & (ring.count - 1)] }
        ring = larger
        head = 0
    }
}
