import Base
import Glibc
import Postgres
import Synchronization

/// One connection to the store, for one statement or transaction at a time, which is opened again
/// after it broke.
///
/// `@unchecked Sendable`: `connection` is used only while `lock` is held.
final class StoreConnection: @unchecked Sendable {
    static let usualAnswerSeconds = 10.0
    /// The pause between two tries to reach the database.
    private static let pauseMilliseconds = 250

    private let address: PostgresAddress
    private let retryDeadline: StoreRetryDeadline
    private let lock = Mutex(())
    private var connection: PostgresConnection?
    /// How long a statement may take.
    let answerSeconds: Double

    init(_ address: PostgresAddress, _ retryDeadline: StoreRetryDeadline, answerSeconds: Double = usualAnswerSeconds) {
        (self.address, self.retryDeadline) = (address, retryDeadline)
        self.answerSeconds = answerSeconds
    }

    deinit { retryDeadline.answered(ObjectIdentifier(self)) }

    /// Runs something without patience. A database that was restarted has ended the connections
    /// that rested, which shows only with the next statement: then it is run over a new one. So
    /// `body` must do no harm if it was carried out before without an answer.
    /// - Parameter isRepeated: whether the caller tries again what fails: people are told then if
    ///   it does for long, and `body` runs once.
    /// - Throws: `PostgresError`; what `body` throws.
    func once<Value>(isRepeated: Bool = false, _ body: (PostgresConnection) throws -> Value) throws -> Value {
        try locked {
            let hasRested = connection != nil
            do { return try attempt(isRepeated: isRepeated, body) } catch let error as PostgresError
                where hasRested && !isRepeated && error.cause != .late && error.isConnectionLost
            {
                return try attempt(isRepeated: false, body)
            }
        }
    }

    /// Runs something until the database has answered, however long it is away. `body` must do no
    /// harm if it was carried out before without an answer.
    /// - Parameter isOver: whether to try no more.
    /// - Throws: `PostgresError`, for what the database refuses, and when `isOver` ends the wait;
    ///   what `body` throws.
    func retrying<Value>(until isOver: () -> Bool = { false }, _ body: (PostgresConnection) throws -> Value) throws
        -> Value
    {
        try locked {
            defer { if !retryDeadline.isOver() { retryDeadline.answered(ObjectIdentifier(self)) } }
            while true {
                do { return try attempt(isRepeated: true, body) } catch let error as PostgresError where error.isPassing
                {
                    if isOver() || retryDeadline.isOver() { throw error }
                    retryDeadline.pause(milliseconds: Self.pauseMilliseconds)
                }
            }
        }
    }

    /// Closes the connection, which ends a transaction that was left open. The next statement opens
    /// another.
    func close() { lock.withLock { _ in connection = nil } }

    /// The caller of `once` tries no more.
    func rest() { retryDeadline.answered(ObjectIdentifier(self)) }

    private func locked<Value>(_ body: () throws -> Value) throws -> Value {
        // What a mutex returns must be sendable, which a value of the caller's need not be.
        var value: Value?
        try lock.withLock { _ in value = try body() }
        guard let value else { preconditionFailure("nothing was returned") }
        return value
    }

    private func attempt<Value>(isRepeated: Bool, _ body: (PostgresConnection) throws -> Value) throws -> Value {
        try retryDeadline.admit()
        do {
            let connection = try self.connection ?? open()
            self.connection = connection
            let value = try body(connection)
            retryDeadline.answered(ObjectIdentifier(self))
            return value
        } catch {
            // A transaction that was left open ends with its connection.
            if error is PostgresError || error is CancellationError { connection = nil }
            if isRepeated, let error = error as? PostgresError, error.isPassing {
                retryDeadline.failed(ObjectIdentifier(self), error)
            } else if !retryDeadline.isOver() {
                retryDeadline.answered(ObjectIdentifier(self))
            }
            throw error
        }
    }

    private func open() throws -> PostgresConnection {
        let connection = try PostgresConnection.open(address, retryDeadline.none) {
            [retryDeadline, storeConnection = ObjectIdentifier(self)] silentSeconds in
            try retryDeadline.waits(storeConnection, silentSeconds: silentSeconds)
        }
        // What was answered must be on the disk, whatever the database is set to. A worker that
        // stops in the middle of a transaction would hold its row against the workers that declare
        // it dead. Warnings report commits that no standby confirmed.
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
    /// Runs something as one transaction. Its statements see what was committed before each of them
    /// (READ COMMITTED).
    func transaction<Value>(within seconds: Double, _ body: () throws -> Value) throws -> Value {
        try execute("BEGIN ISOLATION LEVEL READ COMMITTED", within: seconds)
        do {
            let value = try body()
            try execute("COMMIT", within: seconds)
            return value
        } catch {
            // A server that gave no answer is not waited for once more: its connection is closed,
            // which also ends the transaction.
            if (error as? PostgresError)?.hasAnswer ?? true { _ = try? execute("ROLLBACK", within: seconds) }
            throw error
        }
    }
}

extension PostgresError {
    /// Whether the same statement may succeed later, once the database is back or an operator has
    /// changed something there: it is away, restarts, has no room or no connection left, takes no
    /// login, has withdrawn rights, is a standby for now, or two transactions got in one another's
    /// way. What is wrong with the statement or with the data itself does not pass. SQLSTATEs and
    /// their classes: appendix A of PostgreSQL's manual.
    var isPassing: Bool {
        switch cause {
        case .address: false
        case .unreachable, .lost, .late: true
        case .refused(let state):
            isConnectionLost || Self.passingClasses.contains(String(state.prefix(2))) || Self.passing.contains(state)
        }
    }

    /// Whether the server said no, and is there to be asked something else.
    fileprivate var hasAnswer: Bool { if case .refused = cause { !isConnectionLost } else { false } }

    /// Connections, logins, transactions that were rolled back, resources, objects in use,
    /// operators, errors of the system.
    private static let passingClasses: Set<String> = ["08", "28", "40", "53", "55", "57", "58"]
    /// Rights, a standby, transactions that were idle, a database or schema that is being restored.
    private static let passing: Set<String> = ["42501", "25006", "25P03", "3D000", "3F000"]
}
