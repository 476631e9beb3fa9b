import Base
import PushServices

/// Waiting for a token. While one is being fetched nothing leaves and nothing fails for it:
/// connections are drained, their answers count, and no other is opened. `tokenChanged` ends the
/// wait.
extension DeliveryMachine {
    /// Notes that the token has ended or was refused, and that another one is being fetched. May be
    /// called again and again.
    /// - Parameter trouble: why the last attempt to fetch one failed; nil if none did.
    mutating func credentialPending(because trouble: String? = nil, at now: Moment) {
        if credentialPendingSince == nil { credentialTrouble = "" }
        credentialPendingSince = credentialPendingSince ?? now.nanoseconds
        if let trouble { credentialTrouble = trouble }
        for connection in connections.indices { drain(connection) }
    }

    /// Stops the run because no other token will be given.
    /// - Parameters:
    ///   - reason: the words of the server that gives out tokens.
    ///   - clockLagSeconds: its clock minus this machine's; nil if that does not matter.
    mutating func credentialRefused(_ reason: String, status: Int, clockLagSeconds: Double?, at now: Moment) {
        stopForService(.tokenRefused(reason: reason, status: status, clockLagSeconds: clockLagSeconds), at: now)
    }

    /// Notes that an answer shows that the service let the token pass: it is about the push, or
    /// about how much may be sent. A service in trouble may not have looked at the token.
    mutating func confirmToken(of connection: Int, by meaning: AnswerMeaning) {
        switch meaning {
        case .accepted, .invalidTarget, .rejected, .rejectedLikeAll, .split, .untold, .retry(.deviceBusy),
            .retry(.quota):
            confirmToken(of: connection)
        case .stop, .stopIfRepeated, .usedUp, .maybeTaken, .notTheService, .retry: break
        }
    }

    /// Notes that the service let the token pass.
    mutating func confirmToken(of connection: Int) {
        guard settings.usesProviderToken, !connections[connection].isTokenConfirmed else { return }
        connections[connection].isTokenConfirmed = true
        actions.append(.confirmToken(connection: connection))
    }

    /// When waiting for a token has lasted too long, in monotonic nanoseconds: as long as any
    /// outage.
    var credentialDeadline: Int64? {
        credentialPendingSince.map { $0 + Int64(nanosecondsFromSeconds: settings.retry.maximumTotalSeconds) }
    }

    mutating func stopIfCredentialStaysAway(at now: Moment) {
        guard let since = credentialPendingSince, let end = credentialDeadline, now.nanoseconds > end else { return }
        stopForService(
            .tokenMissing(lastTrouble: credentialTrouble, seconds: Double(now.nanoseconds - since) / 1e9), at: now)
    }
}

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
