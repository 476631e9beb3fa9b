public import Base
public import Postgres

/// The database through which several machines send runs. Any thread may use it; each purpose has a connection of its own (`StoreLane`).
public final class Store: Sendable {
    let address: PostgresAddress
    /// Ends every wait for the database. A person's Ctrl-C does not: what is under way must still be recorded.
    let givingUp: Cancellation
    /// For looks at what is in it.
    let looking: StoreLane

    /// The store at an address, whose tables are there.
    /// - Parameter givingUp: ends every wait for the database.
    /// - Throws: a `Diagnostic`: it cannot be reached, or its tables are missing or of another version.
    public static func open(_ address: PostgresAddress, givingUp: Cancellation) throws -> Store {
        let store = Store(address, givingUp: givingUp)
        let lane = store.lane()
        try StoreError.explaining { try lane.once { try StoreSchema.check($0) } }
        return store
    }

    /// - Parameter givingUp: ends every wait for the database.
    init(_ address: PostgresAddress, givingUp: Cancellation) {
        (self.address, self.givingUp) = (address, givingUp)
        looking = StoreLane(address, givingUp)
    }

    /// A connection that is opened when it is first needed.
    func lane(answerSeconds: Double = StoreLane.usualAnswerSeconds) -> StoreLane {
        StoreLane(address, givingUp, answerSeconds: answerSeconds)
    }
}
