public import Base
public import Cryptography

/// The access tokens that the simulator gave out, and the exchange of assertions for them.
/// Source: RFC 7523, and Google, "Using OAuth 2.0 for Server to Server Applications".
struct AccessTokens {
    private struct Token {
        var bytes: [UInt8]
        /// The index of the account it was given to.
        var account: Int
        var end: Timestamp
        /// Whether it is good for all of Google's cloud, and so for the Data API.
        var isOfCloud: Bool
        var uses = 0
    }

    /// What a request's header says.
    enum Bearer {
        case account(Int)
        case refused(FCMError)
    }

    static let longestAssertionSeconds: Int64 = 3600
    /// How far a sender's clock may be ahead.
    static let clockSkewSeconds: Int64 = 300
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// One of them is enough. Source: firebase.google.com, "Method: projects.messages.send",
    /// authorization scopes.
    static let scopes: Set<Substring> = ["https://www.googleapis.com/auth/firebase.messaging", cloudScope]
    private static let cloudScope: Substring = "https://www.googleapis.com/auth/cloud-platform"
    /// What Google's own SDKs write as the claim `aud`, wherever they send the assertion:
    /// google-auth for Python and Node, and older SDKs.
    static let audiencesOfGoogle: Set = [
        "https://oauth2.googleapis.com/token", "https://accounts.google.com/o/oauth2/token",
        "https://www.googleapis.com/oauth2/v4/token",
    ]
    /// From this number on, tokens that have ended are forgotten.
    private static let manyTokens = 256

    private let accounts: [TrustedServiceAccount]
    private let audiences: Set<String>
    private let tokenSeconds: Int
    /// After this many uses a token is revoked; 0 for never.
    private let mostUses: Int
    private var tokens: [Token] = []
    /// The number of access tokens that were used.
    private(set) var usedTokens = 0

    /// - Parameter audiences: the claim `aud` must be one of them.
    init(_ settings: IssuerSettings, audiences: Set<String>) {
        accounts = settings.accounts
        tokenSeconds = settings.tokenSeconds
        mostUses = settings.messagesPerToken
        self.audiences = audiences
    }

    // MARK: Use

    /// The account that a header `authorization` stands for.
    /// - Parameter needsCloud: whether the token must be good for more than messages.
    mutating func bearer(_ header: UnsafeBufferPointer<UInt8>?, needsCloud: Bool = false, now: Timestamp) -> Bearer {
        let scheme: StaticString = "bearer "
        guard let header, header.count > scheme.utf8CodeUnitCount,
            zip(header, scheme.bytes).allSatisfy({ $0 | 0x20 == $1 })
        else {
            return .refused(
                .unauthenticated(
                    "Request is missing required authentication credential. Expected OAuth 2 access token.",
                    "CREDENTIALS_MISSING"))
        }
        let text = UnsafeBufferPointer(rebasing: header[scheme.utf8CodeUnitCount...])
        let index = tokens.lastIndex { areEqual(text, right: $0.bytes) }
        guard let index, now < tokens[index].end, mostUses == 0 || tokens[index].uses < mostUses else {
            return .refused(
                .unauthenticated(
                    "Request had invalid authentication credentials. Expected OAuth 2 access token.",
                    index == nil ? "ACCESS_TOKEN_TYPE_UNSUPPORTED" : "ACCESS_TOKEN_EXPIRED"))
        }
        guard !needsCloud || tokens[index].isOfCloud else { return .refused(.permissionDenied) }
        if tokens[index].uses == 0 { usedTokens += 1 }
        tokens[index].uses += 1
        return .account(tokens[index].account)
    }

    // MARK: Exchange

    /// Answers a form that requests a token.
    mutating func exchange(_ form: [UInt8], now: Timestamp) -> FCMReply {
        guard let fields = Self.fields(form) else { return Self.refusal("invalid_request", "The form cannot be read.") }
        guard let grant = fields["grant_type"] else {
            return Self.refusal("invalid_request", "Required parameter is missing: grant_type")
        }
        guard grant == Self.grantType else {
            return Self.refusal("unsupported_grant_type", "Invalid grant_type: \(grant)")
        }
        guard let assertion = fields["assertion"] else {
            return Self.refusal("invalid_request", "Required parameter is missing: assertion")
        }
        switch account(ofAssertion: Array(assertion.utf8), now: now) {
        case .account(let account, let isOfCloud): return giveOut(to: account, isOfCloud: isOfCloud, now: now)
        case .refused(let reply): return reply
        }
    }

