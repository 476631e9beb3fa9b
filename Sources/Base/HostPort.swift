import Glibc

/// `host` or `host:port`, as in the authority of a URL (RFC 3986 section 3.2), with an IPv6 address
/// in brackets. Splits the text and checks the port; the rules for hosts differ from place to
/// place.
///
/// ```swift
/// let server = HostPort("[::1]:8443")
/// print(server.plainHost, server.port ?? 443)  // ::1 8443
/// ```
public struct HostPort: Hashable, Sendable {
    /// The part before the colon, including brackets.
    public var host: Substring
    /// Anything after the colon; nil if there is no colon.
    public var portText: Substring?

    /// Splits at the first colon after the brackets. For a bare IPv6 address, `portText` then
    /// contains a colon.
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
        guard let portText, portText.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(portText),
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

/// An IPv4 or IPv6 address.
///
/// ```swift
/// let isOwn = IPAddress("127.0.0.1")?.isLoopback  // true
/// ```
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16, in network order.
    public var bytes: [UInt8]

    /// nil if the text is not an address.
    public init?(_ text: String) {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 {
                self.bytes = bytes
                return
            }
        }
        return nil
    }

    /// An address from its bytes, 4 or 16 of them.
    public init(bytes: [UInt8]) {
        precondition(bytes.count == 4 || bytes.count == 16, "no address")
        self.bytes = bytes
    }

    /// Whether it is an IPv4 address.
    public var isIPv4: Bool { bytes.count == 4 }

    /// Whether it is this machine's own: 127.0.0.0/8, `::1`.
    public var isLoopback: Bool { isIPv4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1 }

    /// As it is usually written (RFC 5952): `192.0.2.1`, `2001:db8::1`.
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(isIPv4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else {
            fatalError("no address")
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The IPv4 address that an IPv4-mapped one (`::ffff:192.0.2.1`, RFC 4291 section 2.5.5.2)
    /// stands for; itself otherwise.
    public var unmapped: IPAddress {
        let prefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        return bytes.count == 16 && bytes.starts(with: prefix) ? IPAddress(bytes: Array(bytes.suffix(4))) : self
    }

    /// What counts as one client where clients are limited: an IPv4 address, or the first 64 bits
    /// of an IPv6 address, because a client with one address of such a network has all 2^64 of them
    /// (RFC 4291 section 2.5.4).
    public var clientNetwork: IPAddress {
        let plain = unmapped
        return plain.isIPv4 ? plain : IPAddress(bytes: Array(plain.bytes.prefix(8)) + [UInt8](repeating: 0, count: 8))
    }
}

/// Servers that are reached without a proxy, as listed in `no_proxy`. Source: curl(1), NO_PROXY. In
/// addition, an entry may end with a port, and then applies only to that port.
///
/// ```swift
/// let exceptions = ProxyExceptions("localhost,.example.com")
/// let isDirect = exceptions.contains(host: "push.example.com", port: 443)  // true
/// ```
public struct ProxyExceptions: Sendable {
    private let entries: [String]

    /// - Parameter list: names, addresses and networks (`10.0.0.0/8`), separated by commas or
    ///   blanks; `*` for every server.
    public init(_ list: String) {
        entries = list.lowercased().split { $0 == "," || $0.isWhitespace }.map(String.init)
    }

    /// Whether a server is on the list: by its name, below a domain on the list (`example.com` and
    /// `.example.com` include `a.example.com`, but not `badexample.com`), or in a network.
    public func contains(host: String, port: Int) -> Bool {
        let host = Self.bare(host.lowercased())
        return entries.contains { Self.matches($0, host: host, port: port) }
    }

    private static func matches(_ entry: String, host: String, port: Int) -> Bool {
        if entry == "*" { return true }
        let (name, entryPort) = split(entry)
        if let entryPort, entryPort != port { return false }
        if let network = network(name), let address = IPAddress(host) { return network.holds(address) }
        if let address = IPAddress(host) { return IPAddress(bare(name)) == address }
        let domain = bare(name.drop { $0 == "." })
        return !domain.isEmpty && (host == domain || host.hasSuffix(".\(domain)"))
    }

    /// `host:port`, if there is a port; the colons of a bare IPv6 address belong to the address.
    private static func split(_ entry: String) -> (Substring, Int?) {
        let parts = HostPort(entry[...])
        // An entry with an invalid port must not match as if it had none.
        guard let port = parts.portText.flatMap({ Int($0) }) else { return (entry[...], nil) }
        return (parts.host, port)
    }

    private static func network(_ entry: Substring) -> IPNetwork? {
        guard let slash = entry.lastIndex(of: "/"), let bits = Int(entry[entry.index(after: slash)...]) else {
            return nil
        }
        return IPAddress(bare(entry[..<slash])).map { IPNetwork(address: $0, bits: bits) }
    }

    /// Without the brackets of an IPv6 address, and without the full stop that may end a name.
    private static func bare(_ host: some StringProtocol) -> String {
        let plain = HostPort.plain(host)
        return plain.count < host.count || !host.hasSuffix(".") ? plain : String(host.dropLast())
    }
}

private struct IPNetwork {
    var address: IPAddress
    var bits: Int

    func holds(_ other: IPAddress) -> Bool {
        guard other.bytes.count == address.bytes.count, (0...address.bytes.count * 8).contains(bits) else {
            return false
        }
        for bit in 0..<bits {
            let mask = UInt8(0x80) >> UInt8(bit % 8)
            if address.bytes[bit / 8] & mask != other.bytes[bit / 8] & mask { return false }
        }
        return true
    }
}

/// The ASCII form of a host name with other letters. Source: RFC 3492, RFC 5891.
public enum Punycode {
    /// `xn--mller-kva.de` for `müller.de`; nil for a host with letters that have several spellings:
    /// one would have to be chosen first.
    /// - Parameter host: labels separated by full stops.
    public static func host(_ host: some StringProtocol) -> String? {
        let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false).map {
            label(Array($0.unicodeScalars))
        }
        return labels.contains(nil) ? nil : labels.compactMap(\.self).joined(separator: ".")
    }

    private static func label(_ scalars: [Unicode.Scalar]) -> String? {
        let plain = scalars.filter(\.isASCII)
        guard plain.count < scalars.count else { return String(String.UnicodeScalarView(plain)) }
        // A letter and its accent apart, or full-width letters: RFC 5891 5.3 requires composed and
        // narrow ones.
        let isOpen = scalars.contains {
            $0.properties.canonicalCombiningClass != .notReordered || (0xFF00...0xFFEF).contains($0.value)
        }
        guard !isOpen else { return nil }
        let prefix = String(String.UnicodeScalarView(plain))
        return "xn--\(prefix)\(prefix.isEmpty ? "" : "-")\(encoded(scalars, basic: plain.count))"
    }

    /// RFC 3492, 6.3, with the parameters of 5.
    private static func encoded(_ scalars: [Unicode.Scalar], basic: Int) -> String {
        var (last, delta, bias, handled) = (0x80, 0, 72, basic)
        var output = ""
        while handled < scalars.count {
            let next = scalars.lazy.map { Int($0.value) }.filter { $0 >= last }.min() ?? last
            delta += (next - last) * (handled + 1)
            last = next
            for scalar in scalars {
                if scalar.value < UInt32(last) { delta += 1 }
                guard Int(scalar.value) == last else { continue }
                output += digits(delta, bias: bias)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basic)
                (delta, handled) = (0, handled + 1)
            }
            (delta, last) = (delta + 1, last + 1)
        }
        return output
    }

    private static func digits(_ number: Int, bias: Int) -> String {
        var (rest, place, text) = (number, 36, "")
        while true {
            let threshold = min(max(place - bias, 1), 26)
            guard rest >= threshold else { break }
            text.append(alphabet[threshold + (rest - threshold) % (36 - threshold)])
            (rest, place) = ((rest - threshold) / (36 - threshold), place + 36)
        }
        text.append(alphabet[rest])
        return text
    }

    /// RFC 3492, 6.1.
    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var (rest, steps) = (delta / (isFirst ? 700 : 2), 0)
        rest += rest / count
        while rest > 455 { (rest, steps) = (rest / 35, steps + 36) }
        return steps + 36 * rest / (rest + 38)
    }

    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789")
}
