import Glibc

/// An IPv4 or IPv6 address.
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
        guard inet_ntop(isIPv4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { fatalError("no address") }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The IPv4 address that an IPv4-mapped one (`::ffff:192.0.2.1`, RFC 4291 section 2.5.5.2) stands for; itself otherwise.
    public var unmapped: IPAddress {
        let prefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        return bytes.count == 16 && bytes.starts(with: prefix) ? IPAddress(bytes: Array(bytes.suffix(4))) : self
    }

    /// What counts as one client where clients are limited: an IPv4 address, or the first 64 bits of an IPv6 address, because a client with
    /// one address of such a network has all 2^64 of them (RFC 4291 section 2.5.4).
    public var clientNetwork: IPAddress {
        let plain = unmapped
        return plain.isIPv4 ? plain : IPAddress(bytes: Array(plain.bytes.prefix(8)) + [UInt8](repeating: 0, count: 8))
    }
}
