/// Tracks the token that a loop's connections use and decides when to replace it. A connection
/// keeps the token it was opened with, so a new token needs new connections.
struct CredentialRenewal {
    enum Renewal: Hashable {
        /// The token cannot be renewed yet.
        case refused
        /// The token is already in use: another connection requested it before, or no other token
        /// exists.
        case known
        /// There is a new token: all connections must be reopened.
        case changed
        /// There is no token to use, and another one is being fetched. With the failure of the last
        /// attempt, if it failed.
        case pending(TokenFetchFailure?)
        /// There will be no other token.
        case ended(TokenRefusal)
    }

    private static let interval: Int64 = 1_000_000_000

    private(set) var token: ServiceToken?
    private var isPending = false
    private var checkedAt: Int64?

    /// Returns whether a token has grown old or another loop has renewed it. May be called at any
    /// rate: it looks once a second, and whenever the token is over or missing.
    /// - Parameters:
    ///   - isAwaited: whether connections wait for a token. One may have found none before this
    ///     value looked.
    ///   - now: the time by the clock that measures a token's age. It also counts while the machine
    ///     sleeps: after a sleep the first push already needs the next token.
    mutating func check(_ tokens: any TokenSource, isAwaited: Bool = false, at now: Int64) -> Renewal {
        if isAwaited { isPending = true }
        if !isPending, let checkedAt, now - checkedAt < Self.interval, now < token?.usableUntil ?? .max {
            return .known
        }
        checkedAt = now
        return take(tokens.state())
    }

    /// Renews the token that the service called expired on one connection. The other connections
    /// change too; otherwise they would use it long after its time.
    mutating func renew(_ tokens: any TokenSource, after refused: ServiceToken) -> Renewal {
        guard let state = tokens.renewed(after: refused) else { return .refused }
        return take(state)
    }

    /// Stores a token, and says what it means for the connections.
    private mutating func take(_ state: TokenState) -> Renewal {
        switch state {
        case .ready(let new):
            defer { (token, isPending) = (new, false) }
            return isPending || token != nil && token != new ? .changed : .known
        case .pending(let failure):
            isPending = true
            return .pending(failure)
        case .refused(let refusal): return .ended(refusal)
        }
    }
}

extension DeliveryMachine {
    /// Does what a renewal means for the connections. Tokens that the service does not let renew
    /// are the driver's to report.
    mutating func follow(_ renewal: CredentialRenewal.Renewal, at now: Moment) {
        switch renewal {
        case .known, .refused: break
        case .changed: tokenChanged()
        case .pending(let failure): credentialPending(because: failure?.text, at: now)
        case .ended(let refusal):
            credentialRefused(
                refusal.reason, status: refusal.status, clockLagSeconds: refusal.harmfulClockLagSeconds, at: now)
        }
    }
}
