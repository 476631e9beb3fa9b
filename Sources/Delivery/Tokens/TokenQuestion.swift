import Base
import Cryptography
public import PushServices

/// Who asks for tokens.
public enum TokenIdentity: Sendable {
    /// The key of an account, which signs assertions.
    case key(AssertionKey)
    /// A secret, of which a digest is made.
    case secret(AppSecret)
}

/// What is posted to a server that gives out tokens.
struct TokenQuestion: Sendable {
    /// A question as it is posted.
    struct Asked {
        var contentType: String
        var body: String
        /// What no message may repeat.
        var secret: String
    }

    private enum Proof {
        case assertion(TokenAssertion)
        case digest(DigestFacts, AppSecret)
    }

    /// https.
    let address: String
    private let proof: Proof

    /// - Parameters:
    ///   - server: see `FetchedTokenSource.init`.
    ///   - file: where a key comes from, for messages.
    /// - Throws: a `Diagnostic` when the private key cannot be used.
    init(_ exchange: TokenExchange, _ identity: TokenIdentity, at server: Endpoint?, file: String?) throws(Diagnostic) {
        switch (exchange.proof, identity) {
        case (.assertion(let facts), .key(let key)):
            address = server.map { "https://\($0.authority)\(facts.path)" } ?? facts.address
            proof = .assertion(
                TokenAssertion(
                    issuer: key.issuer, keyID: key.keyID, scope: facts.scope, audience: address, seconds: facts.seconds,
                    key: try RSASigningKey(pem: key.privateKeyPEM, file: file)))
        case (.digest(let facts), .secret(let secret)):
            guard let server else { preconditionFailure("the server that takes the pushes gives out the tokens") }
            address = "https://\(server.authority)\(facts.path(secret.topic))"
            proof = .digest(facts, secret)
        default: preconditionFailure("an identity is of the kind that its service asks for")
        }
    }

    /// How answers are read: nil for as RFC 6749 says.
    var reading: DigestFacts? { if case .digest(let facts, _) = proof { facts } else { nil } }

    func asked(at now: Timestamp) -> Asked {
        switch proof {
        case .assertion(let assertion):
            let text = assertion.text(at: now)
            return Asked(contentType: "application/x-www-form-urlencoded", body: TokenAssertion.form(text), secret: text)
        case .digest(let facts, let secret):
            let parts = DigestFacts.Parts(topic: secret.topic, names: secret.names, milliseconds: now.epochMilliseconds)
            let digest = SHA256.hex(SHA256.digest(of: Array(facts.text(parts, secret.secret).utf8)))
            return Asked(
                contentType: "application/json;charset=utf-8", body: facts.body(parts, digest).text,
                secret: digest)
        }
    }
}
