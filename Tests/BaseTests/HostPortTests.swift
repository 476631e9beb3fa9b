import Base
import Testing

@Suite("Host and port")
struct HostPortTests {
    @Test(
        "the first colon behind the brackets divides them",
        arguments: [
            ("a.example.com", "a.example.com", nil), ("a.example.com:443", "a.example.com", "443"), ("a:", "a", ""),
            (":80", "", "80"),
            ("", "", nil),
            ("[::1]", "[::1]", nil), ("[::1]:2197", "[::1]", "2197"), ("[::1]x", "[::1]x", nil),
            ("[::1]x:1", "[::1]x", "1"),
            ("a:1:2", "a", "1:2"), ("::1", "", ":1"), ("[fe80::1%25eth0]:80", "[fe80::1%25eth0]", "80"),
            ("a]:80", "a]", "80"),
        ] as [(String, String, String?)])
    func split(text: String, host: String, port: String?) {
        let parts = HostPort(text[...])
        #expect(parts.host == host && parts.portText.map(String.init) == port)
    }

    @Test(
        "a port is a number from 1 to 65535 in digits, and nothing else",
        arguments: [
            ("a:1", 1), ("a:65535", 65_535), ("a:0443", 443), ("a", nil), ("a:", nil), ("a:0", nil), ("a:65536", nil),
            ("a:+80", nil),
            ("a:-1", nil),
            ("a: 80", nil), ("a:80 ", nil), ("a:٨٠", nil), ("a:0x50", nil), ("a:99999999999999999999", nil),
            ("::1", nil),
        ] as [(String, Int?)])
    func port(text: String, port: Int?) { #expect(HostPort(text[...]).port == port) }

    @Test(
        "brackets are taken off in pairs",
        arguments: [("[::1]:80", "::1"), ("a:80", "a"), ("[a", "[a"), ("a]", "a]"), ("[]", "")])
    func plain(text: String, host: String) { #expect(HostPort(text[...]).plainHost == host) }

    @Test(
        "an exception holds for its port alone, and a bare IPv6 address has none",
        arguments: [
            ("a.example.com:443", "a.example.com", 443, true), ("a.example.com:443", "a.example.com", 80, false),
            ("::1", "::1", 1, true),
            ("[::1]:80", "::1", 80, true), ("[::1]:80", "::1", 443, false), ("fe80::1:80", "fe80::1:80", 443, true),
            ("a.example.com:", "a.example.com", 443, false), ("a.example.com:0", "a.example.com", 443, false),
            ("a.example.com:99999", "a.example.com", 443, false), ("a.example.com:+443", "a.example.com", 443, true),
            ("a.example.com.", "a.example.com", 443, true), ("10.0.0.0/8:80", "10.1.2.3", 80, true),
            ("10.0.0.0/8:80", "10.1.2.3", 443, false),
            ("a:443:443", "a", 443, false),
        ])
    func exceptions(list: String, host: String, port: Int, isListed: Bool) {
        #expect(ProxyExceptions(list).contains(host: host, port: port) == isListed)
    }
}
