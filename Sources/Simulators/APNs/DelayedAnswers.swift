import Base

/// Answers that are held back. All wait equally long, so the first in is the first out.
struct DelayedAnswers {
    /// A request whose answer is due at some time.
    struct Entry {
        let due: Timestamp
        let connection: Connection
        let request: PushRequest
        /// Which use of the request object is meant: a stream that ended meanwhile gave it to another.
        let generation: Int
    }

    private var entries: [Entry] = []
    private var first = 0

    /// When the next answer is due; nil when none waits.
    var nextDue: Timestamp? { first < entries.count ? entries[first].due : nil }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    /// The next answer that is due; nil when there is none.
    mutating func takeDue(at now: Timestamp) -> Entry? {
        guard first < entries.count, entries[first].due <= now else { return nil }
        let entry = entries[first]
        first += 1
        // Taken entries are dropped when they are the larger part, so that each is moved once on average.
        if first * 2 > entries.count {
            entries.removeFirst(first)
            first = 0
        }
        return entry
    }

    /// Forgets all of them.
    mutating func removeAll() {
        entries = []
        first = 0
    }
}
