/// `host` or `host:port`, as the authority of a URL has it (RFC 3986 section 3.2), an IPv6 address in brackets. Splits, and judges the port; what a host may
/// look like differs from place to place.
public struct HostPort: Hashable, Sendable {
    /// What stands before the colon, brackets included.
    public var host: Substring
    /// What stands behind it, whatever that is; nil without a colon.
    public var portText: Substring?

    /// Splits at the first colon behind the brackets. A bare IPv6 address, whose colons are its own, has a colon in its `portText`.
    public init(_ authority: Substring) {
        let bracket = authority.lastIndex(of: "]") ?? authority.startIndex
        guard let colon = authority[bracket...].firstIndex(of: ":") else {
            host = authority
            return
        }
        host = authority[..<colon]
        portText = authority[authority.index(after: colon)...]
    }

    /// From 1 to 65535, in decimal digits and nothing else; nil for anything else.
    public var port: Int? {
        guard let portText, portText.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(portText),
            (1...65_535).contains(number)
        else { return nil }
        return number
    }

    /// Without the brackets of an IPv6 address, as sockets and certificates want it.
    public var plainHost: String { Self.plain(host) }

    /// A host without the brackets of an IPv6 address.
    public static func plain(_ host: some StringProtocol) -> String {
        String(host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...])
    }
}
