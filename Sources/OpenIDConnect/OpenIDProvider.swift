public import Base
import Delivery
import Synchronization

/// The provider that volley.yaml names, and Volley's place there.
public struct OpenIDSettings: Sendable {
    /// `https://login.example.com/realms/shop`
    public var issuer: String
    /// What the provider calls Volley.
    public var clientID: String
    /// nil for a client without one.
    public var clientSecret: String?
    /// The scopes to request in addition to `openid`.
    public var scopes: [String]
    /// The claim that roles follow from.
    public var rolesClaim: String
    /// The claim with the name to sign in with.
    public var nameClaim: String
    /// A PEM file with the only authority to trust; nil for the system's.
    public var certificateAuthorityFile: String?

    /// Creates settings.
    public init(
        issuer: String, clientID: String, clientSecret: String?, scopes: [String], rolesClaim: String,
        nameClaim: String,
        certificateAuthorityFile: String?
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.scopes = scopes
        self.rolesClaim = rolesClaim
        self.nameClaim = nameClaim
        self.certificateAuthorityFile = certificateAuthorityFile
    }
}

/// Signs people in through a provider: OpenID Connect Core 1.0 with the authorization code flow,
/// PKCE (RFC 7636), and the further requirements of RFC 9700. Calls send requests to the provider,
/// and block for some seconds at most. The provider's documents are kept for an hour.
public final class OpenIDProvider: Sendable {
    /// How long a description and keys are used.
    private static let keptSeconds: Int64 = 3600
    /// Keys are fetched at most once in this time for a token that is signed with an unknown one.
    private static let keyPauseSeconds: Int64 = 30
    /// How long a provider that failed is left alone.
    private static let failurePauseSeconds: Int64 = 5
    /// No provider has longer codes and states.
    private static let longestParameter = 4096

    private struct Kept<Value: Sendable>: Sendable {
        var value: Value
        var at: Timestamp

        func isNew(_ seconds: Int64, at now: Timestamp) -> Bool {
            let age = now.epochSeconds - at.epochSeconds
            return age >= 0 && age < seconds
        }
    }

    private struct Knowledge: Sendable {
        var document: Kept<ProviderDocument>?
        var keys: Kept<JSONWebKeys>?
        var failure: Kept<OpenIDProblem>?
    }

    /// Chooses the proxy on the way to a server; nil for none.
    public typealias Proxy = @Sendable (_ host: String, _ port: Int) throws -> ProxyAddress?

    private let settings: @Sendable () throws -> OpenIDSettings
    private let proxy: Proxy
    private let known = Mutex(Knowledge())

    /// - Parameters:
    ///   - settings: read for each sign-in, so that a secret may change. `issuer` stays the same.
    public init(settings: @escaping @Sendable () throws -> OpenIDSettings, proxy: @escaping Proxy) {
        self.settings = settings
        self.proxy = proxy
    }

    /// The address where the person signs in.
    /// - Parameter redirect: the address to return to; registered with the provider.
    /// - Throws: `OpenIDProblem`; what `settings` and `proxy` throw.
    public func address(for attempt: OpenIDAttempt, redirect: String, at now: Timestamp) throws -> String {
        let settings = try settings()
        let document = try document(settings, at: now)
        var fields = [
            ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", redirect),
            ("scope", (["openid"] + settings.scopes.filter { $0 != "openid" }).joined(separator: " ")),
            ("state", attempt.state),
            ("nonce", attempt.nonce), ("code_challenge", attempt.challenge), ("code_challenge_method", "S256"),
        ]
        if case .proof = attempt.purpose { fields += [("prompt", "login"), ("max_age", "0")] }
        let endpoint = document.authorizationEndpoint
        return endpoint + (endpoint.contains("?") ? "&" : "?") + WebForm.text(fields)
    }

