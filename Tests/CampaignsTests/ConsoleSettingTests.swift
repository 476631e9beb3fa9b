import Base
import Testing

@testable import Campaigns

@Suite("console in volley.yaml")
struct ConsoleSettingTests {
    private static let apps = "apps: {shop: {topic: com.example.shop, environment: simulator}}\n"

    private func read(_ text: String) throws -> Project {
        try Project.read(YAMLSource(file: "volley.yaml", bytes: Array((text + Self.apps).utf8))).0
    }

    @Test("address, proxies and roots are read")
    func all() throws {
        let console = try #require(
            try read("console: {public_url: \"https://push.example.com\", proxies: [127.0.0.1, 10.0.0.0/8], roots: campaigns}\n").console)
        #expect(console.publicURL?.value == "https://push.example.com")
        #expect(console.proxies == [AddressRange("127.0.0.1"), AddressRange("10.0.0.0/8")].compactMap(\.self))
        #expect(console.roots.map(\.value) == ["campaigns"])
    }

    @Test("without it there is none") func absent() throws { #expect(try read("").console == nil) }

    @Test(
        "mistakes are reported at their place, with what to write",
        arguments: [
            (
                "console: {}\n",
                "volley.yaml:1:10: 'console' is empty. For example: console: {public_url: \"https://push.example.com\"}."
            ),
            (
                "console: {public_url: \"http://push.example.com\"}\n",
                "volley.yaml:1:23: the address 'http://push.example.com' must begin with https://. "
                    + "For example: public_url: \"https://push.example.com\"."
            ),
            (
                "console: {public_url: \"https://push.example.com/volley\"}\n",
                "volley.yaml:1:23: the address 'https://push.example.com/volley' must end after the host and port. Remove the path. "
                    + "For example: public_url: \"https://push.example.com\"."
            ),
            (
                "console: {proxies: [10.0.0.1/8]}\n",
                "volley.yaml:1:21: '10.0.0.1/8' is neither an address nor a range of addresses. For example: proxies: [127.0.0.1, 10.0.0.0/8]."
            ),
            (
                "console: {proxies: []}\n",
                "volley.yaml:1:20: 'proxies' is an empty list. Name an address, or remove the key."
            ),
            ("console: {roots: []}\n", "volley.yaml:1:18: 'roots' is an empty list. Name a folder, or remove the key."),
            ("console: {publicurl: a}\n", "volley.yaml:1:11: unknown key 'publicurl' in 'console'. Did you mean 'public_url'?"),
        ])
    func mistakes(text: String, message: String) {
        #expect { try read(text) } throws: { "\($0)" == message }
    }

    @Test(
        "a range holds the addresses that begin with its bits, and no others",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("192.0.2.128/25", "192.0.2.127", false),
            ("192.0.2.128/25", "192.0.2.200", true), ("0.0.0.0/0", "203.0.113.9", true), ("2001:db8::/32", "2001:db8:1::1", true),
            ("2001:db8::/32", "2001:db9::1", false), ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false),
            ("::/0", "127.0.0.1", false),
        ])
    func ranges(range: String, address: String, isIn: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(#require(IPAddress(address))) == isIn)
    }

    @Test(
        "what is no range is none", arguments: ["", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.1/31", "10.0.0.0/8/8", "host"])
    func noRanges(text: String) { #expect(AddressRange(text) == nil) }

    @Test("an address is written as it is read", arguments: ["192.0.2.1", "::1", "2001:db8::1"])
    func descriptions(text: String) { #expect(IPAddress(text)?.description == text) }
}
