/// The provider token that a loop's connections use, and when it is time for another: a connection keeps the token it was opened with, so
/// that a new token means new connections.
struct CredentialRenewal {
    enum Renewal: Hashable {
        /// No other may be had yet.
        case refused
        /// The one in use already: another connection asked before.
        case known
        /// All connections must be opened anew.
        case changed
    }

    private static let interval: Int64 = 1_000_000_000

    private(set) var token: SignedToken?
    private var checkedAt: Int64?

    /// Whether connections must be opened anew, for a token has grown old or another loop has renewed it. Asked as often as one likes.
    /// - Parameter now: the clock that a token's age counts by, which goes on while the machine sleeps: behind a sleep the first push already
    ///   needs the next token.
    mutating func mustReconnect(_ tokens: SignedTokenSource, at now: Int64) -> Bool {
        if let checkedAt, now - checkedAt < Self.interval { return false }
        checkedAt = now
        return take(tokens.current())
    }

    /// The service called a connection's token expired. Other connections would go on with it until long after its time, so they change as well.
    mutating func renew(_ tokens: SignedTokenSource, after refused: SignedToken) -> Renewal {
        guard let token = tokens.renew(after: refused) else { return .refused }
        return take(token) ? .changed : .known
    }

    /// True when it replaces another.
    private mutating func take(_ new: SignedToken) -> Bool {
        defer { token = new }
        return token != nil && token != new
    }
}
