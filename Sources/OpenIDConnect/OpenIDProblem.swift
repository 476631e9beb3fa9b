import Base

/// Why a sign-in through a provider fails. No case holds a token, a code or a secret. The
/// provider's own words are shortened, and only for the log.
public enum OpenIDProblem: Error, Hashable, Sendable {
    /// What is asked of a provider.
    public enum Endpoint: String, Hashable, Sendable {
        case discovery = "its description (/.well-known/openid-configuration)"
        case keys = "its keys (jwks_uri)"
        case token = "its token endpoint"
        case userinfo = "its userinfo endpoint"
    }

    /// What is wrong with an ID token.
    public enum TokenFlaw: String, Hashable, Sendable {
        case form = "it is no signed token of three parts"
        case algorithm = "it is signed otherwise than by RS256 or ES256"
        case criticalHeader = "its header demands what Volley does not know"
        case unknownKey = "it is signed with a key that the provider does not publish"
        case signature = "its signature is wrong"
        case claims = "its claims cannot be read"
        case issuer = "another provider issued it"
        case audience = "it is for another client"
        case authorizedParty = "it was issued to another client"
        case expired = "it has expired; check the clocks of both machines"
        case issuedAt = "it was not issued just now; check the clocks of both machines"
        case nonce = "it belongs to another sign-in"
        case subject = "it does not say who signed in"
        case accessToken = "it belongs to another access token"
    }

    /// No answer came, for this reason.
    case unreachable(Endpoint, String)
    /// The answer is larger than is read.
    case tooLarge(Endpoint)
    /// The answer is an error.
    /// - Parameter code: the provider's name for it and its description, shortened; blank without
    ///   them.
    case refused(Endpoint, status: Int, code: String)
    /// The answer is not what it should be.
    case unreadable(Endpoint, String)
    /// No sign-in of this browser is under way: it was not begun here, or another one was begun
    /// since.
    case notBegun
    /// The sign-in was begun too long ago.
    case lapsed
    /// The sign-in was used already.
    case used
    /// The provider ended the sign-in: the person refused, or may not use Volley there.
    /// - Parameter code: the provider's name for it and its description, shortened.
    case denied(code: String)
    /// The provider ended the sign-in because of Volley's request, or of its own fault.
    /// - Parameter code: the provider's name for it and its description, shortened.
    case failed(code: String)
    /// The answer came from another provider (RFC 9207).
    case mixedUp
    /// The answer holds no code.
    case noCode
    /// The ID token cannot be accepted.
    case token(TokenFlaw)
    /// The userinfo endpoint answered about another person.
    case otherPerson
    /// The provider did not have the person sign in again.
    case notProvedAgain
    /// The provider does not say when the person signed in.
    case noProofTime

    /// What happened, for the log.
    public var sentence: String {
        switch self {
        case .unreachable(let endpoint, let reason): "the provider cannot be asked for \(endpoint.rawValue): \(reason)"
        case .tooLarge(let endpoint): "the provider's answer is too large: \(endpoint.rawValue)"
        case .refused(let endpoint, let status, let code):
            "the provider answered \(status)\(code.isEmpty ? "" : " \(code)"): \(endpoint.rawValue)"
        case .unreadable(let endpoint, let what): "the provider's answer is of no use: \(endpoint.rawValue): \(what)"
        case .notBegun: "no sign-in of this browser is under way"
        case .lapsed: "the sign-in was begun too long ago"
        case .used: "the sign-in was used already"
        case .denied(let code): "the provider ended the sign-in: \(code)"
        case .failed(let code): "the provider cannot sign people in as volley.yaml says: \(code)"
        case .mixedUp: "the answer came from another provider"
        case .noCode: "the provider's answer holds no code"
        case .token(let flaw): "the ID token cannot be accepted: \(flaw.rawValue)"
        case .otherPerson: "the userinfo endpoint answered about another person"
        case .notProvedAgain: "the provider did not have the person sign in anew, as its auth_time shows"
        case .noProofTime:
            "the provider does not say when the person signed in: its ID token has no auth_time that can be right, although max_age was sent"
        }
    }

    /// Whether beginning again may help, as nothing is wrong with the provider or with volley.yaml.
    public var isOfThisAttempt: Bool {
        switch self {
        case .notBegun, .lapsed, .used, .denied, .notProvedAgain: true
        default: false
        }
    }
}

extension OpenIDProblem {
    /// What a person decided, or what the provider decided about the person: RFC 6749, section
    /// 4.1.2.1; OpenID Connect Core 1.0, section 3.1.2.6. With every other code, beginning again
    /// does not help.
    private static let personal: Set<String> = [
        "access_denied", "login_required", "consent_required", "interaction_required", "account_selection_required",
    ]

    /// The provider sent the browser back with an error.
    public init(ended code: String, description: String?) {
        let text = Self.text(code, description: description)
        self = Self.personal.contains(code) ? .denied(code: text) : .failed(code: text)
    }

    /// `invalid_scope (Unknown scope: groups)`
    static func text(_ code: String, description: String?) -> String {
        let code = TextFormat.foreign(code, maximumBytes: 60)
        guard let description, !description.isEmpty else { return code }
        return "\(code) (\(TextFormat.foreign(description, maximumBytes: 200)))"
    }
}