    /// The person that signed in.
    /// - Parameters:
    ///   - answer: the query with which the browser came back.
    ///   - redirect: the same as for `address`.
    /// - Throws: `OpenIDProblem`; what `settings` and `proxy` throw.
    public func identity(for attempt: OpenIDAttempt, _ answer: [String: String], redirect: String, at now: Timestamp)
        throws
        -> OpenIDIdentity
    {
        let settings = try settings()
        let document = try document(settings, at: now)
        // Before anything else in the answer counts (RFC 9207, section 2.4).
        guard answer["iss"].map({ $0 == settings.issuer }) ?? !document.namesItself else { throw OpenIDProblem.mixedUp }
        if let error = answer["error"] { throw OpenIDProblem(ended: error, description: answer["error_description"]) }
        guard let code = answer["code"], !code.isEmpty, code.utf8.count <= Self.longestParameter else {
            throw OpenIDProblem.noCode
        }
        let tokens = try tokens(for: code, attempt, redirect, document, settings)
        guard let text = tokens["id_token"]?.stringValue else {
            throw OpenIDProblem.unreadable(.token, "there is no id_token")
        }
        let accessToken = tokens["access_token"]?.stringValue
        let token = try IDToken(text)
        let claims = try token.checked(
            with: key(for: token, document, settings, at: now),
            .init(issuer: settings.issuer, clientID: settings.clientID, nonce: attempt.nonce, accessToken: accessToken),
            at: now)
        let authenticatedAt = IDToken.authenticatedAt(claims, at: now)
        if case .proof = attempt.purpose {
            guard let authenticatedAt else { throw OpenIDProblem.noProofTime }
            // The clocks may differ a little.
            guard authenticatedAt >= attempt.startedAt.adding(seconds: -60) else { throw OpenIDProblem.notProvedAgain }
        }
        let further = try furtherClaims(claims, accessToken, document, settings)
        func claim(_ name: String) -> JSONValue? {
            Claim.value(name, in: claims) ?? further.flatMap { Claim.value(name, in: $0) }
        }
        return OpenIDIdentity(
            issuer: settings.issuer, subject: claims["sub"]?.stringValue ?? "", authenticatedAt: authenticatedAt,
            name: claim(settings.nameClaim)?.stringValue, displayName: claim("name")?.stringValue,
            groups: Claim.texts(claim(settings.rolesClaim)))
    }

    /// The claims of the userinfo endpoint, if the ID token leaves something out (OpenID Connect
    /// Core 1.0, section 5.3).
    private func furtherClaims(
        _ claims: JSONValue, _ accessToken: String?, _ document: ProviderDocument, _ settings: OpenIDSettings
    ) throws -> JSONValue? {
        let isComplete = [settings.rolesClaim, settings.nameClaim].allSatisfy { Claim.value($0, in: claims) != nil }
        guard !isComplete, let endpoint = document.userinfoEndpoint, let accessToken,
            accessToken.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        let answer = try ask(
            WebRequest(url: endpoint, headers: [("Authorization", "Bearer \(accessToken)")]), .userinfo, settings)
        guard let subject = answer["sub"]?.stringValue, subject == claims["sub"]?.stringValue else {
            throw OpenIDProblem.otherPerson
        }
        return answer
    }

