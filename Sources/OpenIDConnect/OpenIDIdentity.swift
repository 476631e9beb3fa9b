public import Base

/// Who signed in, as a provider says it. Texts are as they came: of any length below that of an answer, with any characters.
public struct OpenIDIdentity: Hashable, Sendable {
    /// The provider.
    public let issuer: String
    /// Whom the provider means, for ever: 1 to 255 bytes. A name or an address may be another's tomorrow (OpenID Connect Core 1.0, section
    /// 5.7).
    public let subject: String
    /// When the person last showed the provider who they are; nil where it does not say so.
    public let authenticatedAt: Timestamp?
    /// What the person is called there, for example an email address; nil for nothing.
    public let name: String?
    /// The person's full name; nil for nothing.
    public let displayName: String?
    /// The values of the claim that roles follow from.
    public let groups: [String]
}

/// Claims by their names.
enum Claim {
    /// A claim: `groups`; where there is none of that name, a part of one: `realm_access.roles`.
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