    private mutating func giveOut(to account: Int, isOfCloud: Bool, now: Timestamp) -> FCMReply {
        let digits = (0..<40).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
        let text = "ya29.simulator-\(digits)"
        if tokens.count >= Self.manyTokens { tokens.removeAll { $0.end <= now } }
        let end = now.adding(seconds: Double(tokenSeconds))
        tokens.append(Token(bytes: Array(text.utf8), account: account, end: end, isOfCloud: isOfCloud))
        let body = #"{"access_token":"\#(text)","expires_in":\#(tokenSeconds),"token_type":"Bearer"}"#
        return FCMReply(status: 200, reason: "", text: Array(body.utf8))
    }

    /// What an assertion says.
    private enum Verdict {
        case account(Int, isOfCloud: Bool)
        case refused(FCMReply)

        static func invalidGrant(_ description: String) -> Verdict {
            .refused(AccessTokens.refusal("invalid_grant", description))
        }
    }

    private func account(ofAssertion assertion: [UInt8], now: Timestamp) -> Verdict {
        let parts = assertion.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = decodeTokenPart(parts[0]), let claims = decodeTokenPart(parts[1]),
            let signature = decodeBase64URL(parts[2]),
            header["alg"]?.stringValue == "RS256"
        else { return .invalidGrant("Invalid JWT: it must have three parts and be signed with RS256.") }
        let issuer = claims["iss"]?.stringValue
        guard accounts.contains(where: { $0.clientEmail == issuer }) else {
            return .invalidGrant("Invalid grant: account not found")
        }
        let keyID = header["kid"]?.stringValue
        guard let index = accounts.firstIndex(where: { $0.clientEmail == issuer && $0.keyID == keyID }),
            accounts[index].key.isValid(signature, for: Array(assertion[..<parts[1].endIndex]))
        else { return .invalidGrant("Invalid JWT Signature.") }
        guard Self.isInTime(claims, now: now) else {
            return .invalidGrant(
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp "
                    + "values in the JWT claim.")
        }
        guard let audience = claims["aud"]?.stringValue, audiences.contains(audience) else {
            return .invalidGrant("Invalid JWT: Failed audience check.")
        }
        guard let scopes = claims["scope"]?.stringValue?.split(separator: " "), !Self.scopes.isDisjoint(with: scopes)
        else {
            return .refused(Self.refusal("invalid_scope", "Invalid OAuth scope or ID token audience provided."))
        }
        return .account(index, isOfCloud: scopes.contains(Self.cloudScope))
    }

    private static func isInTime(_ claims: JSONValue, now: Timestamp) -> Bool {
        guard let issued = claims["iat"]?.tokenSeconds, let end = claims["exp"]?.tokenSeconds else { return false }
        // An assertion that has not ended began at most so long ago. Checked first, it keeps the
        // sums below from overflowing.
        guard issued > now.epochSeconds - longestAssertionSeconds, issued <= now.epochSeconds + clockSkewSeconds else {
            return false
        }
        return end > now.epochSeconds && end > issued && end <= issued + longestAssertionSeconds
    }

    /// An error of OAuth: RFC 6749 section 5.2.
    static func refusal(_ error: String, _ description: String) -> FCMReply {
        var text: [UInt8] = []
        JSONValue.object(pairs: [("error", .string(error)), ("error_description", .string(description))]).append(
            to: &text)
        return FCMReply(status: 400, reason: error, text: text)
    }

    // MARK: Forms

