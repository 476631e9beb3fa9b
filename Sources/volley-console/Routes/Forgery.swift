import Cryptography

/// Protects forms from being sent by pages of others: each carries a token that follows from a cookie which those pages cannot read (OWASP,
/// Cross-Site Request Forgery Prevention). It does not show the cookie, and ends with it.
enum Forgery {
    /// The name of the form's field.
    static let field = "token"

    /// The token of a cookie with at least 128 random bits.
    static func token(of secret: String) -> String {
        SHA256.hex(HMACSHA256.code(of: Array("volley console form".utf8), key: Array(secret.utf8)))
    }

    /// Whether a form has the token of a cookie. Takes as long for any wrong one.
    static func accepts(_ token: String, of secret: String) -> Bool {
        ConstantTime.areEqual(Array(token.utf8), Array(Self.token(of: secret).utf8))
    }

    /// Whether a browser says that a request comes from a page of the console itself. One of the two headers must be there: every browser of the
    /// last years sends them with a form.
    /// - Parameters:
    ///   - origin: `Origin`.
    ///   - site: `Sec-Fetch-Site`.
    ///   - own: the console's own origins.
    static func isOwn(origin: String?, site: String?, own: Set<String>) -> Bool {
        if let site, site != "same-origin" { return false }
        guard let origin else { return site != nil }
        return own.contains(origin.lowercased())
    }
}
