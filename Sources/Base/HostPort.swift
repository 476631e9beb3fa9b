/// `host` or `host:port`, as in the authority of a URL (RFC 3986 section 3.2), with an IPv6 address in brackets. Splits the text and checks
/// the port; the rules for hosts differ from place to place.
public struct HostPort: Hashable, Sendable {
    /// The part before the colon, including brackets.
    public var host: Substring
    /// Anything after the colon; nil if there is no colon.
    public var portText: Substring?

    /// Splits at the first colon after the brackets. For a bare IPv6 address, `portText` then contains a colon.
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

    /// Without the brackets of an IPv6 address, as sockets and certificates need it.
    public var plainHost: String { Self.plain(host) }

    /// A host without the brackets of an IPv6 address.
    public static func plain(_ host: some StringProtocol) -> String {
        String(host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...])
    }
}
