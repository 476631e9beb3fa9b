import Base
import Postgres
import Synchronization

/// A connection with numbers of its own for what one worker writes through it.
final class JournalWriter: Sendable {
    /// Its place among the writers of a worker.
    let place: Int
    let storeConnection: StoreConnection
    private let numbers = Mutex(JournalNumbers())
    /// `JournalNumbers.confirmed`, for callers that must not wait for an entry that is under way.
    private let lastConfirmed = Atomic(0)

    /// Writers of a worker: one claims, the other records.
    static let count = 2

    init(_ store: Store, place: Int) {
        self.place = place
        storeConnection = store.storeConnection()
    }

    /// Begins to count anew, for another worker.
    func restart() {
        numbers.withLock { numbers in
            numbers = JournalNumbers()
            lastConfirmed.store(0, ordering: .releasing)
        }
    }

    /// Entries that the database has confirmed. Waits for none that is under way: beats continue.
    var confirmed: Int { lastConfirmed.load(ordering: .acquiring) }

    /// The result of writing an entry.
    enum WriteResult {
        /// It is in the journal, by this try or an earlier one.
        case isThere
        /// Its number is taken by another entry, which was given up, and arrived all the same.
        case isAnother
        /// It may not be written.
        case isMissing
    }

    /// Appends an entry, however often it takes.
    /// - Parameters:
    ///   - isOver: whether to try no more when the database is away.
    ///   - write: writes it under a number; it may be there already.
    /// - Returns: false if the worker may not write it. Its number is used again then.
    func append(until isOver: () -> Bool, _ write: (PostgresConnection, _ number: Int) throws -> WriteResult) throws -> Bool {
        try numbers.withLock { numbers in
            while true {
                let written = try tried(&numbers, until: isOver, write)
                defer { lastConfirmed.store(Int(numbers.confirmed), ordering: .releasing) }
                switch written {
                case .isThere:
                    numbers.acknowledged()
                    return true
                case .isAnother: numbers.acknowledged()
                case .isMissing:
                    numbers.refused()
                    return false
                }
            }
        }
    }

    private func tried(
        _ numbers: inout JournalNumbers, until isOver: () -> Bool, _ write: (PostgresConnection, _ number: Int) throws -> WriteResult
    ) throws -> WriteResult {
        let number = Int(numbers.take())
        do { return try storeConnection.retrying(until: isOver) { try write($0, number) } } catch {
            numbers.lost()
            throw error
        }
    }
}
