import Glibc

/// An IPv4 or IPv6 address.
struct IPAddress: Hashable {
    /// 4 or 16, in network order.
    var bytes: [UInt8]

    /// nil when the text is no address.
    init?(_ text: String) {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 {
                self.bytes = bytes
                return
            }
        }
        return nil
    }
}
