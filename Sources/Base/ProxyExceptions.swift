/// Servers that are reached without a proxy, as listed in `no_proxy`. Source: curl(1), NO_PROXY. In addition, an entry may end with a port,
/// and then applies only to that port.
public struct ProxyExceptions: Sendable {
    private let entries: [String]

    /// - Parameter list: names, addresses and networks (`10.0.0.0/8`), separated by commas or blanks; `*` for every server.
    public init(_ list: String) {
        entries = list.lowercased().split { $0 == "," || $0.isWhitespace }.map(String.init)
    }

    /// Whether a server is on the list: by its name, below a domain on the list (`example.com` and `.example.com` include `a.example.com`,
    /// but not `badexample.com`), or in a network.
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
        guard let slash = entry.lastIndex(of: "/"), let bits = Int(entry[entry.index(after: slash)...]) else { return nil }
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
        guard other.bytes.count == address.bytes.count, (0...address.bytes.count * 8).contains(bits) else { return false }
        for bit in 0..<bits {
            let mask = UInt8(0x80) >> UInt8(bit % 8)
            if address.bytes[bit / 8] & mask != other.bytes[bit / 8] & mask { return false }
        }
        return true
    }
}
