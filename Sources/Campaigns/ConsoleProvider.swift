public import Base

/// `console: {oidc: …}` of volley.yaml: a provider of identities by which people sign in (OpenID Connect).
public struct ConsoleProvider: Sendable {
    /// The claim with the name to sign in with, if none is named (OpenID Connect Core 1.0, section 5.1).
    public static let usualNameClaim = "preferred_username"
    /// What is asked for besides `openid`, if nothing is named.
    public static let usualScopes = ["profile", "email"]

    /// Where the client's secret is.
    public enum Secret: Sendable {
        /// A file that holds it alone.
        case file(SourceText)
        /// An environment variable.
        case variable(SourceText)
    }

    /// `https://login.example.com/realms/shop`, exactly as the provider calls itself.
    public var issuer: SourceText
    /// What the provider calls Volley.
    public var clientID: SourceText
    /// nil for a public client.
    public var clientSecret: Secret?
    /// The claim that roles follow from; a part of one as `realm_access.roles`.
    public var rolesClaim: String
    /// What values of that claim give, in the order of the file. A person gets the roles of all their values.
    public var roles: [(value: String, roles: [ClaimedRole])]
    /// What the button calls the provider; nil for its host.
    public var name: SourceText?
    /// The claim with the name to sign in with.
    public var nameClaim: String
    /// What is asked for besides `openid`.
    public var scopes: [String]
    /// A PEM file with the only authority to trust; nil for the system's.
    public var certificateAuthority: SourceText?
    /// Whether the sign-in page shows no form for passwords.
    public var isOnly: Bool

    /// The host of the issuer.
    public var host: String { String(issuer.value.dropFirst("https://".count).prefix { $0 != "/" }) }
}

/// A role as volley.yaml writes it: `administrator`, or `editor:shop`.
public struct ClaimedRole: Hashable, Sendable {
    /// The roles of the console, by their names.
    public enum Role: String, CaseIterable, Sendable {
        case viewer, editor, approver, administrator
    }

    /// The role.
    public var role: Role
    /// An app of volley.yaml; nil for all apps.
    public var app: String?

    /// Creates a role.
    public init(_ role: Role, app: String?) {
        self.role = role
        self.app = app
    }
}
