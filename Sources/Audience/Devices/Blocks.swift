/// Elements in blocks that never move: growing costs a block, not a copy of everything.
struct Blocks<Element: BitwiseCopyable>: ~Copyable {
    private var blocks: [UnsafeMutablePointer<Element>] = []
    private(set) var count = 0

    /// Some megabytes a block, of which only those pages take memory that anything was written to.
    private static var shift: Int { 18 }

    deinit { for block in blocks { block.deallocate() } }

    @inline(__always) mutating func append(_ element: Element) {
        if count >> Self.shift == blocks.count { addBlock() }
        blocks[count >> Self.shift][count & (1 << Self.shift - 1)] = element
        count += 1
    }

    /// In small pages, of which a machine has some at hand: it may first have to be given a large one, which took longer than all that is written
    /// there. Elements are read in their order, or hardly ever.
    @inline(never) private mutating func addBlock() { blocks.append(.allocate(capacity: 1 << Self.shift)) }

    subscript(index: Int) -> Element {
        @inline(__always) get { blocks[index >> Self.shift][index & (1 << Self.shift - 1)] }
        @inline(__always) set { blocks[index >> Self.shift][index & (1 << Self.shift - 1)] = newValue }
    }
}
