/// A set of recipient ids, such as claimed ones, as ranges: a run of ten million, claimed in
/// thousands of parts, has a handful. In ascending order, none empty, none adjacent to another.
///
/// ```swift
/// var claimed = ClaimSet([0..<4000])
/// claimed.insert(6000..<8000)
/// let open = claimed.gaps(in: 0..<10_000)  // 4000..<6000 and 8000..<10000
/// ```
public struct ClaimSet: Hashable, Sendable {
    /// The ranges.
    public private(set) var ranges: [Range<Int>]

    /// The empty set.
    public init() { ranges = [] }

    /// - Parameter ranges: in any order; they may overlap, and be empty.
    public init(_ ranges: some Sequence<Range<Int>>) {
        self.init()
        for range in ranges { insert(range) }
    }

    /// Whether it is empty.
    public var isEmpty: Bool { ranges.isEmpty }

    /// How many ids are in it.
    public var count: Int { ranges.reduce(0) { $0 + $1.count } }

    /// Whether an id is in it.
    public func contains(_ id: Int) -> Bool { range(around: id) != nil }

    /// Whether all ids of a range are in it; those of an empty range are.
    public func contains(all ids: Range<Int>) -> Bool {
        guard !ids.isEmpty else { return true }
        return range(around: ids.lowerBound).map { $0.upperBound >= ids.upperBound } ?? false
    }

    /// The range that an id is in; nil when it is in none.
    public func range(around id: Int) -> Range<Int>? {
        let index = firstIndex(endingAfter: id)
        return index < ranges.count && ranges[index].lowerBound <= id ? ranges[index] : nil
    }

    /// Adds all ids of a range; ids already in it stay.
    public mutating func insert(_ ids: Range<Int>) {
        guard !ids.isEmpty else { return }
        // Claims are usually made in order.
        guard let last = ranges.last, last.upperBound >= ids.lowerBound else {
            ranges.append(ids)
            return
        }
        // Adjacent ranges are merged with it.
        let first = firstIndex(endingAfter: ids.lowerBound - 1)
        let end = ranges[first...].firstIndex { $0.lowerBound > ids.upperBound } ?? ranges.count
        guard first < end else {
            ranges.insert(ids, at: first)
            return
        }
        let united = min(ranges[first].lowerBound, ids.lowerBound)..<max(ranges[end - 1].upperBound, ids.upperBound)
        ranges.replaceSubrange(first..<end, with: CollectionOfOne(united))
    }

    /// The ids of a range that are in it, as ascending ranges.
    public func ranges(in ids: Range<Int>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        guard !ids.isEmpty else { return found }
        for range in ranges[firstIndex(endingAfter: ids.lowerBound)...] {
            guard range.lowerBound < ids.upperBound else { break }
            found.append(range.clamped(to: ids))
        }
        return found
    }

    /// The ids that are in both.
    public func intersection(_ other: ClaimSet) -> ClaimSet { ClaimSet(other.ranges.lazy.flatMap { ranges(in: $0) }) }

    /// The ids of a range that are not in it, as ascending ranges: while a run is sent, the ids
    /// that can still be claimed.
    public func gaps(in ids: Range<Int>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var next = ids.lowerBound
        for range in ranges(in: ids) {
            if next < range.lowerBound { found.append(next..<range.lowerBound) }
            next = range.upperBound
        }
        if next < ids.upperBound { found.append(next..<ids.upperBound) }
        return found
    }

    /// The first ids of a range that are not in it, as many in a row as there are, up to the limit;
    /// nil when all are in it.
    public func next(atMost limit: Int, of ids: Range<Int>) -> Range<Int>? {
        var next = ids.lowerBound
        if let claimed = range(around: next) { next = claimed.upperBound }
        guard next < ids.upperBound else { return nil }
        let index = firstIndex(endingAfter: next)
        let end = min(ids.upperBound, index < ranges.count ? ranges[index].lowerBound : ids.upperBound)
        return next..<min(end, next + max(1, limit))
    }

    /// The first range that ends behind an id; the number of ranges when all end before.
    private func firstIndex(endingAfter id: Int) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound > id { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
