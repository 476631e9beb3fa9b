package import Base
import Runs

extension SharedLedger {
    /// How often, and how many times, it is looked whether members are still there.
    private static let lookMilliseconds = 250, mostLooks = 80

    /// Takes over into the run's own file what members have recorded.
    package func fetch() throws { try refresh() }

    /// Cancels the run for all, if it goes on, and fetches: for a process that takes no part in it. Members that are there get twenty seconds to record the last
    /// answers. Nothing is claimed after this.
    /// - Parameter waiting: ends the wait.
    package func cancelAndFetch(_ waiting: Cancellation) throws {
        if [.running, .paused].contains(try ask({ try row($0) }).state) {
            try change(to: .cancelled, cause: .cancelled, at: .now(), from: [.running, .paused])
        }
        var looks = 0
        while try ask({ try row($0) }).members > 0, looks < Self.mostLooks, !waiting.isRequested {
            _ = waiting.wait(milliseconds: Self.lookMilliseconds)
            looks += 1
        }
        try refresh()
    }
}
