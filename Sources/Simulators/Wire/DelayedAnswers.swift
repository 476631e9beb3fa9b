import Base

/// A queue of answers that are held back. All wait equally long, so the first in is the first out.
struct DelayedAnswers {
    /// A request with an answer that is due at a later time.
    struct Entry {
        let due: Timestamp
        let connection: Connection
        let request: PushRequest
        /// The use of the request object that is meant. If the stream has ended, the object may
        /// serve another request.
        let generation: Int
    }

    private var entries: [Entry] = []
    private var first = 0

    /// When the next answer is due; nil if none waits.
    var nextDue: Timestamp? { first < entries.count ? entries[first].due : nil }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    /// Removes and returns the next answer that is due; nil if no answer is due.
    mutating func takeDue(at now: Timestamp) -> Entry? {
        guard first < entries.count, entries[first].due <= now else { return nil }
        let entry = entries[first]
        first += 1
        // Taken entries are removed when they are more than half, so that each entry is moved once
        // on average.
        if first * 2 > entries.count {
            entries.removeFirst(first)
            first = 0
        }
        return entry
    }

    /// Drops all answers.
    mutating func removeAll() {
        entries = []
        first = 0
    }
}
