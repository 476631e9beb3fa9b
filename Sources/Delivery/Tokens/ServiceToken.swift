import Base
public import Cryptography
public import PushServices
import Synchronization

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
        token = ServiceToken(value: "Basic \(Base64.text(Array("\(secret.topic):\(secret.secret)".utf8)))", mintedAt: 0)
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

/// Mints signed tokens (JWT, ES256) and keeps one history for all connections of a key. It neither
/// renews a token more often nor uses one longer than the service allows.
public final class SignedTokenSource: Sendable {
    /// The service refuses a replacement for a token younger than this: nanoseconds.
    private let youngestReplaced: Int64
    /// A token older than this is replaced: nanoseconds.
    private let oldestUsed: Int64
    private let facts: SignedTokenFacts
    private let key: SigningKey
    private let keyID: String
    private let teamID: String
    private let history: SignedTokenHistory
    private let clock: @Sendable () -> Moment

    /// - Parameters:
    ///   - keyID: header `kid`, 10 characters.
    ///   - teamID: claim `iss`, 10 characters.
    ///   - history: shared by all sources that sign with the same key.
    ///   - facts: what the service that receives the tokens demands of them.
    ///   - clock: dates the tokens.
    public convenience init(
        key: SigningKey, keyID: String, teamID: String, history: SignedTokenHistory = SignedTokenHistory(),
        facts: SignedTokenFacts = .standard, clock: CommonClock = CommonClock()
    ) {
        self.init(key: key, keyID: keyID, teamID: teamID, history: history, facts: facts) {
            Moment(nanoseconds: bootNanoseconds(), wall: clock.now())
        }
    }

    init(
        key: SigningKey, keyID: String, teamID: String, history: SignedTokenHistory,
        facts: SignedTokenFacts = .standard,
        clock: @escaping @Sendable () -> Moment
    ) {
        self.facts = facts
        youngestReplaced = Int64(facts.shortestRenewalSeconds * 1e9)
        oldestUsed = Int64(facts.renewalSeconds * 1e9)
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
        self.history = history
        self.clock = clock
    }

    /// Returns the token to use now: a new one at first, and whenever the last one is too old.
    func current() -> ServiceToken {
        let now = clock()
        return history.token(keyID: keyID, teamID: teamID, key: key) { last in
            guard let last, now.nanoseconds - last.mintedAt < oldestUsed else { return mint(now) }
            return last
        }
    }

    /// Returns the token to use after the service called `refused` expired: the one that another
    /// connection has already obtained, or a new one. nil if `refused` is too young to be replaced:
    /// then a clock is wrong, and the service would refuse a newer token as one too many.
    func renew(after refused: ServiceToken) -> ServiceToken? {
        let now = clock()
        let token = history.token(keyID: keyID, teamID: teamID, key: key) { last in
            guard let last else { return mint(now) }
            return last == refused && now.nanoseconds - last.mintedAt >= youngestReplaced ? mint(now) : last
        }
        return token == refused ? nil : token
    }

    /// The age of a token, in nanoseconds.
    func age(of token: ServiceToken) -> Int64 { max(0, clock().nanoseconds - token.mintedAt) }

    private func mint(_ now: Moment) -> ServiceToken {
        let header = JSONValue.object(pairs: [("alg", .string("ES256")), (facts.keyIDField, .string(keyID))])
        let claims = JSONValue.object(pairs: [
            (facts.issuerClaim, .string(teamID)), ("iat", .integer(now.wall.epochSeconds)),
        ])
        let token = jsonWebToken(header: header, claims: claims, sign: key.sign)
        return ServiceToken(value: "bearer \(token)", mintedAt: now.nanoseconds)
    }
}

/// The last token of every key used for signing. All sources of the same key share it.
public final class SignedTokenHistory: Sendable {
    private struct Entry {
        var keyID: String
        var teamID: String
        var key: SigningKey
        var token: ServiceToken
    }

    private let entries = Mutex<[Entry]>([])

    /// A history without tokens.
    public init() {}

    /// Passes the key's last token to `choose`, then remembers and returns the token that `choose`
    /// returns.
    func token(keyID: String, teamID: String, key: SigningKey, choose: (ServiceToken?) -> ServiceToken) -> ServiceToken
    {
        entries.withLock { entries in
            let index = entries.firstIndex { $0.keyID == keyID && $0.teamID == teamID && isSame($0.key, key) }
            let token = choose(index.map { entries[$0].token })
            if let index {
                entries[index].token = token
            } else {
                entries.append(Entry(keyID: keyID, teamID: teamID, key: key, token: token))
            }
            return token
        }
    }

    /// A key read twice from its file is one key. Two keys under one id are two, as when a
    /// simulator has made a new key.
    private func isSame(_ left: SigningKey, _ right: SigningKey) -> Bool {
        left === right || left.pem == right.pem
    }
}

/// A signed token in compact form (RFC 7515, section 3.1): header, claims and signature in
/// base64url, joined by dots.
/// - Parameter sign: signs the first two parts.
func jsonWebToken(header: JSONValue, claims: JSONValue, sign: ([UInt8]) -> [UInt8]) -> String {
    let signed = "\(Base64URL.text(Array(header.text.utf8))).\(Base64URL.text(Array(claims.text.utf8)))"
    return "\(signed).\(Base64URL.text(sign(Array(signed.utf8))))"
}
