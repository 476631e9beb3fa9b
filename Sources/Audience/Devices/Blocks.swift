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
