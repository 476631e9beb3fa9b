import Base
import Campaigns
import Delivery
import PushServices
import Runs
import Testing

@testable import Workspace

@Suite("the way to the server")
struct ProxyRouteTests {
    private let place = SourcePosition(file: "volley.yaml", line: 3, column: 12)

    private func setting(_ url: String, passwordVariable: String? = nil) throws -> ProxySetting {
        .through(
            ProxyReference(
                address: try ProxyAddress(url), position: place,
                passwordVariable: passwordVariable.map { SourceText($0, at: place) }))
    }

    private func proxy(
        _ setting: ProxySetting? = nil, to environment: FrozenEnvironment = .production, in variables: [String: String]
    ) throws -> String? {
        try ProxyRoute(setting, to: environment) { variables[$0] }.proxy?.address.url
    }

    @Test("volley.yaml comes first, then the environment's variables in curl's order")
    func order() throws {
        var variables = [
            "https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:1", "all_proxy": "http://c:1",
            "ALL_PROXY": "socks5://d",
        ]
        #expect(try proxy(setting("http://file:1"), in: variables) == "http://file:1")
        #expect(try proxy(in: variables) == "http://a:1")
        variables["https_proxy"] = nil
        #expect(try proxy(in: variables) == "http://b:1")
        variables["HTTPS_PROXY"] = nil
        #expect(try proxy(in: variables) == "http://c:1")
        variables["all_proxy"] = nil
        #expect(try proxy(in: variables) == "socks5://d:1080")
        #expect(try proxy(in: ["http_proxy": "http://e:1"]) == nil)
    }

    @Test("proxy: none switches the environment off")
    func none() throws {
        #expect(try proxy(ProxySetting.none(place), in: ["https_proxy": "http://a:1"]) == nil)
    }

    @Test("the list of exceptions counts for the environment's proxy, not for volley.yaml's")
    func exceptions() throws {
        for name in ["no_proxy", "NO_PROXY"] {
            #expect(try proxy(in: ["https_proxy": "http://a:1", name: "apple.com"]) == nil)
            #expect(try proxy(in: ["https_proxy": "http://a:1", name: "example.com"]) == "http://a:1")
            #expect(try proxy(setting("http://file:1"), in: [name: "*"]) == "http://file:1")
        }
        let server = FrozenEnvironment.server(host: "localhost", port: 2197, certificateAuthority: nil)
        #expect(try proxy(to: server, in: ["https_proxy": "http://a:1", "no_proxy": "localhost"]) == nil)
        #expect(try proxy(to: server, in: ["https_proxy": "http://a:1", "no_proxy": "localhost:443"]) == "http://a:1")
    }

    @Test("an exception counts for the server that it names: that of the pushes, or that of the tokens")
    func exceptionsForTokens() throws {
        let account = try #require(PushServices.named("fcm")).account
        let exchange = try #require(account.tokenExchange),
            production = FrozenEnvironment.named(account.environments.choices[0])
        func route(_ exceptions: String, to environment: FrozenEnvironment) throws -> [String?] {
            let variables = ["https_proxy": "http://a:1", "no_proxy": exceptions]
            let route = try ProxyRoute(nil, to: environment, tokens: exchange) { variables[$0] }
            return [route.proxy?.address.url, route.tokenProxy?.address.url]
        }
        #expect(try route("fcm.googleapis.com", to: production) == [nil, "http://a:1"])
        #expect(try route("oauth2.googleapis.com", to: production) == ["http://a:1", nil])
        #expect(try route(".googleapis.com", to: production) == [nil, nil])
        let server = FrozenEnvironment.server(host: "localhost", port: 8443, certificateAuthority: nil)
        #expect(try route("localhost", to: server) == [nil, nil])
        #expect(
            try route("oauth2.googleapis.com", to: server) == ["http://a:1", "http://a:1"],
            "another server gives out its tokens itself")
    }

    @Test("the simulator inside this process is reached without any proxy")
    func simulator() throws {
        #expect(try proxy(setting("http://file:1"), to: .simulator, in: ["https_proxy": "http://a:1"]) == nil)
    }

    @Test("the password comes from its variable, which must be set")
    func password() throws {
        let setting = try setting("http://volley@file:1", passwordVariable: "PROXY_SECRET")
        #expect(try proxy(setting, in: ["PROXY_SECRET": "p@ss"]) == "http://volley:p%40ss@file:1")
        let mistake = #expect(throws: Diagnostic.self) { try proxy(setting, in: [:]) }
        #expect(mistake?.position == place && mistake?.message.contains("PROXY_SECRET") == true)
    }

    @Test("a variable that holds no address is named, without what it holds of a password")
    func brokenVariable() throws {
        let mistake = #expect(throws: Diagnostic.self) { try proxy(in: ["https_proxy": "htp://volley:s3cret@a:1"]) }
        #expect(
            mistake?.description.contains("https_proxy") == true && mistake?.description.contains("s3cret") == false)
    }
}
