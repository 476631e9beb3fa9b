import Base
import Cryptography

/// The parts of a provider's description of itself that Volley needs (OpenID Connect Discovery 1.0,
/// section 3).
struct ProviderDocument: Sendable {
    /// How Volley authenticates to a token endpoint (OpenID Connect Core 1.0, section 9).
    enum ClientAuthentication: Sendable {
        case basic, post
        /// The provider takes both.
        case either
    }

    let authorizationEndpoint: String
    let tokenEndpoint: String
    let keysAddress: String
    /// nil where the provider has none.
    let userinfoEndpoint: String?
    let clientAuthentication: ClientAuthentication
    /// Whether the provider names itself in its answers (RFC 9207, section 3).
    let namesItself: Bool

    /// Where a provider's document is (section 4).
    static func address(of issuer: String) -> String {
        (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
    }

    /// - Parameter issuer: the provider of the request: a document that names another one is
    ///   refused (section 4.3), as it might redirect sign-ins there.
    init(_ json: JSONValue, of issuer: String) throws(OpenIDProblem) {
        guard let named = json["issuer"]?.stringValue, named == issuer else {
            let named = TextFormat.foreign(json["issuer"]?.stringValue ?? "", maximumBytes: 200)
            throw .unreadable(.discovery, "it calls itself '\(named)', and volley.yaml must name the issuer exactly so")
        }
        func address(_ key: String) throws(OpenIDProblem) -> String {
            guard let text = json[key]?.stringValue, Self.isAddress(text) else {
                throw .unreadable(.discovery, "\(key) is no https address")
            }
            return text
        }
        authorizationEndpoint = try address("authorization_endpoint")
        tokenEndpoint = try address("token_endpoint")
        keysAddress = try address("jwks_uri")
        userinfoEndpoint = json["userinfo_endpoint"] == nil ? nil : try address("userinfo_endpoint")
        namesItself = json["authorization_response_iss_parameter_supported"] == .bool(true)
        guard case .array(let methods)? = json["token_endpoint_auth_methods_supported"],
            methods.contains(.string("client_secret_post"))
        else {
            clientAuthentication = .basic
            return
        }
        clientAuthentication = methods.contains(.string("client_secret_basic")) ? .either : .post
    }

    /// An address that requests may go to, and that a header may contain.
    private static func isAddress(_ text: String) -> Bool {
        guard text.utf8.count <= 2000, text.lowercased().hasPrefix("https://") else { return false }
        let rest = text.dropFirst("https://".count)
        let authority = rest.prefix { !"/?".contains($0) }
        return !authority.isEmpty && !authority.contains("@")
            && rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
    }
}

/// The keys that a provider signs with now (RFC 7517), as far as Volley can check signatures with
/// them.
struct JSONWebKeys: Sendable {
    /// A key. Its algorithm follows from the key, never from the token that is checked with it.
    enum Key: Sendable {
        case rs256(RSAVerificationKey)
        case es256(VerificationKey)

        var algorithm: String {
            switch self {
            case .rs256: "RS256"
            case .es256: "ES256"
            }
        }

        func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
            switch self {
            case .rs256(let key): key.isValid(signature, for: message)
            case .es256(let key): key.isValid(signature, for: message)
            }
        }
    }

    /// No provider has nearly this number.
    private static let most = 100

    private let keys: [(id: String?, key: Key)]

    /// Keys of other kinds and for other uses are left out (RFC 7517, section 5).
    init(_ json: JSONValue) throws(OpenIDProblem) {
        guard case .array(let values)? = json["keys"] else { throw .unreadable(.keys, "there is no list of keys") }
        keys = values.prefix(Self.most).compactMap { value in Self.key(value).map { (value["kid"]?.stringValue, $0) } }
    }

    /// The keys that may have signed a token: the one that it names, or, where it names none, the
    /// only one of its algorithm (OpenID Connect Core 1.0, section 10.1).
    func find(id: String?, algorithm: String) -> Key? {
        let fitting = keys.filter { $0.key.algorithm == algorithm }
        guard let id else { return fitting.count == 1 ? fitting[0].key : nil }
        return fitting.first { $0.id == id }?.key
    }

    private static func key(_ json: JSONValue) -> Key? {
        guard json["use"].map({ $0 == .string("sig") }) ?? true else { return nil }
        if case .array(let operations)? = json["key_ops"], !operations.contains(.string("verify")) { return nil }
        func number(_ name: String) -> [UInt8]? { json[name]?.stringValue.flatMap { Base64URL.bytes($0) } }
        let key: Key?
        switch json["kty"]?.stringValue {
        case "RSA":
            guard let modulus = number("n"), let exponent = number("e") else { return nil }
            key = RSAVerificationKey(modulus: modulus, exponent: exponent).map { .rs256($0) }
        case "EC" where json["crv"] == .string("P-256"):
            guard let x = number("x"), let y = number("y") else { return nil }
            key = VerificationKey(x: x, y: y).map { .es256($0) }
        default: return nil
        }
        guard let key, json["alg"].map({ $0 == .string(key.algorithm) }) ?? true else { return nil }
        return key
    }
}
