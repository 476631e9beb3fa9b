import Base

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
