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

/// Distinct hashes, numbered 0…n-1 in the order of their first appearance: 16 bytes each, and 6 to 11 for the open-addressing
/// table that finds them.
struct HashIndex: ~Copyable {
    private var hashes = Blocks<Hash128>()
    /// Number + 1; 0 is free.
    private var table: UnsafeMutablePointer<UInt32>
    private var mask: Int

    init(minimumCapacity: Int = 16) {
        var capacity = 32
        while capacity * 3 < minimumCapacity * 4 { capacity *= 2 }
        table = .allocate(capacity: capacity)
        table.initialize(repeating: 0, count: capacity)
        mask = capacity - 1
    }

    deinit { table.deallocate() }

    var count: Int { hashes.count }

    /// The number of a hash that is there.
    @inline(__always) func find(_ hash: Hash128) -> Int? {
        var place = Int(truncatingIfNeeded: hash.low) & mask
        while table[place] != 0 {
            let number = Int(table[place]) - 1
            if hashes[number] == hash { return number }
            place = (place + 1) & mask
        }
        return nil
    }

    /// The number of a hash, which is the next one if it is new.
    @inline(__always) mutating func insert(_ hash: Hash128) -> (number: Int, isNew: Bool) {
        if let number = find(hash) { return (number, false) }
        precondition(hashes.count < Int(UInt32.max) - 1, "more than four billion devices")
        if (hashes.count + 1) * 4 > (mask + 1) * 3 { grow() }
        hashes.append(hash)
        place(hash, hashes.count)
        return (hashes.count - 1, true)
    }

    private mutating func place(_ hash: Hash128, _ entry: Int) {
        var place = Int(truncatingIfNeeded: hash.low) & mask
        while table[place] != 0 { place = (place + 1) & mask }
        table[place] = UInt32(entry)
    }

    private mutating func grow() {
        table.deallocate()
        let capacity = (mask + 1) * 2
        table = .allocate(capacity: capacity)
        table.initialize(repeating: 0, count: capacity)
        mask = capacity - 1
        for number in 0..<hashes.count { place(hashes[number], number + 1) }
    }
}
