/// Elements in blocks that never move: growing costs a block, not a copy of everything.
struct Blocks<Element: BitwiseCopyable>: ~Copyable {
    private var blocks: [UnsafeMutablePointer<Element>] = []
    private(set) var count = 0

    /// A few megabytes per block; only pages that were written to take memory.
    private static var shift: Int { 18 }

    deinit { for block in blocks { block.deallocate() } }

    @inline(__always) mutating func append(_ element: Element) {
        if count >> Self.shift == blocks.count { addBlock() }
        blocks[count >> Self.shift][count & (1 << Self.shift - 1)] = element
        count += 1
    }

    /// In small pages, which a machine has at hand: getting a large one may take longer than everything that is written
    /// there. Elements are read in order, or rarely.
    @inline(never) private mutating func addBlock() { blocks.append(.allocate(capacity: 1 << Self.shift)) }

    subscript(index: Int) -> Element {
        @inline(__always) get { blocks[index >> Self.shift][index & (1 << Self.shift - 1)] }
        @inline(__always) set { blocks[index >> Self.shift][index & (1 << Self.shift - 1)] = newValue }
    }
}
