import Glibc

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

    /// In large pages where there are any: a fault for each small one takes longer than what is written there.
    @inline(never) private mutating func addBlock() {
        let bytes = MemoryLayout<Element>.stride << Self.shift
        let largePage = 2 << 20
        let raw = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: bytes >= largePage ? largePage : 16)
        if !blocks.isEmpty, bytes >= largePage { madvise(raw, bytes, MADV_HUGEPAGE) }
        blocks.append(raw.bindMemory(to: Element.self, capacity: 1 << Self.shift))
    }

    subscript(index: Int) -> Element {
        @inline(__always) get { blocks[index >> Self.shift][index & (1 << Self.shift - 1)] }
        @inline(__always) set { blocks[index >> Self.shift][index & (1 << Self.shift - 1)] = newValue }
    }
}
