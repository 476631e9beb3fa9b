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
    ///   - asked: a person's request to end, after which the database is waited for some seconds more.
    ///   - isPatient: whether it is waited for already if it is away now.
    /// - Throws: a `Diagnostic`: it cannot be reached, or its tables are missing or of another version.
    public static func open(_ address: PostgresAddress, asked: Cancellation, isPatient: Bool = false) throws -> Store {
        let store = try Store(address, asked: asked)
        let lane = store.lane()
        try StoreError.explaining {
            if isPatient { try lane.patiently { try StoreSchema.check($0) } } else { try lane.once { try StoreSchema.check($0) } }
        }
        return store
    }

    init(_ address: PostgresAddress, asked: Cancellation) throws(Diagnostic) {
        (self.address, patience) = (address, try StorePatience(asked))
        looking = StoreLane(address, patience)
    }

    /// A connection that is opened when it is first needed.
    func lane(answerSeconds: Double = StoreLane.usualAnswerSeconds) -> StoreLane {
        StoreLane(address, patience, answerSeconds: answerSeconds)
    }
}
