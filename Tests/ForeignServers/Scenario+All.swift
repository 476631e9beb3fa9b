extension Scenario {
    /// Those that must end as if nothing had been.
    static let faultless: [Scenario] = servers.flatMap(limits) + windows.flatMap { $0 } + leaving + own

    /// Those in which answers may be lost.
    static let faulty: [Scenario] = servers.map(killed)

    private static let servers: [StandIn] = [.go, .node, .h2, .hypercorn]

    /// A server that takes so many pushes at once.
    private static func limits(_ server: StandIn) -> [Scenario] {
        [(1, 300), (50, 2000), (100, 3000), (1000, 3000)].map { streams, devices in
            let name = "\(server.rawValue), \(streams) streams"
            return Scenario(name: name, standIn: server, options: ["--streams=\(streams)"], devices: devices)
        }
    }

    /// Servers whose flow control lets so many bytes of a body through.
    private static let windows: [[Scenario]] = [StandIn.go, .node, .h2].map { server in
        [(16, 300), (65_535, 3000)].map { window, devices in
            let name = "\(server.rawValue), windows of \(window)"
            return Scenario(name: name, standIn: server, options: ["--window=\(window)"], devices: devices)
        }
    }

    private static let leaving: [Scenario] = [StandIn.go, .node, .h2].map { server in
        Scenario(name: "\(server.rawValue), leaving every 300 ms", standIn: server, options: ["--leave-every=300"])
    }

    private static let own: [Scenario] = [
        Scenario(name: "nginx that closes after 1,000 requests", standIn: .nginx, devices: 5000, isQuick: true),
        Scenario(
            name: "hypercorn that closes after 1,000 requests", standIn: .hypercorn, options: ["--requests=1000"],
            known: .leavesStreamsUnanswered),
    ]

    private static func killed(_ server: StandIn) -> Scenario {
        Scenario(name: "\(server.rawValue), killed", standIn: server, fault: .standInKilled(each: 1000))
    }
}
