/// Elements in blocks that never move: growing costs a block, not a copy of everything.
struct Blocks<Element: BitwiseCopyable>: ~Copyable {
    private var blocks: [UnsafeMutablePointer<Element>] = []
    private(set) var count = 0

    private static var shift: Int { 14 }

    deinit { for block in blocks { block.deallocate() } }

    mutating func append(_ element: Element) {
        if count >> Self.shift == blocks.count { blocks.append(.allocate(capacity: 1 << Self.shift)) }
        blocks[count >> Self.shift][count & (1 << Self.shift - 1)] = element
        count += 1
    }

    subscript(index: Int) -> Element {
        @inline(__always) get { blocks[index >> Self.shift][index & (1 << Self.shift - 1)] }
        @inline(__always) set { blocks[index >> Self.shift][index & (1 << Self.shift - 1)] = newValue }
    }
}

/// Distinct hashes, numbered 0…n-1 in the order of their first appearance: 12 bytes each, and 11 to 21 for the open-addressing table
/// that finds them. The table holds a quarter of the hash beside the number, so that a search hardly ever leaves its cache line.
struct HashIndex: ~Copyable {
    /// The three quarters of a hash that the table does not hold.
    private struct Rest: Equatable {
        var a: UInt32, b: UInt32, c: UInt32

        @inline(__always) init(_ hash: Hash128) {
            a = UInt32(truncatingIfNeeded: hash.low)
            b = UInt32(truncatingIfNeeded: hash.low >> 32)
            c = UInt32(truncatingIfNeeded: hash.high)
        }
    }

    private var rests = Blocks<Rest>()
    /// Number + 1, and above it the hash's last quarter; 0 is free.
    private var table: UnsafeMutablePointer<UInt64>
    private var mask: Int

    init(minimumCapacity: Int = 16) {
        var capacity = 32
        while capacity * 3 < minimumCapacity * 4 { capacity *= 2 }
        table = .allocate(capacity: capacity)
        table.initialize(repeating: 0, count: capacity)
        mask = capacity - 1
    }

    deinit { table.deallocate() }

    var count: Int { rests.count }

    /// The number of a hash that is there.
    @inline(__always) func find(_ hash: Hash128) -> Int? {
        var place = Int(truncatingIfNeeded: hash.low) & mask
        let last = UInt32(truncatingIfNeeded: hash.high >> 32)
        while true {
            let entry = table[place]
            if entry == 0 { return nil }
            let number = Int(UInt32(truncatingIfNeeded: entry)) - 1
            if UInt32(truncatingIfNeeded: entry >> 32) == last, rests[number] == Rest(hash) { return number }
            place = (place + 1) & mask
        }
    }

    /// The number of a hash, which is the next one if it is new.
    @inline(__always) mutating func insert(_ hash: Hash128) -> (number: Int, isNew: Bool) {
        if let number = find(hash) { return (number, false) }
        precondition(rests.count < Int(UInt32.max) - 1, "more than four billion devices")
        if (rests.count + 1) * 4 > (mask + 1) * 3 { grow() }
        rests.append(Rest(hash))
        place(entry: UInt64(rests.count) | hash.high & 0xFFFF_FFFF_0000_0000, at: Int(truncatingIfNeeded: hash.low))
        return (rests.count - 1, true)
    }

    private mutating func place(entry: UInt64, at start: Int) {
        var place = start & mask
        while table[place] != 0 { place = (place + 1) & mask }
        table[place] = entry
    }

    private mutating func grow() {
        let (old, oldCapacity) = (table, mask + 1)
        table = .allocate(capacity: oldCapacity * 2)
        table.initialize(repeating: 0, count: oldCapacity * 2)
        mask = oldCapacity * 2 - 1
        for index in 0..<oldCapacity where old[index] != 0 {
            let rest = rests[Int(UInt32(truncatingIfNeeded: old[index])) - 1]
            place(entry: old[index], at: Int(rest.a) | Int(rest.b) << 32)
        }
        old.deallocate()
    }
}
