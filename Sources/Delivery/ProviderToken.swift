public import Cryptography

/// Mints provider tokens (JWT, ES256), one history for all connections of a process: a new one no more often than every 20
/// minutes, none older than 60. Source: Apple, "Establishing a token-based connection to APNs".
public final class ProviderTokenSource: Sendable {
    /// - Parameters:
    ///   - keyID: header `kid`, 10 characters.
    ///   - teamID: claim `iss`, 10 characters.
    public init(key: SigningKey, keyID: String, teamID: String) { fatalError("skeleton") }
}
