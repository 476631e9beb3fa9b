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
