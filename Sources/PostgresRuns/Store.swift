public import Base
public import Postgres

/// The database through which several machines send runs. Any thread may use it; each purpose has a connection of its
/// own (`StoreConnection`).
public final class Store: Sendable {
    let address: PostgresAddress
    let retryDeadline: StoreRetryDeadline
    /// For looks at what is in it.
    let looking: StoreConnection

    /// The store at an address, whose tables are there.
    /// - Parameters:
    ///   - asked: a person's request to end, after which the database is waited for some seconds more; nil if no person
    ///     can ask.
    ///   - isPatient: whether it is waited for already if it is away now.
    ///   - tell: told why the store does not answer, now and then, and nil once it does. Without it that is not shown,
    ///     and the store is waited for ten seconds only.
    /// - Throws: a `Diagnostic`: it cannot be reached, or its tables are missing or of another version.
    public static func open(
        _ address: PostgresAddress, asked: Cancellation?, isPatient: Bool = false, tell: (@Sendable (Diagnostic?) -> Void)? = nil
    ) throws -> Store {
        let store = try Store(address, StoreRetryDeadline(asked, tell: tell))
        let storeConnection = store.storeConnection()
        try StoreError.explaining {
            if isPatient {
                try storeConnection.retrying { try StoreSchema.check($0) }
            } else {
                try storeConnection.once { try StoreSchema.check($0) }
            }
        }
        return store
    }

    init(_ address: PostgresAddress, _ retryDeadline: StoreRetryDeadline) {
        (self.address, self.retryDeadline) = (address, retryDeadline)
        looking = StoreConnection(address, retryDeadline)
    }

    /// Whether the store was away for so long, after a person had requested the end, that it was waited for no longer:
    /// what it does not know then is not known there.
    package var isGivenUp: Bool { retryDeadline.isOver() }

    /// A connection that is opened when it is first needed.
    func storeConnection(answerSeconds: Double = StoreConnection.usualAnswerSeconds) -> StoreConnection {
        StoreConnection(address, retryDeadline, answerSeconds: answerSeconds)
    }
}