    /// The fields of a form (application/x-www-form-urlencoded); nil if it is malformed or a field
    /// occurs twice.
    static func fields(_ form: [UInt8]) -> [String: String]? {
        var fields: [String: String] = [:]
        for pair in form.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = decode(parts[0]), let value = decode(parts[1]), fields[name] == nil
            else { return nil }
            fields[name] = value
        }
        return fields
    }

    private static func decode(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, digits.allSatisfy(isHexDigit),
                    let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// A service account of Google, made by the simulator: its file is what a sender reads.
public struct SimulatedServiceAccount: Sendable {
    /// The project that the account may send messages of.
    public var project: String
    /// The account's name, the claim `iss` of its assertions.
    public var clientEmail: String
    /// The header `kid` of its assertions.
    public var keyID: String
    /// The key that signs them. A secret.
    public var key: RSASigningKey

    /// A new account with a new key.
    public static func generate(project: String) -> SimulatedServiceAccount {
        var random = SystemRandomNumberGenerator()
        let keyID = (0..<40).map { _ in String(Int.random(in: 0..<16, using: &random), radix: 16) }.joined()
        return SimulatedServiceAccount(
            project: project, clientEmail: "volley@\(project).iam.gserviceaccount.com", keyID: keyID, key: .generate())
    }

    /// An account from its parts.
    public init(project: String, clientEmail: String, keyID: String, key: RSASigningKey) {
        self.project = project
        self.clientEmail = clientEmail
        self.keyID = keyID
        self.key = key
    }

    /// Reads the file of an account.
    /// - Throws: a `Mistake` that names the member that is missing, or says what is wrong with the
    ///   key.
    public init(json: String) throws(Mistake) {
        let file = try JSONValue(parsing: json)
        func member(_ name: String) throws(Mistake) -> String {
            guard let text = file[name]?.stringValue, !text.isEmpty else {
                throw Mistake("this is not the file of a service account: it has no \(name)")
            }
            return text
        }
        guard try member("type") == "service_account" else {
            throw Mistake("this is not the file of a service account, but of another type")
        }
        let pem = try member("private_key")
        let key: RSASigningKey
        do throws(Diagnostic) { key = try RSASigningKey(pem: pem) } catch {
            throw Mistake(error.message, remedy: error.remedy)
        }
        self.init(
            project: try member("project_id"), clientEmail: try member("client_email"),
            keyID: try member("private_key_id"), key: key)
    }

    /// The file of the account, as Google writes it. A secret.
    /// - Parameter tokenURI: where its assertions are exchanged for access tokens.
    public func json(tokenURI: String) -> String {
        var bytes: [UInt8] = []
        JSONValue.object(pairs: [
            ("type", .string("service_account")), ("project_id", .string(project)), ("private_key_id", .string(keyID)),
            ("private_key", .string(key.pem)), ("client_email", .string(clientEmail)), ("token_uri", .string(tokenURI)),
        ]).append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self) + "\n"
    }

    /// What a simulator must know of the account.
    public var trusted: TrustedServiceAccount {
        TrustedServiceAccount(project: project, clientEmail: clientEmail, keyID: keyID, key: key.verificationKey)
    }
}

/// An account that a simulator accepts assertions of.
public struct TrustedServiceAccount: Sendable {
    /// The project that it may send messages of.
    public var project: String
    /// The claim `iss`.
    public var clientEmail: String
    /// The header `kid`.
    public var keyID: String
    /// The public key that verifies the signature.
    public var key: RSAVerificationKey

    /// A trusted account.
    public init(project: String, clientEmail: String, keyID: String, key: RSAVerificationKey) {
        self.project = project
        self.clientEmail = clientEmail
        self.keyID = keyID
        self.key = key
    }
}

/// What only the simulator of FCM has.
public struct IssuerSettings: Sendable {
    /// The accounts from which assertions are accepted. Their projects are the ones that exist.
    public var accounts: [TrustedServiceAccount] = []
    /// How long an access token is valid.
    public var tokenSeconds = 3600
    /// The details of refusals.
    public var errorDetails = RefusalDetails.both
    /// How many messages a minute are taken before QUOTA_EXCEEDED; 0 for any number.
    public var messagesPerMinute = 0
    /// After how many messages an access token is revoked, as an administrator may do, and refused
    /// as UNAUTHENTICATED; 0 for never.
    public var messagesPerToken = 0
    /// After how many lists the text of lists is forgotten, where a service keeps it; 0 for never.
    public var listsPerTask = 0
    /// How many targets of lists are taken in a day.
    public var listTargetsPerDay = 2_000_000

    /// The settings of a simulator without an account.
    public init() {}
}

extension SimulatorConfiguration {
    /// Makes the simulator give out tokens for an account, too.
    public mutating func trust(_ account: TrustedServiceAccount) { issuer.accounts.append(account) }
}

/// The details of FCM's refusals. Google's vary, and may be absent.
public enum RefusalDetails: String, CaseIterable, Sendable {
    /// The word of FCM, and the field that is wrong if there is one.
    case both
    /// The word of FCM alone; the field if there is no such word.
    case one
    case none
}
