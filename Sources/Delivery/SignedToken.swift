import Base
public import Cryptography
public import PushServices
import Synchronization

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
