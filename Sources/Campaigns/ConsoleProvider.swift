public import Base

/// `console: {oidc: …}` of volley.yaml: a provider of identities by which people sign in (OpenID
/// Connect).
public struct ConsoleProvider: Sendable {
    /// The claim with the name to sign in with, if none is named (OpenID Connect Core 1.0, section
    /// 5.1).
    public static let usualNameClaim = "preferred_username"
    /// The scopes that are requested in addition to `openid` by default.
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
    /// What values of that claim give, in the order of the file. A person gets the roles of all
    /// their values.
    public var roles: [(value: String, roles: [ClaimedRole])]
    /// What the button calls the provider; nil for its host.
    public var name: SourceText?
    /// The claim with the name to sign in with.
    public var nameClaim: String
    /// The scopes that are requested in addition to `openid`.
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

/// `console` of volley.yaml: how `volley serve` shows campaigns and runs in a browser. It has no
/// effect on sending.
public struct ConsoleSettings: Sendable {
    /// Where the console listens by default.
    public static let usualAddress = "127.0.0.1:8181"

    /// `https://push.example.com`, the console's address as people type it; nil when it is used on
    /// this machine only.
    public var publicURL: SourceText?
    /// The reverse proxies that may set `X-Forwarded-For`, `-Proto` and `-Host`. From other
    /// addresses these headers are ignored.
    public var proxies: [AddressRange]
    /// Folders with the campaigns and exports that the console may name, as written; that of
    /// volley.yaml when empty.
    public var roots: [SourceText]
    /// The provider of identities by which people sign in; nil where all have passwords.
    public var provider: ConsoleProvider?
}

/// Addresses that begin with the same bits: `10.0.0.0/8`, or a single address (RFC 4632, section
/// 3.1).
///
/// ```swift
/// let office = AddressRange("10.0.0.0/8")
/// let isInside = IPAddress("10.1.2.3").flatMap { office?.contains($0) }  // true
/// ```
public struct AddressRange: Hashable, Sendable {
    /// The first address of the range.
    public let first: IPAddress
    /// How many of its leading bits count: up to 32 for IPv4, up to 128 for IPv6.
    public let prefixBits: Int

    /// nil if the text is neither an address nor a range, or a range that does not begin at its
    /// first address, such as `10.0.0.1/8`.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = IPAddress(String(parts[0])) else { return nil }
        let all = first.bytes.count * 8
        guard parts.count > 1 else {
            (self.first, prefixBits) = (first, all)
            return
        }
        guard parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let bits = Int(parts[1]), bits <= all,
            (bits..<all).allSatisfy({ first.bytes[$0 / 8] & (0x80 >> ($0 % 8)) == 0 })
        else { return nil }
        (self.first, prefixBits) = (first, bits)
    }

    /// Whether an address is in the range. An IPv4 address is in no range of IPv6 addresses, and
    /// the other way round.
    public func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        return (0..<prefixBits).allSatisfy { (address.bytes[$0 / 8] ^ first.bytes[$0 / 8]) & (0x80 >> ($0 % 8)) == 0 }
    }
}
