import Base
import Cryptography

/// A signed ID token, in two steps: first it is read, to find the key that it needs; then it is
/// checked (OpenID Connect Core 1.0, section 3.1.3.7; RFC 7515, RFC 8725).
struct IDToken {
    /// The claims that a token needs to be accepted.
    struct Expectation {
        var issuer: String
        var clientID: String
        var nonce: String
        /// What came with it.
        var accessToken: String?
    }

    /// The key that it names; nil for none.
    let keyID: String?
    /// RS256 or ES256.
    let algorithm: String
    private let claims: JSONValue
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// Clocks may differ by so much.
    private static let leewaySeconds: Int64 = 60
    /// A token is fetched in the moment in which it is made.
    private static let oldestSeconds: Int64 = 10 * 60
    /// OpenID Connect Core 1.0, section 2: `sub`.
    private static let longestSubject = 255

    init(_ text: String) throws(OpenIDProblem) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let signature = Base64URL.bytes(parts[2]) else {
            throw .token(.form)
        }
        // Neither `none` nor an HMAC, for which a public key could be used as the secret (RFC 8725,
        // section 2.1).
        guard let algorithm = header["alg"]?.stringValue, ["RS256", "ES256"].contains(algorithm) else {
            throw .token(.algorithm)
        }
        guard !signature.isEmpty else { throw .token(.form) }
        guard header["crit"] == nil else { throw .token(.criticalHeader) }
        guard let claims = Self.object(parts[1]) else { throw .token(.claims) }
        keyID = header["kid"]?.stringValue
        self.algorithm = algorithm
        self.claims = claims
        self.signature = signature
        signed = Array("\(parts[0]).\(parts[1])".utf8)
    }

    /// - Returns: the claims, after all checks.
    func checked(with key: JSONWebKeys.Key, _ expected: Expectation, at now: Timestamp) throws(OpenIDProblem)
        -> JSONValue
    {
        guard key.algorithm == algorithm, key.isValid(signature, for: signed) else { throw .token(.signature) }
        guard claims["iss"]?.stringValue == expected.issuer else { throw .token(.issuer) }
        try checkAudience(expected.clientID)
        guard let expires = Self.seconds(claims["exp"]), now.epochSeconds < expires + Self.leewaySeconds else {
            throw .token(.expired)
        }
        guard let issued = Self.seconds(claims["iat"]), issued <= now.epochSeconds + Self.leewaySeconds,
            issued > now.epochSeconds - Self.oldestSeconds
        else { throw .token(.issuedAt) }
        if let begins = claims["nbf"] {
            guard let begins = Self.seconds(begins), begins <= now.epochSeconds + Self.leewaySeconds else {
                throw .token(.issuedAt)
            }
        }
        guard let nonce = claims["nonce"]?.stringValue,
            ConstantTime.areEqual(Array(nonce.utf8), Array(expected.nonce.utf8))
        else {
            throw .token(.nonce)
        }
        guard let subject = claims["sub"]?.stringValue, (1...Self.longestSubject).contains(subject.utf8.count) else {
            throw .token(.subject)
        }
        if let hash = claims["at_hash"] {
            // The left half of the hash (section 3.1.3.6).
            let half = expected.accessToken.map { Base64URL.text(Array(SHA256.digest(of: Array($0.utf8)).prefix(16))) }
            guard hash.stringValue == half else { throw .token(.accessToken) }
        }
        return claims
    }

    /// When the person last signed in at the provider; nil if the token does not say.
    static func authenticatedAt(_ claims: JSONValue, at now: Timestamp) -> Timestamp? {
        guard let seconds = seconds(claims["auth_time"]), seconds <= now.epochSeconds + leewaySeconds else {
            return nil
        }
        return min(Timestamp(epochSeconds: seconds), now)
    }

    private func checkAudience(_ clientID: String) throws(OpenIDProblem) {
        let audience: [JSONValue]
        switch claims["aud"] {
        case .string(let one)?: audience = [.string(one)]
        case .array(let several)?: audience = several
        default: throw .token(.audience)
        }
        guard audience.contains(.string(clientID)) else { throw .token(.audience) }
        if let party = claims["azp"] {
            guard party.stringValue == clientID else { throw .token(.authorizedParty) }
        } else if audience.count > 1 {
            throw .token(.authorizedParty)
        }
    }

    /// A JSON object in which no name occurs twice: two readers could take different ones.
    private static func object(_ part: Substring) -> JSONValue? {
        guard let bytes = Base64URL.bytes(part), let json = try? JSONValue(parsing: bytes, maximumDepth: 16),
            case .object(let members) = json,
            Set(members.map(\.name)).count == members.count
        else { return nil }
        return json
    }

    /// Seconds since 1970, in this era; nil for anything else.
    private static func seconds(_ value: JSONValue?) -> Int64? {
        let range: ClosedRange<Int64> = 0...253_402_300_799
        switch value {
        case .integer(let number)? where range.contains(number): return number
        case .double(let number)? where number >= 0 && number <= Double(range.upperBound): return Int64(number)
        default: return nil
        }
    }
}
