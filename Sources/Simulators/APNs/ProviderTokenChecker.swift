import Base
import Cryptography

/// What a connection has proved about its sender.
struct ConnectionTrust {
    var certificate = CertificateState.none
    /// The team of the first provider token; all others must have the same team.
    var teamID: String?
    /// Whether an expired token was seen. The connection then refuses newer tokens too.
    var isWedged = false
    /// The tokens that this connection accepted.
    var history = TokenHistory()
    /// The number of the known token that was accepted last, so that its checks are not repeated; 0
    /// for none.
    var lastSerial = 0

    init(certificate: CertificateState = .none) { self.certificate = certificate }
}

/// When the provider tokens of each key were issued, for the 20-minute rule.
struct TokenHistory {
    private struct Issued {
        var latest: Int64
        var previous: Int64?
    }

    private var issuedByKey: [Int: Issued] = [:]

    /// Notes a token; false if it was issued too soon after the one before it. The one before may
    /// still be used by streams that were on their way.
    mutating func admits(keyIndex: Int, issuedAt: Int64) -> Bool {
        guard let known = issuedByKey[keyIndex] else {
            issuedByKey[keyIndex] = Issued(latest: issuedAt)
            return true
        }
        if issuedAt == known.latest || issuedAt == known.previous { return true }
        guard issuedAt >= known.latest + ProviderTokenChecker.updateIntervalSeconds else { return false }
        issuedByKey[keyIndex] = Issued(latest: issuedAt, previous: known.latest)
        return true
    }
}

/// Checks the header `authorization`: scheme, key, team, signature, age, the 20-minute rule.
/// Source: Apple, "Establishing a token-based connection to APNs". A JWT is verified once and then
/// recognised by its bytes; its age is checked every time.
struct ProviderTokenChecker {
    /// A JWT that was verified before.
    private struct KnownToken {
        var bytes: [UInt8]
        /// The number of the JWT, from 1.
        var serial: Int
        /// The key that signed it; nil if the JWT is invalid.
        var keyIndex: Int?
        var issuedAt: Int64
    }

    static let lifetimeSeconds: Int64 = 3600
    static let updateIntervalSeconds: Int64 = 1200
    /// How far a sender's clock may be ahead.
    static let clockSkewSeconds: Int64 = 60
    private static let mostKnown = 64
    private static let scheme: StaticString = "bearer "

    private let keys: [TrustedKey]
    private let scope: TokenUpdateScope
    private var known: [KnownToken] = []
    private var lastSerial = 0
    private var sharedHistory = TokenHistory()
    /// The number of distinct tokens that were accepted.
    private(set) var acceptedTokens = 0
    private var acceptedSerials: Set<Int> = []

    init(keys: [TrustedKey], scope: TokenUpdateScope) {
        self.keys = keys
        self.scope = scope
    }

    /// The refusal of a request's provider token; nil if the token is good.
    mutating func refusal(of request: PushRequest, trust: inout ConnectionTrust, now: Timestamp) -> Answer? {
        guard let value = request[.authorization], let token = Self.token(in: value) else {
            return .forbidden("MissingProviderToken")
        }
        guard !trust.isWedged else { return .forbidden("ExpiredProviderToken") }
        let position = position(of: token)
        let (serial, issuedAt) = (known[position].serial, known[position].issuedAt)
        guard let keyIndex = known[position].keyIndex, issuedAt <= now.epochSeconds + Self.clockSkewSeconds else {
            return .forbidden("InvalidProviderToken")
        }
        guard issuedAt >= now.epochSeconds - Self.lifetimeSeconds else {
            trust.isWedged = true
            return .forbidden("ExpiredProviderToken")
        }
        if serial == trust.lastSerial { return nil }
        let team = keys[keyIndex].teamID
        guard trust.teamID == nil || trust.teamID == team else { return .forbidden("InvalidProviderToken") }
        guard admits(keyIndex: keyIndex, issuedAt: issuedAt, trust: &trust) else {
            return Answer(status: 429, reason: "TooManyProviderTokenUpdates")
        }
        trust.teamID = team
        trust.lastSerial = serial
        if acceptedSerials.insert(serial).inserted { acceptedTokens += 1 }
        return nil
    }

    private mutating func admits(keyIndex: Int, issuedAt: Int64, trust: inout ConnectionTrust) -> Bool {
        switch scope {
        case .connection: trust.history.admits(keyIndex: keyIndex, issuedAt: issuedAt)
        case .simulator: sharedHistory.admits(keyIndex: keyIndex, issuedAt: issuedAt)
        }
    }

    /// The JWT after `bearer`, which may be in either case (RFC 9110 section 11.1); nil for another
    /// scheme, or if nothing follows.
    private static func token(in value: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        let scheme = scheme.bytes
        guard value.count > scheme.count else { return nil }
        for place in 0..<scheme.count where value[place] | 0x20 != scheme[place] { return nil }
        return UnsafeBufferPointer(rebasing: value[scheme.count...])
    }

    /// The index of a token among the known ones. A new token is verified and added.
    private mutating func position(of token: UnsafeBufferPointer<UInt8>) -> Int {
        if let found = known.firstIndex(where: { areEqual(token, right: $0.bytes) }) { return found }
        if known.count == Self.mostKnown { known.removeFirst() }
        lastSerial += 1
        var entry = KnownToken(bytes: Array(token), serial: lastSerial, keyIndex: nil, issuedAt: 0)
        if let verified = verify(entry.bytes) { (entry.keyIndex, entry.issuedAt) = verified }
        known.append(entry)
        return known.count - 1
    }

    /// The signing key and the claim `iat` of a JWT with a correct form, signature, `alg`, `kid`
    /// and `iss`; nil for any other.
    private func verify(_ token: [UInt8]) -> (keyIndex: Int, issuedAt: Int64)? {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = decodeTokenPart(parts[0]), let claims = decodeTokenPart(parts[1]),
            let signature = decodeBase64URL(parts[2]),
            header["alg"]?.stringValue == "ES256", let keyID = header["kid"]?.stringValue,
            let issuedAt = Self.seconds(claims["iat"]),
            let index = keys.firstIndex(where: { $0.keyID == keyID && $0.teamID == claims["iss"]?.stringValue })
        else { return nil }
        let signed = Array(token[..<parts[1].endIndex])
        return keys[index].key.isValid(signature, for: signed) ? (index, issuedAt) : nil
    }

    /// The claim `iat` in seconds. kalyke for Python writes it as a text, which APNs is known to
    /// take.
    private static func seconds(_ value: JSONValue?) -> Int64? {
        value?.tokenSeconds ?? value?.stringValue.flatMap { Int64($0) }
    }
}
