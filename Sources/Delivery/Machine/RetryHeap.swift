/// A binary heap in one array of the requests that wait for their next attempt, the earliest first.
struct RetryHeap {
    private struct Entry {
        var time: Int64
        var request: Int32
    }

    private var entries: [Entry] = []

    /// All requests, in no particular order.
    var requests: some Sequence<Int> { entries.lazy.map { Int($0.request) } }

    /// When the earliest request is due; nil for none.
    var earliest: Int64? { entries.first?.time }

    mutating func insert(_ request: Int, at time: Int64) {
        var child = entries.count
        entries.append(Entry(time: time, request: Int32(request)))
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].time < entries[parent].time else { break }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the earliest request if it is due by `time`; nil otherwise.
    mutating func removeDue(by time: Int64) -> Int? {
        guard let first = entries.first, first.time <= time else { return nil }
        removeFirst()
        return Int(first.request)
    }

    /// Removes and returns all requests, in no particular order.
    mutating func removeAll() -> [Int] {
        defer { entries.removeAll() }
        return entries.map { Int($0.request) }
    }

    private mutating func removeFirst() {
        let last = entries.removeLast()
        guard !entries.isEmpty else { return }
        entries[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < entries.count else { return }
            if child + 1 < entries.count, entries[child + 1].time < entries[child].time { child += 1 }
            guard entries[child].time < entries[parent].time else { return }
            entries.swapAt(child, parent)
            parent = child
        }
    }
}
