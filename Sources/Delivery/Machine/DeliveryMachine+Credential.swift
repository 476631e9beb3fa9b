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
