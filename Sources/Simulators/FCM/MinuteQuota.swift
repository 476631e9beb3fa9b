import Base

/// How many messages a project may send in any minute, wherever it begins.
/// Source: firebase.google.com, "Throttling and quotas": answers of 4xx count, those of 429 do not.
struct MinuteQuota {
    private let limit: Int
    /// Messages by the second of the minute, and when that second was.
    private var counts = [Int](repeating: 0, count: 60)
    private var seconds = [Int64](repeating: .min, count: 60)

    /// - Parameter limit: 0 for none.
    init(limit: Int) { self.limit = limit }

    /// Counts a message; false if it is one too many.
    mutating func take(at now: Timestamp) -> Bool {
        guard limit > 0 else { return true }
        let second = now.epochSeconds
        let recent = zip(seconds, counts).reduce(0) { $1.0 > second - 60 ? $0 + $1.1 : $0 }
        guard recent < limit else { return false }
        let place = Int(((second % 60) + 60) % 60)
        if seconds[place] != second { (seconds[place], counts[place]) = (second, 0) }
        counts[place] += 1
        return true
    }
}
