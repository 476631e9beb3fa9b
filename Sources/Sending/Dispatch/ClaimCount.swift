import Synchronization

/// How many claims of a run were made, counted by all threads that claim.
final class ClaimCount: Sendable {
    private let count = Mutex(0)

    /// Counts on from the claims of earlier epochs and rounds.
    func start(at claims: Int) { count.withLock { $0 = claims } }

    /// The claims so far.
    var value: Int { count.withLock { $0 } }

    /// Counts claims, and notes their new number.
    /// - Parameter note: called with the number of claims so far, one call after the other; returns
    ///   false if it could not be noted.
    func add(_ claims: Int, noting note: (Int) -> Bool) -> Bool {
        count.withLock { count in
            count += claims
            return note(count)
        }
    }
}
