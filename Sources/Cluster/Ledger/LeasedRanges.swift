import Base
import Runs

/// What a worker has leased and not claimed yet, and which of these recipients get the push again.
/// A value.
struct LeasedRanges {
    /// Recipients in a row that were leased together.
    struct LeasedRange: Hashable {
        var ids: Range<Int>
        /// The recipients that get the push again; nil where no recipient was claimed before.
        var again: [RepeatedRecipient]?
    }

    /// The leases of the database by their first ids: what is left of each.
    private(set) var leases: [Int: (ids: Range<Int>, left: ClaimSet)] = [:]
    /// Recipients that get the push again, by their ids, until they are reopened.
    private(set) var again: [Int: RepeatedRecipient] = [:]

    /// Takes a lease.
    /// - Parameter claimed: the recipients that are claimed already.
    mutating func take(_ leasedRange: LeasedRange, besides claimed: ClaimSet = ClaimSet()) {
        if let again = leasedRange.again {
            for push in again { self.again[push.id] = push }
            leases[leasedRange.ids.lowerBound] = (leasedRange.ids, ClaimSet())
        } else {
            leases[leasedRange.ids.lowerBound] = (leasedRange.ids, ClaimSet(claimed.gaps(in: leasedRange.ids)))
        }
    }

    /// The next recipients of a segment that may be claimed.
    func next(atMost limit: Int, of segment: Range<Int>) -> Range<Int>? {
        let ranges = leases.values.lazy.flatMap { $0.left.ranges(in: segment) }
        return ranges.min { $0.lowerBound < $1.lowerBound }.map {
            $0.lowerBound..<min($0.upperBound, $0.lowerBound + max(1, limit))
        }
    }

    /// Whether all of a range may be claimed.
    func contain(_ ids: Range<Int>) -> Bool { leases.values.contains { $0.left.contains(all: ids) } }

    /// Notes that a range was claimed.
    mutating func remove(_ ids: Range<Int>) {
        for (first, lease) in leases where lease.ids.overlaps(ids) {
            leases[first]?.left = ClaimSet(lease.left.ranges.flatMap { ClaimSet([ids]).gaps(in: $0) })
        }
    }

    /// Notes that recipients were reopened.
    mutating func removeAgain(_ ids: [Int]) { for id in ids { again[id] = nil } }

    /// The first ids of leases of which nothing is left.
    var exhausted: [Int] {
        leases.filter { first, lease in
            lease.left.isEmpty && !lease.ids.contains { again[$0] != nil }
        }.map(\.key).sorted()
    }

    mutating func forget(_ firsts: [Int]) { for first in firsts { leases[first] = nil } }
}

/// A recipient that gets the push again.
struct RepeatedRecipient: Hashable {
    var id: Int
    /// What is recorded of it.
    var attempts: Int
    /// Whether the push may have arrived.
    var mayHaveArrived: Bool
}

extension RepeatedRecipient {
    static func bytes(of pushes: [RepeatedRecipient]) -> [UInt8] {
        var writer = ByteWriter()
        writer.put(pushes.count)
        var before = 0
        for push in pushes {
            writer.put(push.id - before)
            before = push.id
            writer.put(push.attempts << 1 | (push.mayHaveArrived ? 1 : 0))
        }
        return writer.bytes
    }

    /// nil if it is not what `bytes` makes.
    static func read(_ bytes: UnsafeRawBufferPointer) -> [RepeatedRecipient]? {
        var reader = ByteReader(bytes)
        var id = 0
        let count = reader.number()
        guard count >= 0, count <= bytes.count else { return nil }
        let pushes = (0..<count).map { _ in
            id += reader.number()
            let rest = reader.number()
            return RepeatedRecipient(id: id, attempts: rest >> 1, mayHaveArrived: rest & 1 == 1)
        }
        return reader.isIntact ? pushes : nil
    }
}

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
