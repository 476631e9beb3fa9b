public import Base
public import Postgres

/// The database through which several machines send runs. Any thread may use it; each purpose has a connection of its own (`StoreLane`).
public final class Store: Sendable {
    let address: PostgresAddress
    let patience: StorePatience
    /// For looks at what is in it.
    let looking: StoreLane

    /// The store at an address, whose tables are there.
    /// - Parameters:
    ///   - asked: a person's request to end, after which the database is waited for some seconds more; nil if no person can ask.
    ///   - isPatient: whether it is waited for already if it is away now.
    ///   - tell: told why the store does not answer, now and then, and nil once it does. Without it that is not shown, and the store is waited for
    ///     ten seconds only.
    /// - Throws: a `Diagnostic`: it cannot be reached, or its tables are missing or of another version.
    public static func open(
        _ address: PostgresAddress, asked: Cancellation?, isPatient: Bool = false, tell: (@Sendable (Diagnostic?) -> Void)? = nil
    ) throws -> Store {
        let store = try Store(address, StorePatience(asked, tell: tell))
        let lane = store.lane()
        try StoreError.explaining {
            if isPatient { try lane.patiently { try StoreSchema.check($0) } } else { try lane.once { try StoreSchema.check($0) } }
        }
        return store
    }

    init(_ address: PostgresAddress, _ patience: StorePatience) {
        (self.address, self.patience) = (address, patience)
        looking = StoreLane(address, patience)
    }

    /// Whether the store was away for so long, after a person had asked for the end, that it was waited for no longer: what it does not know then is not known
    /// there.
    package var isGivenUp: Bool { patience.isOver() }

    /// A connection that is opened when it is first needed.
    func lane(answerSeconds: Double = StoreLane.usualAnswerSeconds) -> StoreLane {
        StoreLane(address, patience, answerSeconds: answerSeconds)
    }
}
