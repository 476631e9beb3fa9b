public import Base

/// How an app gets a token that a service's own server gives out for a time.
public struct TokenExchange: Sendable {
    /// What identifies the sender to the server.
    public enum Proof: Sendable {
        /// A signed assertion (JWT, RS256), posted as a form. Source: RFC 7523, section 2.1 and RFC
        /// 6749, section 5.1.
        case assertion(AssertionFacts)
        /// The digest of public names, the time and a secret, posted as JSON.
        case digest(DigestFacts)
    }

    /// What the service calls such a token: "access token".
    public let noun: String
    /// What identifies the sender to the server.
    public let proof: Proof
    /// The header of requests that carries the token, in lower-case letters, and what precedes it
    /// there.
    public let header: String
    /// See `header`.
    public let prefix: String
    /// A token is replaced so long before it ends.
    public let renewEarlySeconds: Double
    /// Another token is not requested sooner than this after the last one.
    public let shortestRenewalSeconds: Double

    /// An exchange.
    public init(
        noun: String, proof: Proof, header: String = "authorization", prefix: String = "Bearer ",
        renewEarlySeconds: Double,
        shortestRenewalSeconds: Double
    ) {
        self.noun = noun
        self.proof = proof
        self.header = header
        self.prefix = prefix
        self.renewEarlySeconds = renewEarlySeconds
        self.shortestRenewalSeconds = shortestRenewalSeconds
    }

    /// The same for tokens with another scope; itself where tokens have none.
    package func scoped(_ scope: String) -> TokenExchange {
        guard case .assertion(let facts) = proof else { return self }
        let scoped = AssertionFacts(
            address: facts.address, path: facts.path, scope: scope, seconds: facts.seconds, read: facts.read)
        return TokenExchange(
            noun: noun, proof: .assertion(scoped), header: header, prefix: prefix, renewEarlySeconds: renewEarlySeconds,
            shortestRenewalSeconds: shortestRenewalSeconds)
    }

    /// The server that gives out the tokens of the service's own environments, at port 443; nil if
    /// those that take the pushes do.
    public var host: String? {
        guard case .assertion(let facts) = proof else { return nil }
        return String(facts.address.dropFirst("https://".count).prefix { $0 != "/" })
    }
}

/// How an assertion is made and posted.
public struct AssertionFacts: Sendable {
    /// Where tokens are given out for the service's own environments; the claim `aud` too. Another
    /// server, and the simulator, give them out themselves, at `path`, and `aud` is then that
    /// address: an assertion for one server is never worth anything at another.
    public let address: String
    /// The path at another server.
    public let path: String
    /// The claim `scope`.
    public let scope: String
    /// The claim `exp` is so long after `iat`.
    public let seconds: Int64
    /// Reads the file, or the variable, that identifies the app.
    public let read: @Sendable (_ secret: JSONValue) throws(Mistake) -> AssertionKey

    /// An assertion.
    public init(
        address: String, path: String, scope: String, seconds: Int64,
        read: @escaping @Sendable (_ secret: JSONValue) throws(Mistake) -> AssertionKey
    ) {
        self.address = address
        self.path = path
        self.scope = scope
        self.seconds = seconds
        self.read = read
    }
}

/// How a digest is made and posted, and how its answer is read. The server that takes the pushes
/// gives out the tokens.
public struct DigestFacts: Sendable {
    /// What a digest is made of, and a body says.
    public struct Parts: Sendable {
        /// What the service calls the app: the account's topic.
        public let topic: String
        /// The fields next to the credential, by their keys.
        public let names: [String: String]
        /// Since 1970.
        public let milliseconds: Int64

        /// The parts.
        public init(topic: String, names: [String: String], milliseconds: Int64) {
            self.topic = topic
            self.names = names
            self.milliseconds = milliseconds
        }
    }

    /// What an answer with a good status says.
    public enum Reading: Hashable, Sendable {
        /// A token. `until`: the end of its time, in milliseconds since 1970 by the server's clock.
        case token(String, until: Int64)
        /// The service's words for why it gave no token. `mayPass`: whether it will give one out
        /// later.
        case refused(String, mayPass: Bool)
        /// Something that is not the service's.
        case unreadable
    }

    /// The path, without the topic where it names one.
    public let path: @Sendable (_ topic: String) -> String
    /// The text to hash: its SHA-256, in hex, is the digest.
    public let text: @Sendable (_ parts: Parts, _ secret: String) -> String
    /// The body that is posted, with the digest.
    public let body: @Sendable (_ parts: Parts, _ digest: String) -> JSONValue
    /// Reads an answer.
    public let read: @Sendable (_ status: Int, _ answer: JSONValue) -> Reading

    /// A digest.
    public init(
        path: @escaping @Sendable (_ topic: String) -> String,
        text: @escaping @Sendable (_ parts: Parts, _ secret: String) -> String,
        body: @escaping @Sendable (_ parts: Parts, _ digest: String) -> JSONValue,
        read: @escaping @Sendable (_ status: Int, _ answer: JSONValue) -> Reading
    ) {
        self.path = path
        self.text = text
        self.body = body
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
    /// The name of the account that the file is for, as `AccountForm.topic` names it; nil if the
    /// file does not say.
    public var topic: String?

    /// A key.
    public init(issuer: String, keyID: String, privateKeyPEM: String, topic: String?) {
        self.issuer = issuer
        self.keyID = keyID
        self.privateKeyPEM = privateKeyPEM
        self.topic = topic
    }
}

/// A secret text that a service gave an app, with the public names that belong to it.
public struct AppSecret: Sendable {
    /// What the service calls the app: the account's topic.
    public var topic: String
    /// The fields next to the credential, by their keys.
    public var names: [String: String]
    /// A secret.
    public var secret: String

    /// A secret.
    public init(topic: String, names: [String: String] = [:], secret: String) {
        self.topic = topic
        self.names = names
        self.secret = secret
    }
}
