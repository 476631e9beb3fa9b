import Base
public import PushServices

/// A token as a header of requests carries it.
struct ServiceToken: Hashable, Sendable {
    /// The header, in lower-case letters.
    var header = "authorization"
    /// The header's value: `bearer …`. A secret.
    var value: String
    /// When it was minted, or requested: monotonic nanoseconds, counting while the machine sleeps.
    var mintedAt: Int64
    /// From then on nothing leaves with it, by the same clock. Never, for a token that is replaced
    /// by its age alone.
    var usableUntil = Int64.max
}

/// What a sender has for the header that identifies the sender.
enum TokenState: Hashable, Sendable {
    /// The token to use now.
    case ready(ServiceToken)
    /// The last token has ended or was refused, and another one is being fetched. With the failure
    /// of the last attempt, if it failed.
    case pending(TokenFetchFailure?)
    /// There will be no other token.
    case refused(TokenRefusal)
}

/// Where a sender's tokens come from: signed on this machine, fetched from a server, or always the
/// same.
protocol TokenSource: AnyObject, Sendable {
    /// Returns what there is now. Never blocks for long.
    func state() -> TokenState
    /// Returns what there is after the service refused a token as expired; nil if another token
    /// would be refused, too.
    func renewed(after refused: ServiceToken) -> TokenState?
    /// Notes that the service let a token pass.
    func confirm(_ token: ServiceToken)
    /// The age of a token, in nanoseconds.
    func age(of token: ServiceToken) -> Int64
    /// Rings `wakeup` from now on when `state` has changed for the better, or for good.
    func attach(_ wakeup: Wakeup)
    /// Rings it no longer.
    func detach(_ wakeup: Wakeup)
}

extension SignedTokenSource: TokenSource {
    func state() -> TokenState { .ready(current()) }

    func renewed(after refused: ServiceToken) -> TokenState? { renew(after: refused).map { .ready($0) } }

    /// The age of a token says enough.
    func confirm(_ token: ServiceToken) {}

    /// Signing takes no time that anyone would have to wait for.
    func attach(_ wakeup: Wakeup) {}

    func detach(_ wakeup: Wakeup) {}
}

extension Credentials {
    /// Where tokens come from; nil for a client certificate, and where each request is signed.
    var tokens: (any TokenSource)? {
        switch self {
        case .token(let source): source
        case .fetched(let source): source
        case .fixed(let source): source
        case .signed, .certificate: nil
        }
    }
}

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