    private func tokens(
        for code: String, _ attempt: OpenIDAttempt, _ redirect: String, _ document: ProviderDocument,
        _ settings: OpenIDSettings
    ) throws -> JSONValue {
        var fields = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect),
            ("code_verifier", attempt.verifier),
        ]
        var headers: [(name: String, value: String)] = []
        if let secret = settings.clientSecret {
            // Both are encoded first (RFC 6749, section 2.3.1). Some providers do not decode them,
            // so if encoding changes something and the provider also accepts them in the form, they
            // are sent there.
            let (plain, encoded) = (
                settings.clientID + secret, WebForm.encoded(settings.clientID) + ":" + WebForm.encoded(secret)
            )
            if document.clientAuthentication == .post
                || document.clientAuthentication == .either && WebForm.encoded(plain) != plain
            {
                fields += [("client_id", settings.clientID), ("client_secret", secret)]
            } else {
                headers.append(("Authorization", "Basic \(Base64.text(Array(encoded.utf8)))"))
            }
        } else {
            fields.append(("client_id", settings.clientID))
        }
        let request = WebRequest(url: document.tokenEndpoint, headers: headers, form: WebForm.text(fields))
        return try ask(
            request, .token, settings, hiding: [code, attempt.verifier] + (settings.clientSecret.map { [$0] } ?? []))
    }

    private func key(
        for token: IDToken, _ document: ProviderDocument, _ settings: OpenIDSettings, at now: Timestamp
    ) throws -> JSONWebKeys.Key {
        let kept = known.withLock(\.keys)
        if let kept, kept.isNew(Self.keptSeconds, at: now) {
            if let key = kept.value.find(id: token.keyID, algorithm: token.algorithm) { return key }
            // The provider may have a new one.
            guard !kept.isNew(Self.keyPauseSeconds, at: now) else { throw OpenIDProblem.token(.unknownKey) }
        }
        let keys = try JSONWebKeys(ask(WebRequest(url: document.keysAddress), .keys, settings))
        known.withLock { $0.keys = Kept(value: keys, at: now) }
        guard let key = keys.find(id: token.keyID, algorithm: token.algorithm) else {
            throw OpenIDProblem.token(.unknownKey)
        }
        return key
    }

    private func document(_ settings: OpenIDSettings, at now: Timestamp) throws -> ProviderDocument {
        let knowledge = known.withLock(\.self)
        if let kept = knowledge.document, kept.isNew(Self.keptSeconds, at: now) { return kept.value }
        // A flood of requests here does not become one there.
        if let failure = knowledge.failure, failure.isNew(Self.failurePauseSeconds, at: now) { throw failure.value }
        do {
            let json = try ask(WebRequest(url: ProviderDocument.address(of: settings.issuer)), .discovery, settings)
            let document = try ProviderDocument(json, of: settings.issuer)
            known.withLock { ($0.document, $0.failure) = (Kept(value: document, at: now), nil) }
            return document
        } catch let problem as OpenIDProblem {
            known.withLock { $0.failure = Kept(value: problem, at: now) }
            throw problem
        }
    }

    /// - Parameter secrets: values that the provider might repeat in the description of an error;
    ///   they are removed from it.
    private func ask(
        _ request: WebRequest, _ endpoint: OpenIDProblem.Endpoint, _ settings: OpenIDSettings,
        hiding secrets: [String] = []
    ) throws -> JSONValue {
        var request = request
        request.certificateAuthorityFile = settings.certificateAuthorityFile
        let server = HostPort(request.url.dropFirst("https://".count).prefix { !"/?".contains($0) })
        request.proxy = try proxy(server.plainHost, server.port ?? 443)
        switch request.run() {
        case .failed(let reason): throw OpenIDProblem.unreachable(endpoint, TextFormat.foreign(reason))
        case .tooLarge: throw OpenIDProblem.tooLarge(endpoint)
        case .answered(let status, let body):
            let json = try? JSONValue(parsing: body, maximumDepth: 32)
            guard status == 200 else {
                let description = json?["error_description"]?.stringValue
                let isSafe = secrets.allSatisfy { description?.contains($0) == false }
                throw OpenIDProblem.refused(
                    endpoint, status: status,
                    code: OpenIDProblem.text(json?["error"]?.stringValue ?? "", description: isSafe ? description : nil)
                )
            }
            guard let json, case .object = json else {
                throw OpenIDProblem.unreadable(endpoint, "it is no JSON object")
            }
            return json
        }
    }
}

/// application/x-www-form-urlencoded, in queries and in bodies (RFC 6749, appendix B).
enum WebForm {
    /// `a=1&b=2`
    static func text(_ fields: [(String, String)]) -> String {
        fields.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
    }

    /// Everything but letters, digits and `-._~` as `%41`.
    static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + TextFormat.hex(byte, digits: 2, uppercase: true)
            }
        }
    }
}

/// The person that signed in, as the provider describes them. Texts are unchanged: they have any
/// characters, and any length that fits into an answer.
public struct OpenIDIdentity: Hashable, Sendable {
    /// The provider.
    public let issuer: String
    /// The permanent identifier of the person at the provider: 1 to 255 bytes. A name or an address
    /// may belong to another person tomorrow (OpenID Connect Core 1.0, section 5.7).
    public let subject: String
    /// When the person last signed in at the provider; nil if it does not say.
    public let authenticatedAt: Timestamp?
    /// The person's name there, for example an email address; nil without one.
    public let name: String?
    /// The person's full name; nil without one.
    public let displayName: String?
    /// The values of the claim that roles follow from.
    public let groups: [String]
}

/// Claims by their names.
enum Claim {
    /// A claim: `groups`; if no claim has the name, a part of one: `realm_access.roles`.
    static func value(_ name: String, in claims: JSONValue) -> JSONValue? {
        if let value = claims[name] { return value }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return nil }
        return parts.reduce(Optional(claims)) { value, part in value?[String(part)] }
    }

    /// The texts of a claim that is one, or a list of some.
    static func texts(_ value: JSONValue?) -> [String] {
        switch value {
        case .string(let one)?: [one]
        case .array(let several)?: several.compactMap(\.stringValue)
        default: []
        }
    }
}
