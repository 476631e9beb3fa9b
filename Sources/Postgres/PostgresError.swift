public import Base

/// What PostgreSQL refused, or why it cannot be reached. Never holds an address, a password or the
/// details of rows: details of a server quote cells, which may be device tokens.
public struct PostgresError: ExplainedError, Hashable, Sendable {
    /// What failed.
    public enum Cause: Hashable, Sendable {
        /// The address cannot be read, or would be unsafe.
        case address
        /// There is no connection.
        case unreachable
        /// The connection broke after it was there.
        case lost
        /// The time was over before an answer came.
        case late
        /// The server refused a statement, with its SQLSTATE of five characters.
        case refused(sqlState: String)
    }

    /// What failed.
    public var cause: Cause
    /// What happened, without a final full stop.
    public var message: String
    /// What to do, whole sentences; nil if nothing can be said.
    public var remedy: String?
    /// Where in the statement the server sees the mistake, in Unicode scalars from its start; nil
    /// if it says no place.
    public var scalarOffset: Int?

    /// An error.
    public init(_ cause: Cause, _ message: String, remedy: String? = nil, scalarOffset: Int? = nil) {
        (self.cause, self.message, self.remedy, self.scalarOffset) = (cause, message, remedy, scalarOffset)
    }

    /// The SQLSTATE of a refused statement; nil for other errors.
    public var sqlState: String? { if case .refused(let state) = cause { state } else { nil } }

    /// Whether the connection is of no more use: a later try needs another one.
    public var isConnectionLost: Bool { sqlState.map { $0.hasPrefix("57P") || $0.hasPrefix("08") } ?? true }

    /// The error, without a place.
    public var diagnostics: [Diagnostic] { [Diagnostic(message, remedy: remedy)] }
}
