import Simulators
import Base
import TestServers
import Testing

@testable import Delivery

@Suite("addresses of proxies, and of servers behind them")
struct ProxyAddressingTests {
    @Test(
        "a proxy that is given addresses is asked for all that the server has",
        .enabled(if: Sockets.localhostHasBothAddresses, "localhost is not ::1 and 127.0.0.1 on this machine"))
    func severalTargets() throws {
        var behaviour = TestProxy.Behaviour()
        behaviour.knowsNoIPv6 = true
        let proxy = try TestProxy(.socks5, behaviour)
        try SimulatorRun { $0.proxy = "socks5://127.0.0.1:\(proxy.port)" }.run().expectAllAcceptedOnce()
        #expect(proxy.requests.last?.target.hasPrefix("127.0.0.1:") == true)
    }

    @Test("a proxy on IPv6, and a server on IPv6 behind a proxy", arguments: TestProxy.Kind.allCases)
    func ipv6(kind: TestProxy.Kind) throws {
        let proxy = try TestProxy(kind)
        let relay = try TestRelay(.v6)
        relay.lead(to: proxy.port)
        let result = try SimulatorRun(pushes: 20) {
            $0.proxy = "\(kind.rawValue)://[::1]:\(relay.port)"
            if kind != .socks4, kind != .socks5h { $0.endpoint.host = "[::1]" }
        }.run()
        result.expectAllAcceptedOnce()
        #expect(relay.connections == 1)
        let target = proxy.requests.first?.target ?? ""
        switch kind {
        case .http, .socks5: #expect(target.hasPrefix("[::1]:"), "\(target)")
        case .socks4a: #expect(target.hasPrefix("::1:"), "\(target)")
        case .socks4, .socks5h: #expect(!target.isEmpty)
        }
    }

    @Test("SOCKS4 cannot lead to an IPv6 address, and the run says so")
    func ipv6ThroughSOCKS4() throws {
        let proxy = try TestProxy(.socks4)
        let result = try SimulatorRun(pushes: 5) {
            $0.proxy = "socks4://127.0.0.1:\(proxy.port)"
            $0.endpoint.host = "::1"
        }.run()
        result.expectNothingSent(saying: "SOCKS4", "IPv4")
    }

    @Test(
        "the addresses of a proxy's name are tried one after the other",
        .enabled(if: Sockets.localhostHasBothAddresses, "localhost is not ::1 and 127.0.0.1 on this machine"),
        arguments: [Sockets.Family.v4, .v6])
    func severalAddresses(family: Sockets.Family) throws {
        let proxy = try TestProxy(.http)
        let relay = try TestRelay(family)
        relay.lead(to: proxy.port)
        let result = try SimulatorRun(pushes: 10) {
            $0.proxy = "http://localhost:\(relay.port)"
            $0.connectTimeoutSeconds = 5
        }.run()
        result.expectAllAcceptedOnce()
        #expect(relay.connections == 1)
    }
}
