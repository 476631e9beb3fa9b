import Base
import Postgres
import Synchronization

/// A connection with numbers of its own for what one member writes through it.
final class JournalLane: Sendable {
    /// Its place among the lanes of a member.
    let place: Int
    let lane: StoreLane
    private let numbers = Mutex(JournalNumbers())

    /// Lanes of a member: one claims, the other records.
    static let count = 2

    init(_ store: Store, place: Int) {
        self.place = place
        lane = store.lane()
    }

    /// Begins to count anew, for another member.
    func restart() { numbers.withLock { $0 = JournalNumbers() } }

    /// Entries that the database has confirmed.
    var confirmed: Int { numbers.withLock { Int($0.confirmed) } }

    /// Appends an entry, however often it takes.
    /// - Parameters:
    ///   - isOver: whether to try no more when the database is away.
    ///   - write: writes it under a number, and returns whether it is there; it may be there already.
    /// - Returns: what `write` returned: false if the member may not write it. Its number is used again then.
    func append(until isOver: () -> Bool, _ write: (PostgresConnection, _ number: Int) throws -> Bool) throws -> Bool {
        try numbers.withLock { numbers in
            var number = Int(numbers.take()) * Self.count + place
            do {
                let isThere = try lane.patiently(until: isOver) { connection in
                    do { return try write(connection, number) } catch {
                        numbers.lost()
                        number = Int(numbers.take()) * Self.count + place
                        throw error
                    }
                }
                if isThere { numbers.acknowledged() } else { numbers.refused() }
                return isThere
            } catch {
                numbers.lost()
                throw error
            }
        }
    }
}
