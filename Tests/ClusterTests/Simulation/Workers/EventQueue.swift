/// What happens next in a simulated world: a heap, in which what comes at the same moment keeps its
/// order.
struct EventQueue<Event> {
    struct Entry {
        var at: Double
        var number: Int
        var event: Event

        func precedes(_ other: Entry) -> Bool { at < other.at || (at == other.at && number < other.number) }
    }

    private var heap: [Entry] = []
    private var number = 0

    mutating func add(_ event: Event, at moment: Double) {
        number += 1
        let entry = Entry(at: moment, number: number, event: event)
        var hole = heap.count
        heap.append(entry)
        while hole > 0, entry.precedes(heap[(hole - 1) / 2]) {
            heap[hole] = heap[(hole - 1) / 2]
            hole = (hole - 1) / 2
        }
        heap[hole] = entry
    }

    mutating func next() -> Entry? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        var hole = 0
        while true {
            var child = 2 * hole + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].precedes(heap[child]) { child += 1 }
            guard heap[child].precedes(last) else { break }
            heap[hole] = heap[child]
            hole = child
        }
        heap[hole] = last
        return first
    }

    /// Takes out what fulfils a condition, in its order.
    mutating func remove(where isWanted: (Event) -> Bool) -> [Event] {
        let taken = heap.filter { isWanted($0.event) }.sorted { $0.precedes($1) }
        guard !taken.isEmpty else { return [] }
        // A sorted array is a heap.
        heap = heap.filter { !isWanted($0.event) }.sorted { $0.precedes($1) }
        return taken.map(\.event)
    }
}
