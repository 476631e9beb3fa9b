import Base
import Testing

@Suite("addresses of proxies")
struct ProxyAddressTests {
    @Test("every scheme is read, with host and port", arguments: ProxyAddress.Scheme.allCases)
    func schemes(scheme: ProxyAddress.Scheme) throws {
        let address = try ProxyAddress("\(scheme.rawValue.uppercased())://proxy.example.com:3128/")
        #expect(address.scheme == scheme)
        #expect(address.host == "proxy.example.com" && address.port == 3128)
        #expect(address.user == nil && address.password == nil)
        #expect(address.url == "\(scheme.rawValue)://proxy.example.com:3128")
    }

    @Test("user and password are decoded, and encoded again for a URL, but never described")
    func credentials() throws {
        let address = try ProxyAddress("http://vol%20ley:p%40ss:w@rd@[::1]:3128")
        #expect(address.user == "vol ley")
        #expect(address.password == "p@ss:w@rd")
        #expect(address.url == "http://vol%20ley:p%40ss%3Aw%40rd@[::1]:3128")
        #expect("\(address)" == "[::1]:3128")
    }

    @Test("in the environment scheme and port may be left out, as for curl")
    func environmentForm() throws {
        let bare = try ProxyAddress("proxy", .asInEnvironment)
        #expect(bare.url == "http://proxy:1080")
        #expect(try ProxyAddress("https://proxy", .asInEnvironment).port == 443)
        #expect(try ProxyAddress("u:p@proxy:8080", .asInEnvironment).url == "http://u:p@proxy:8080")
    }

    @Test(
        "what is no address is refused, and no password is repeated",
        arguments: [
            ("proxy:3128", "scheme"), ("ftp://u:s3cret@proxy:3128", "scheme"), ("http://u:s3cret@proxy", "port"),
            ("http://u:s3cret@proxy:0", "port"), ("http://u:s3cret@proxy:99999", "port"),
            ("http://u:s3cret@:3128", "host"),
            ("http://u:s3cret@pro xy:3128", "host"), ("http://u:s3cret@proxy:3128/path", "has more than"),
            ("http://u:s3/cret@", "host"),
            ("http://u:s3cret%zz@proxy:3128", "%25"), ("http://u:s3cret%00@proxy:3128", "%25"),
            ("u:s3cret@proxy:3128", "scheme"),
            ("socks4://u:s3cret@proxy:1080", "no password"), ("u:a://s3cret@proxy", "scheme"), ("", "scheme"),
            ("http://[proxy]:3128", "host"), ("http://127.0.0.1:1/s3cret", "'http://127.0.0.1:1/…' has more than"),
            ("http://127.0.0.1:1?x=s3cret", "'http://127.0.0.1:1/…' has more than"),
            ("http://proxy#s3cret", "has more than"),
            ("http://proxy:s3cret", "'http://…' must be a number"), ("proxy:3128/s3cret", "scheme"),
        ])
    func refused(text: String, word: String) {
        do throws(Mistake) {
            _ = try ProxyAddress(text)
            Issue.record("it was taken")
        } catch {
            #expect("\(error.message). \(error.remedy ?? "")".contains(word), "\(error)")
            #expect(!error.message.contains("cret") && error.remedy?.contains("cret") != true, "\(error)")
        }
    }

    @Test(
        "servers on the list of exceptions need no proxy",
        arguments: [
            ("*", "api.push.apple.com", true), ("api.push.apple.com", "api.push.apple.com", true),
            ("apple.com", "api.push.apple.com", true),
            (".apple.com", "api.push.apple.com", true), (".apple.com", "apple.com", true),
            ("apple.com", "pineapple.com", false),
            ("push.apple.com", "apple.com", false), ("APPLE.com", "api.push.Apple.COM.", true),
            ("apple.com.", "apple.com", true),
            ("one.org, apple.com", "apple.com", true), ("one.org apple.com", "apple.com", true),
            (" ,, ", "apple.com", false),
            ("localhost", "localhost", true), ("localhost", "mylocalhost", false), ("localhost", "127.0.0.1", false),
            ("apple.com:443", "apple.com", true), ("apple.com:2197", "apple.com", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("0.0.1", "127.0.0.1", false), ("127.0.0.0/8", "127.9.9.9", true), ("127.0.0.0/8", "128.0.0.1", false),
            ("10.0.0.0/33", "10.0.0.1", false), ("10.1.2.3/0", "8.8.8.8", true), ("::1", "[::1]", true),
            ("[::1]:443", "[::1]", true),
            ("[::1]:2197", "::1", false), ("fe80::/10", "fe80::1", true), ("0:0::1", "::1", true),
            (".", "apple.com", false),
        ])
    func exceptions(list: String, host: String, isException: Bool) {
        #expect(ProxyExceptions(list).contains(host: host, port: 443) == isException)
    }
}
