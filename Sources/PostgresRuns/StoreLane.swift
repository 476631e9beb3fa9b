import Base
import Glibc
import Postgres
import Synchronization

/// One connection to the store, for one statement or transaction at a time, which is opened again after it broke.
///
/// `@unchecked Sendable`: `connection` is used only while `lock` is held.
final class StoreLane: @unchecked Sendable {
    static let usualAnswerSeconds = 10.0
    /// The pause between two tries to reach the database.
    private static let pauseMilliseconds = 250

    private let address: PostgresAddress
    private let patience: StorePatience
    private let lock = Mutex(())
    private var connection: PostgresConnection?
    /// How long a statement may take.
    let answerSeconds: Double

    init(_ address: PostgresAddress, _ patience: StorePatience, answerSeconds: Double = usualAnswerSeconds) {
        (self.address, self.patience) = (address, patience)
        self.answerSeconds = answerSeconds
    }

    /// Runs something once.
    /// - Throws: `PostgresError`; what `body` throws.
    func once<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value { try locked { try attempt(body) } }

    /// Runs something until the database has answered, however long it is away. `body` must do no harm if it was carried out before without an answer.
    /// - Parameter isOver: whether to try no more.
    /// - Throws: `PostgresError`, for what the database refuses, and when nobody waits any more; what `body` throws.
    func patiently<Value>(until isOver: () -> Bool = { false }, _ body: (PostgresConnection) throws -> Value) throws -> Value {
        try locked {
            while true {
                do { return try attempt(body) } catch let error as PostgresError where error.isPassing {
                    if isOver() || patience.isOver() { throw error }
                    patience.pause(milliseconds: Self.pauseMilliseconds)
                }
            }
        }
    }

    private func locked<Value>(_ body: () throws -> Value) throws -> Value {
        // What a mutex returns must be sendable, which a value of the caller's need not be.
        var value: Value?
        try lock.withLock { _ in value = try body() }
        guard let value else { preconditionFailure("nothing was returned") }
        return value
    }

    private func attempt<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        let connection = try self.connection ?? open()
        do {
            let value = try body(connection)
            self.connection = connection
            patience.answered()
            return value
        } catch {
            // A transaction that was left open ends with its connection.
            self.connection = error is PostgresError || error is CancellationError ? nil : connection
            throw error
        }
    }

    private func open() throws -> PostgresConnection {
        let connection = try PostgresConnection.open(address, patience.none)
        // What was answered must be on the disk, whatever the database is set to. A member that stands still in the middle of a transaction would hold its
        // row against those who declare it dead. Warnings tell of commits that no standby confirmed.
        try connection.execute(
            """
            SET idle_in_transaction_session_timeout = '5s'; SET default_transaction_isolation = 'read committed'; SET lock_timeout = '10s';
            SET client_min_messages = 'warning';
            SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')
            """, within: answerSeconds)
        return connection
    }
}

extension PostgresConnection {
    /// Runs something as one transaction. Its statements see what was committed before each of them (READ COMMITTED).
    func transaction<Value>(within seconds: Double, _ body: () throws -> Value) throws -> Value {
        try execute("BEGIN ISOLATION LEVEL READ COMMITTED", within: seconds)
        do {
            let value = try body()
            try execute("COMMIT", within: seconds)
            return value
        } catch {
            _ = try? execute("ROLLBACK", within: seconds)
            throw error
        }
    }
}

extension PostgresError {
    /// Whether the same statement may succeed later: the database is away, restarts, is a standby as yet, or two transactions got in one another's way.
    var isPassing: Bool {
        switch cause {
        case .address: false
        case .unreachable, .lost, .late: true
        case .refused(let state):
            isConnectionLost || ["40001", "40P01", "55P03", "25006", "53300", "25P03", "57014"].contains(state)
        }
    }
}
