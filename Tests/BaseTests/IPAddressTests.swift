import Base
import Testing

@Suite("Addresses of the network")
struct IPAddressTests {
    @Test(
        "are written as RFC 5952 has them, and read again",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("::", "::"),
            ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
            ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ])
    func text(written: String, shown: String) throws {
        let address = try #require(IPAddress(written))
        #expect(address.description == shown)
        #expect(IPAddress(shown) == address)
    }

    @Test("a mapped IPv4 address is that address")
    func mapped() {
        #expect(IPAddress("::ffff:192.0.2.1")?.unmapped == IPAddress("192.0.2.1"))
        #expect(IPAddress("::fffe:192.0.2.1")?.unmapped == IPAddress("::fffe:192.0.2.1"))
        #expect(IPAddress("192.0.2.1")?.unmapped == IPAddress("192.0.2.1"))
    }
}
