public import Base

/// How an app gets a token that a service's own server gives out for a time: it signs an assertion (JWT, RS256), posts it as a form, and
/// gets the token and the seconds for which it is valid. Source: RFC 7523, section 2.1 and RFC 6749, section 5.1.
public struct TokenExchange: Sendable {
    /// What the service calls such a token: "access token".
    public let noun: String
    /// Where it is given out for the service's own environments; the claim `aud` too. Another server, and the simulator, give it out
    /// themselves, at `path`, and `aud` is then that address: an assertion for one server is never worth anything at another.
    public let address: String
    /// The path at another server.
    public let path: String
    /// The claim `scope`.
    public let scope: String
    /// The claim `exp` is so long after `iat`.
    public let assertionSeconds: Int64
    /// A token is replaced so long before it ends.
    public let renewEarlySeconds: Double
    /// The service is not asked for another token sooner than this after the last one.
    public let shortestRenewalSeconds: Double
    /// Reads the file, or the variable, that identifies the app.
    public let read: @Sendable (_ secret: JSONValue) throws(Mistake) -> AssertionKey

    /// The name in `address`, at port 443.
    public var host: String { String(address.dropFirst("https://".count).prefix { $0 != "/" }) }

    /// An exchange.
    public init(
        noun: String, address: String, path: String, scope: String, assertionSeconds: Int64, renewEarlySeconds: Double,
        shortestRenewalSeconds: Double, read: @escaping @Sendable (_ secret: JSONValue) throws(Mistake) -> AssertionKey
    ) {
        self.noun = noun
        self.address = address
        self.path = path
        self.scope = scope
        self.assertionSeconds = assertionSeconds
        self.renewEarlySeconds = renewEarlySeconds
        self.shortestRenewalSeconds = shortestRenewalSeconds
        self.read = read
    }
}

/// What signs assertions, as the service's own file says it.
public struct AssertionKey: Sendable {
    /// The claim `iss`.
    public var issuer: String
    /// The header `kid`.
    public var keyID: String
    /// PKCS#8 in PEM. A secret.
    public var privateKeyPEM: String
    /// The name of the account that the file is for, as `AccountForm.topic` names it; nil if the file does not say.
    public var topic: String?

    /// A key.
    public init(issuer: String, keyID: String, privateKeyPEM: String, topic: String?) {
        self.issuer = issuer
        self.keyID = keyID
        self.privateKeyPEM = privateKeyPEM
        self.topic = topic
    }
}
