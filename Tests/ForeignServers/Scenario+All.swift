extension Scenario {
    /// Scenarios that must end as if nothing had happened.
    static let faultless: [Scenario] =
        servers.flatMap(limits) + windows.flatMap { $0 } + leaving + slow + own + behindFronts + throughProxies

    /// Scenarios in which answers may be lost.
    static let faulty: [Scenario] = servers.map(killed) + again + gateways + killedProxies

    /// nginx with its defaults, and without the limit of requests after which it closes a
    /// connection.
    static let limitedNginx = Scenario(name: "nginx, 1,000 requests a connection", standIn: .nginx, devices: 20_000)
    static let unlimitedNginx = Scenario(
        name: "nginx, any number of requests", standIn: .nginx, options: ["keepalive_requests 1000000;"],
        devices: 20_000)

    private static let servers: [StandIn] = [.go, .node, .h2, .hypercorn]

    /// A server that takes this many pushes at once.
    private static func limits(_ server: StandIn) -> [Scenario] {
        // hypercorn keeps its streams in a tree of at most 1,000, including those that just ended,
        // and breaks a connection with more.
        [(1, 300), (50, 2000), (100, 3000), (server == .hypercorn ? 500 : 1000, 3000)].map { streams, devices in
            let name = "\(server.rawValue), \(streams) streams"
            return Scenario(name: name, standIn: server, options: ["--streams=\(streams)"], devices: devices)
        }
    }

    /// Servers whose flow control lets this many bytes of a body through.
    private static let windows: [[Scenario]] = [StandIn.go, .node, .h2].map { server in
        [(16, 300), (65_535, 5000)].map { window, devices in
            let name = "\(server.rawValue), windows of \(window)"
            return Scenario(
                name: name, standIn: server, options: ["--window=\(window)"], devices: devices, bodyCharacters: 400,
                known: server == .go && window == 16 ? .closesWindowsUnannounced : nil)
        }
    }

    /// Servers that close and change as they like.
    private static let leaving: [Scenario] =
        [StandIn.go, .node, .h2].map { server in
            Scenario(
                name: "\(server.rawValue), leaving every 300 ms", standIn: server, options: ["--leave-every=300"],
                devices: server == .h2 ? 3000 : 10_000,
                isQuick: server == .h2)
        }
        + [StandIn.node, .h2].map { server in
            Scenario(
                name: "\(server.rawValue), SETTINGS change every 50 ms", standIn: server,
                options: ["--settings-every=50", "--streams=100"], isQuick: server == .h2)
        }
        + [
            Scenario(
                name: "hypercorn, leaving every 300 ms", standIn: .hypercorn, options: ["--leave-every=300"],
                devices: 1000,
                known: .leavesStreamsUnanswered),
            Scenario(
                name: "node, GOAWAY by hand every 300 ms", standIn: .node,
                options: ["--leave-every=300", "--leave-by=goaway"],
                devices: 10_000,
                known: .answersBeyondGoAway),
        ]

    private static let slow: [Scenario] = [
        Scenario(name: "go, 1 ms", standIn: .go, options: ["--latency=1"], latencyMilliseconds: 1),
        Scenario(name: "node, 200 ms", standIn: .node, options: ["--latency=200"], latencyMilliseconds: 200),
        Scenario(
            name: "h2, 6 s", standIn: .h2, options: ["--latency=6000", "--streams=1000"], devices: 300,
            latencyMilliseconds: 6000),
        Scenario(
            name: "go, reading 500 kB/s", standIn: .go, options: ["--rate=500000", "--window=65535"], devices: 5000,
            bodyCharacters: 400),
        Scenario(
            name: "node, reading 500 kB/s", standIn: .node, options: ["--rate=500000"], devices: 10_000,
            bodyCharacters: 400),
        Scenario(
            name: "h2, reading 500 kB/s", standIn: .h2, options: ["--rate=500000"], devices: 5000, bodyCharacters: 400),
        Scenario(name: "node as it is, many devices", standIn: .node, devices: 120_000, bodyCharacters: 400),
        Scenario(name: "go, 503 of APNs", standIn: .go, options: ["--refuse-every=10"], devices: 1000),
        Scenario(name: "node, 503 of APNs", standIn: .node, options: ["--refuse-every=10"], devices: 1000),
    ]

    private static let own: [Scenario] = [
        Scenario(name: "nginx that closes after 1,000 requests", standIn: .nginx, devices: 5000, isQuick: true),
        Scenario(
            name: "hypercorn that closes after 1,000 requests", standIn: .hypercorn, options: ["--requests=1000"],
            known: .leavesStreamsUnanswered),
    ]

    private static let behindFronts: [Scenario] = [
        Scenario(name: "nginx before go", standIn: .go, front: .nginx([]), devices: 20_000),
        Scenario(
            name: "nginx without its limit before go", standIn: .go, front: .nginx(["keepalive_requests 1000000;"]),
            devices: 20_000),
        Scenario(
            name: "nginx before node, 50 ms", standIn: .node, options: ["--latency=50"], front: .nginx([]),
            latencyMilliseconds: 50),
        Scenario(
            name: "nginx with 1 stream before node", standIn: .node, front: .nginx(["http2_max_concurrent_streams 1;"]),
            devices: 300),
        Scenario(
            name: "nginx with 50 streams before node", standIn: .node,
            front: .nginx(["http2_max_concurrent_streams 50;"])),
        Scenario(
            name: "nginx with windows of 16 before go", standIn: .go, front: .nginx(["http2_body_preread_size 16;"]),
            devices: 300),
        Scenario(name: "haproxy before go", standIn: .go, front: .haproxy()),
        Scenario(name: "haproxy before node", standIn: .node, front: .haproxy()),
        Scenario(name: "haproxy before h2", standIn: .h2, front: .haproxy()),
        Scenario(name: "haproxy before hypercorn", standIn: .hypercorn, front: .haproxy(), devices: 1000),
        Scenario(
            name: "haproxy with 1 stream before go", standIn: .go,
            front: .haproxy(global: ["tune.h2.max-concurrent-streams 1"]),
            devices: 300),
        Scenario(
            name: "haproxy with windows of 16 before go", standIn: .go,
            front: .haproxy(global: ["tune.h2.initial-window-size 16"]),
            devices: 300),
        Scenario(name: "h2o before go", standIn: .go, front: .h2o([])),
        Scenario(
            name: "h2o before node, 50 ms", standIn: .node, options: ["--latency=50"], front: .h2o([]),
            latencyMilliseconds: 50),
        Scenario(
            name: "h2o with 1 stream before go", standIn: .go,
            front: .h2o(["http2-max-concurrent-requests-per-connection: 1"]),
            devices: 300),
    ]

    private static let throughProxies: [Scenario] = [ForwardProxy.squid, .tinyproxy, .danted, .microsocks].map {
        proxy in
        Scenario(name: "go through \(proxy.rawValue)", standIn: .go, proxy: proxy)
    }

    private static func killed(_ server: StandIn) -> Scenario {
        Scenario(
            name: "\(server.rawValue), killed", standIn: server, fault: .standInKilled(each: 1000),
            isQuick: server == .h2)
    }

    private static let again = [
        Scenario(
            name: "go, killed, unknown: resend", standIn: .go, fault: .standInKilled(each: 1000), unknown: "resend")
    ]

    /// Answers that a gateway writes, and gateways that disappear.
    private static let gateways: [Scenario] = [
        Scenario(
            name: "haproxy gives up after 1 s, go answers after 2", standIn: .go, options: ["--latency=2000"],
            front: .haproxy(["timeout server 1s"]), fault: .answersToAll, devices: 60),
        Scenario(
            name: "haproxy gives up after 1 s, every 20th of go takes 2", standIn: .go,
            options: ["--latency=2000", "--latency-every=20"],
            front: .haproxy(["timeout server 1s"]), fault: .answers, devices: 500),
        Scenario(
            name: "nginx gives up after 1 s, every 20th of go takes 2", standIn: .go,
            options: ["--latency=2000", "--latency-every=20"],
            front: .nginx(["proxy_read_timeout 1s;"]), fault: .answers, devices: 500),
        Scenario(
            name: "h2o gives up after 1 s, every 20th of go takes 2", standIn: .go,
            options: ["--latency=2000", "--latency-every=20"],
            front: .h2o(["proxy.timeout.io: 1000"]), fault: .answers, devices: 500),
        Scenario(
            name: "go, 503 without a word of APNs", standIn: .go,
            options: ["--refuse-every=10", "--refuse-json=false"], fault: .answers,
            devices: 1000),
        Scenario(
            name: "nginx before go, which is killed", standIn: .go, front: .nginx([]), fault: .standInKilled(each: 1000)
        ),
        Scenario(
            name: "haproxy before go, which is killed", standIn: .go, front: .haproxy(),
            fault: .standInKilled(each: 1000),
            known: .refusesWhatWasPassedOn),
        Scenario(
            name: "h2o before go, which is killed", standIn: .go, front: .h2o([]), fault: .standInKilled(each: 1000)),
        Scenario(name: "nginx before go, killed", standIn: .go, front: .nginx([]), fault: .frontKilled(each: 1000)),
        Scenario(name: "haproxy before go, killed", standIn: .go, front: .haproxy(), fault: .frontKilled(each: 1000)),
        Scenario(name: "h2o before go, killed", standIn: .go, front: .h2o([]), fault: .frontKilled(each: 1000)),
        Scenario(name: "nginx before go, reloaded", standIn: .go, front: .nginx([]), fault: .frontReloaded(each: 1000)),
        Scenario(
            name: "haproxy before go, reloaded", standIn: .go, front: .haproxy(), fault: .frontReloaded(each: 1000)),
    ]

    private static let killedProxies: [Scenario] = [ForwardProxy.squid, .tinyproxy, .danted, .microsocks].map { proxy in
        Scenario(
            name: "go through \(proxy.rawValue), killed", standIn: .go, proxy: proxy, fault: .proxyKilled(each: 1000))
    }
}
