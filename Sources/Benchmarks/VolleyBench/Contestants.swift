import Base

/// All contestants, set up for one server.
struct Contestants {
    private let bench: Workbench
    private let server: MeasuredServer
    private let campaigns: CampaignFolder

    init(_ bench: Workbench, _ server: MeasuredServer) throws {
        self.bench = bench
        self.server = server
        campaigns = try CampaignFolder(bench, server)
    }

    func h2load(_ pushes: Int) throws -> Comparison.Contestant {
        let tool = try H2Load(bench, server, pushes: pushes)
        return .init(name: "h2load -c1 -m1000, distinct paths", pushes: pushes) { try tool.run(pushes: $0) }
    }

    func bareLoop(_ pushes: Int) -> Comparison.Contestant {
        .init(name: "bare curl_multi loop in C", pushes: pushes) { [bench, server] pushes in
            let before = server.cpuSeconds
            let result = try bench.run([
                "\(bench.binaries)/volley-bench", "bare-curl", server.url, server.authorityFile, server.keyFile, String(pushes),
            ])
            return Measurement(
                pushes: pushes, seconds: result.seconds, cpuSeconds: result.cpuSeconds, peakBytes: result.peakBytes,
                serverCPUSeconds: server.cpuSeconds - before)
        }
    }

    func transportAlone(_ pushes: Int) -> Comparison.Contestant {
        .init(name: "Volley's transport alone", pushes: pushes) { [bench, server] in
            try Self.deliver(bench, server, pushes: $0)
        }
    }

    func campaign(_ pushes: Int) -> Comparison.Contestant {
        .init(name: "volley send, whole campaign", pushes: pushes) { [campaigns] in
            try campaigns.send(recipients: $0)
        }
    }

    /// Measures the sender alone. Its time covers delivery only; its memory includes all payloads.
    static func deliver(
        _ bench: Workbench, _ server: MeasuredServer, pushes: Int, loops: Int = 1, cores: String? = nil
    ) throws -> Measurement {
        let before = server.cpuSeconds
        let process = try bench.run(
            [
                "\(bench.binaries)/volley-bench", "deliver", String(server.port), server.authorityFile, server.keyFile, String(pushes),
                String(loops),
            ], cores: cores)
        let result = try TransportBenchmark.Result(json: process.output)
        guard result.accepted == pushes else { throw Diagnostic("\(result.accepted) of \(pushes) pushes were accepted") }
        return Measurement(
            pushes: pushes, seconds: result.seconds, cpuSeconds: result.cpuSeconds, peakBytes: process.peakBytes,
            serverCPUSeconds: server.cpuSeconds - before)
    }
}
