public import Base

/// `console` of volley.yaml: how `volley serve` shows campaigns and runs in a browser. It has no effect on sending.
public struct ConsoleSettings: Sendable {
    /// Where the console listens if nobody says otherwise.
    public static let usualAddress = "127.0.0.1:8181"

    /// `https://push.example.com`, the console's address as people type it; nil when it is used on this machine only.
    public var publicURL: SourceText?
    /// The reverse proxies whose `X-Forwarded-For`, `-Proto` and `-Host` count; nobody else's do.
    public var proxies: [AddressRange]
    /// Folders whose campaigns and exports the console may name, as written; that of volley.yaml when empty.
    public var roots: [SourceText]
    /// The provider of identities by which people sign in; nil where all have passwords.
    public var provider: ConsoleProvider?
}

/// Addresses that begin with the same bits: `10.0.0.0/8`, or a single address (RFC 4632, section 3.1).
public struct AddressRange: Hashable, Sendable {
    /// The first address of the range.
    public let first: IPAddress
    /// How many of its leading bits count: up to 32 for IPv4, up to 128 for IPv6.
    public let prefixBits: Int

    /// nil if the text is neither an address nor a range, or a range that does not begin at its first address, such as `10.0.0.1/8`.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = IPAddress(String(parts[0])) else { return nil }
        let all = first.bytes.count * 8
        guard parts.count > 1 else {
            (self.first, prefixBits) = (first, all)
            return
        }
        guard parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let bits = Int(parts[1]), bits <= all,
            (bits..<all).allSatisfy({ first.bytes[$0 / 8] & (0x80 >> ($0 % 8)) == 0 })
        else { return nil }
        (self.first, prefixBits) = (first, bits)
    }

    /// Whether an address is in the range. An IPv4 address is in no range of IPv6 addresses, and the other way round.
    public func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        return (0..<prefixBits).allSatisfy { (address.bytes[$0 / 8] ^ first.bytes[$0 / 8]) & (0x80 >> ($0 % 8)) == 0 }
    }
}
