/// Counts what has left in the last while, so that it never becomes more than a limit. Memory does not grow with the limit: what leaves
/// within a two-hundredth of the while is one entry, which counts until the last of it is old enough.
struct PaceWindow {
    private struct Entry {
        var first: Int64
        var last: Int64
        var count: Int
    }

    private static let parts: Int64 = 200

    /// The most that may leave within the while, at least 1.
    var limit: Int
    private let nanoseconds: Int64
    /// Ascending; those before `start` have been forgotten.
    private var entries: [Entry] = []
    private var start = 0
    private var total = 0

    /// - Parameters:
    ///   - limit: the most that may leave within the while, at least 1.
    ///   - nanoseconds: how long the while is.
    init(limit: Int, nanoseconds: Int64) {
        self.limit = max(1, limit)
        self.nanoseconds = nanoseconds
    }

    /// How many have left within the while before a moment.
    func total(at now: Int64) -> Int { entries[start...].reduce(0) { $1.last > now - nanoseconds ? $0 + $1.count : $0 } }

    /// When this many may leave at once, in monotonic nanoseconds. More than the limit may leave when nothing else has.
    func nextTime(for count: Int) -> Int64 {
        var excess = total + min(count, limit) - limit
        var time = Int64.min
        for entry in entries[start...] {
            if excess <= 0 { break }
            excess -= entry.count
            time = entry.last + nanoseconds
        }
        return time
    }

    /// Counts what leaves now.
    mutating func add(_ count: Int, at now: Int64) {
        forget(before: now - nanoseconds)
        total += count
        guard let last = entries.indices.last, last >= start, now - entries[last].first < nanoseconds / Self.parts else {
            return entries.append(Entry(first: now, last: now, count: count))
        }
        entries[last].last = now
        entries[last].count += count
    }

    private mutating func forget(before end: Int64) {
        while start < entries.count, entries[start].last <= end {
            total -= entries[start].count
            start += 1
        }
        guard start > 2 * Self.parts else { return }
        entries.removeFirst(start)
        start = 0
    }
}
