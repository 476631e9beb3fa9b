import Base

/// The pushes that a worker has claimed or reopened and that have no final outcome yet: it may
/// settle these and no others. Memory depends on how many are open. A value.
struct UnsettledPushes {
    private static let size = 1024
    private static let words = size / 64

    private struct Block {
        /// Claimed or reopened, and nothing else recorded since.
        var open = [UInt64](repeating: 0, count: words)
        /// Recorded as unsent, which may be replaced.
        var unsent = [UInt64](repeating: 0, count: words)

        var isEmpty: Bool { open.allSatisfy { $0 == 0 } && unsent.allSatisfy { $0 == 0 } }
    }

    private var blocks: [Int: Block] = [:]

    /// Notes that recipients were claimed or reopened.
    mutating func open(_ ids: some Sequence<Int>) {
        for id in ids {
            let (block, word, bit) = Self.place(id)
            blocks[block, default: Block()].open[word] |= bit
            blocks[block]?.unsent[word] &= ~bit
        }
    }

    /// Whether all of these may be settled now, and each is named once.
    func contain(_ settlements: some Sequence<Settlement>) -> Bool {
        var seen: Set<Int> = []
        return settlements.allSatisfy { settled in
            let (block, word, bit) = Self.place(settled.recipient)
            guard let known = blocks[block] else { return false }
            return (known.open[word] | known.unsent[word]) & bit != 0 && seen.insert(settled.recipient).inserted
        }
    }

    /// Notes what is about to be recorded, if all of it may be. Otherwise part of it may still be
    /// noted: callers then look at the journal.
    mutating func settleAll(_ settlements: some Sequence<Settlement>) -> Bool {
        // Neighbours mostly are in one block, which is taken out for as long.
        var number = -1, block = Block()
        defer { put(block, number) }
        for settled in settlements {
            let (next, word, bit) = Self.place(settled.recipient)
            if next != number {
                put(block, number)
                guard let known = blocks.removeValue(forKey: next) else {
                    number = -1
                    return false
                }
                (number, block) = (next, known)
            }
            guard (block.open[word] | block.unsent[word]) & bit != 0 else { return false }
            block.open[word] &= ~bit
            if settled.outcome == .unsent { block.unsent[word] |= bit } else { block.unsent[word] &= ~bit }
        }
        return true
    }

    private mutating func put(_ block: Block, _ number: Int) {
        if number >= 0, !block.isEmpty { blocks[number] = block }
    }

    /// Notes what was recorded.
    mutating func settle(_ settlements: some Sequence<Settlement>) {
        var touched: Set<Int> = []
        for settled in settlements {
            let (block, word, bit) = Self.place(settled.recipient)
            guard blocks[block] != nil else { continue }
            touched.insert(block)
            blocks[block]?.open[word] &= ~bit
            if settled.outcome == .unsent {
                blocks[block]?.unsent[word] |= bit
            } else {
                blocks[block]?.unsent[word] &= ~bit
            }
        }
        for block in touched where blocks[block]?.isEmpty ?? false { blocks[block] = nil }
    }

    /// Whether nothing is claimed that has no outcome.
    var isIdle: Bool { blocks.values.allSatisfy { $0.open.allSatisfy { $0 == 0 } } }

    private static func place(_ id: Int) -> (block: Int, word: Int, bit: UInt64) {
        (id / size, id % size / 64, 1 << UInt64(id % 64))
    }
}
