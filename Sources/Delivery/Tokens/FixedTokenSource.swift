import Base
public import PushServices

/// A credential that never changes: a name and a secret, which each request shows (RFC 7617).
public final class FixedTokenSource: Sendable {
    private let token: ServiceToken

    /// Shows the account's topic and its secret.
    public init(basic secret: AppSecret) {
        token = ServiceToken(value: "Basic \(base64(Array("\(secret.topic):\(secret.secret)".utf8)))", mintedAt: 0)
    }
}

extension FixedTokenSource: TokenSource {
    func state() -> TokenState { .ready(token) }

    /// There is no other.
    func renewed(after refused: ServiceToken) -> TokenState? { nil }

    func confirm(_ token: ServiceToken) {}

    func age(of token: ServiceToken) -> Int64 { 0 }

    func attach(_ wakeup: Wakeup) {}

    func detach(_ wakeup: Wakeup) {}
}
