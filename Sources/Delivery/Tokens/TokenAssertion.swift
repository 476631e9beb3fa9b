import Base
import Cryptography

/// What identifies the app to a server that gives out tokens: a JWT (RFC 7523, section 3), signed with RS256.
struct TokenAssertion: Sendable {
    /// The claim `iss`.
    var issuer: String
    /// The header `kid`.
    var keyID: String
    /// The claim `scope`.
    var scope: String
    /// The claim `aud`: the address of the server that gives out the token.
    var audience: String
    /// The claim `exp` is so long after `iat`.
    var seconds: Int64
    var key: RSASigningKey

    /// The signed text. A secret: it is exchanged for a token.
    func text(at now: Timestamp) -> String {
        let header = JSONValue.object(pairs: [("alg", .string("RS256")), ("typ", .string("JWT")), ("kid", .string(keyID))])
        let claims = JSONValue.object(pairs: [
            ("iss", .string(issuer)), ("scope", .string(scope)), ("aud", .string(audience)), ("iat", .integer(now.epochSeconds)),
            ("exp", .integer(now.epochSeconds + seconds)),
        ])
        return jsonWebToken(header: header, claims: claims, sign: key.sign)
    }

    /// The form that is posted (RFC 7523, section 2.1). An assertion needs no escapes.
    static func form(_ assertion: String) -> String {
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
    }
}
