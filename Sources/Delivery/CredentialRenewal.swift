/// Tracks the provider token that a loop's connections use and decides when to replace it. A connection keeps the token it was opened with,
/// so a new token needs new connections.
struct CredentialRenewal {
    enum Renewal: Hashable {
        /// The token cannot be renewed yet.
        case refused
        /// The new token is already in use: another connection asked before.
        case known
        /// There is a new token: all connections must be reopened.
        case changed
    }

    private static let interval: Int64 = 1_000_000_000

    private(set) var token: SignedToken?
    private var checkedAt: Int64?

    /// Returns whether connections must be reopened because a token has grown old or another loop has renewed
    /// it. May be called at any rate.
    /// - Parameter now: the time by the clock that measures a token's age. It also counts while the machine sleeps: after a sleep the first
    ///   push already needs the next token.
    mutating func mustReconnect(_ tokens: SignedTokenSource, at now: Int64) -> Bool {
        if let checkedAt, now - checkedAt < Self.interval { return false }
        checkedAt = now
        return take(tokens.current())
    }

    /// Renews the token that the service called expired on one connection. The other connections change as well, or they would go on with
    /// it long after its time.
    mutating func renew(_ tokens: SignedTokenSource, after refused: SignedToken) -> Renewal {
        guard let token = tokens.renew(after: refused) else { return .refused }
        return take(token) ? .changed : .known
    }

    /// Stores a token; returns true if it replaces another.
    private mutating func take(_ new: SignedToken) -> Bool {
        defer { token = new }
        return token != nil && token != new
    }
}
