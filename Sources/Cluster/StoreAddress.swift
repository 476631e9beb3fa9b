public import Base
import Postgres

/// The store, as volley.yaml names it: the variable that holds its address.
public struct StoreAddress: Sendable {
    /// The environment variable, and where volley.yaml names it.
    public var variable: SourceText

    /// A store.
    public init(variable: SourceText) { self.variable = variable }

    /// How long connecting may take: people are told within ten seconds that the store is away.
    private static let connectSeconds = 8.0
    /// How long a question that reads little may take; seconds.
    static let stepSeconds = 30.0

    /// Opens the store to work with it.
    /// - Parameters:
    ///   - asked: a person's request to end, after which the database is waited for some seconds
    ///     more; nil if no person can ask.
    ///   - isPatient: whether it is waited for already if it is away now.
    ///   - tell: told why the store does not answer, now and then, and nil once it does; without
    ///     it, it is waited for ten seconds only.
    /// - Throws: a `Diagnostic`: the variable is not set, the store cannot be reached, or its
    ///   tables are missing or of another version.
    public func open(asked: Cancellation?, isPatient: Bool = false, tell: (@Sendable (Diagnostic?) -> Void)? = nil)
        throws -> Store
    {
        let address = try resolved()
        return try explaining { try Store.open(address, asked: asked, isPatient: isPatient, tell: tell) }
    }

    /// Connects. The tables are not looked at.
    /// - Throws: `Diagnostic`; `CancellationError`.
    func connect(_ cancellation: Cancellation) throws -> PostgresConnection {
        let address = try resolved()
        return try explaining { try PostgresConnection.open(address, cancellation) }
    }

    /// The database's clock minus this machine's, in seconds, over a connection of its own. The
    /// tables are not looked at.
    /// - Throws: `Diagnostic`; `CancellationError`, at once when a person asks to end.
    package func clockOffsetSeconds(_ cancellation: Cancellation) throws -> Double {
        let connection = try connect(cancellation)
        return try explaining { try Store.clockOffsetSeconds(connection, within: StoreConnection.usualAnswerSeconds) }
    }

    /// Where libpq finds it.
    private func resolved() throws -> PostgresAddress {
        guard let text = EnvironmentVariables.filled(variable.value) else {
            throw Diagnostic(
                "the environment variable \(SecretText.variable(variable.value)), which should hold the address of the store, is not set",
                at: variable.position,
                remedy: SecretText.remedy(
                    forUnset: variable.value, noun: "address",
                    "Set it where Volley runs, for example: export \(variable.value)=postgresql://volley@HOST/DATABASE."
                ))
        }
        return try explaining { try PostgresAddress(text, of: variable.value, connectingWithin: Self.connectSeconds) }
    }

    /// Says what went wrong where volley.yaml names the store.
    func explaining<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try StoreError.explaining(body) } catch var mistake as Diagnostic
            where mistake.position == nil && mistake.file == nil
        {
            mistake.position = variable.position
            throw mistake
        }
    }
}

/// The library that the store is reached with.
public enum StoreLibrary {
    /// The version of libpq that this process runs with: `15.14`.
    public static var version: String { PostgresLibrary.version }
}
