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
                "\(bench.binaries)/volley-bench", "bare-curl", server.url, server.authorityFile, server.keyFile,
                String(pushes),
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
                "\(bench.binaries)/volley-bench", "deliver", String(server.port), server.authorityFile, server.keyFile,
                String(pushes),
                String(loops),
            ], cores: cores)
        let result = try TransportBenchmark.Result(json: process.output)
        guard result.accepted == pushes else {
            throw Diagnostic("\(result.accepted) of \(pushes) pushes were accepted")
        }
        return Measurement(
            pushes: pushes, seconds: result.seconds, cpuSeconds: result.cpuSeconds, peakBytes: process.peakBytes,
            serverCPUSeconds: server.cpuSeconds - before)
    }
}

/// Contestants that send to one server in turn, so that a slow minute of the machine affects all of
/// them. The first one is the yardstick.
struct Comparison {
    struct Contestant {
        let name: String
        let pushes: Int
        let run: (_ pushes: Int) throws -> Measurement
    }

    let title: String
    let contestants: [Contestant]
    let repeats: Int
    /// The first contestant's name in the heads of columns.
    var yardstick = "h2load"

    func run() throws {
        var measurements = contestants.map { _ in [Measurement]() }
        for round in 1...max(1, repeats) {
            for (index, contestant) in contestants.enumerated() {
                Table.progress(
                    "round \(round) of \(repeats): \(contestant.name), \(TextFormat.count(contestant.pushes)) pushes")
                measurements[index].append(try contestant.run(contestant.pushes))
            }
        }
        Table.say("\n\(title); median of \(repeats)\n")
        Table.head([
            "contestant", "pushes", "pushes/s", "CPU s per 100,000", "peak memory", "rate / \(yardstick)",
            "CPU / \(yardstick)",
            "its share of its core",
            "the server's of its own",
        ])
        let medians = measurements.map(Medians.init)
        guard let first = medians.first else { return }
        for (contestant, figures) in zip(contestants, medians) {
            Table.line([
                contestant.name, TextFormat.count(contestant.pushes), Table.count(figures.rate),
                Table.fixed(figures.cpuPer100000),
                TextFormat.bytes(figures.peakBytes), Table.fixed(figures.rate / first.rate),
                Table.fixed(figures.cpuPer100000 / first.cpuPer100000), Table.percent(figures.ownShare),
                Table.percent(figures.serverShare),
            ])
        }
    }
}

/// h2load, nghttp2's own load generator: shows what a C program reaches that prepares all requests
/// beforehand and ignores the answers.
struct H2Load {
    private let bench: Workbench
    private let server: MeasuredServer
    private let pathsFile: String
    private let bodyFile: String
    private let bearer: String
    /// The cost of preparing the paths, regardless of the number of pushes. It is subtracted, as
    /// the others' preparations are not counted either.
    private var setupCPUSeconds = 0.0

    /// The most paths. h2load prepares every path's headers in memory, and repeats them if there
    /// are more pushes.
    private static let mostPaths = 100_000
    /// How many streams h2load opens if the server's SETTINGS come late, before it has the limit.
    /// The limit is one until the first push is accepted, as at APNs. All other streams are then
    /// refused, and h2load does not send them again.
    private static let streamsBeforeSettings = 100

    init(_ bench: Workbench, _ server: MeasuredServer, pushes: Int) throws {
        self.bench = bench
        self.server = server
        let folder = try bench.makeFolder("h2load-\(server.port)")
        pathsFile = "\(folder)/paths"
        bodyFile = "\(folder)/body"
        try Workbench.write(pathsFile) { line in
            for path in 0..<min(pushes, Self.mostPaths) { line("\(server.url)/3/device/\(BenchPush.token(path))\n") }
        }
        try Workbench.write(bodyFile) { $0(BenchPush.payload) }
        bearer = try bench.run(["\(bench.binaries)/volley-bench", "bearer", server.keyFile]).output.filter {
            !$0.isWhitespace
        }
        setupCPUSeconds = try load(pushes: 1).cpuSeconds
    }

    func run(pushes: Int) throws -> Measurement {
        let before = server.cpuSeconds
        let result = try load(pushes: pushes)
        let output = try Output(result.output)
        guard output.succeeded > pushes - Self.streamsBeforeSettings, output.succeeded <= pushes else {
            throw Diagnostic(
                "h2load: \(output.succeeded) of \(pushes) requests succeeded\n\(result.output.suffix(800))")
        }
        return Measurement(
            pushes: output.succeeded, seconds: output.seconds, cpuSeconds: max(0, result.cpuSeconds - setupCPUSeconds),
            peakBytes: result.peakBytes,
            serverCPUSeconds: server.cpuSeconds - before)
    }

    private func load(pushes: Int) throws -> ChildProcess.Result {
        try bench.run([
            "h2load", "-c1", "-m1000", "-n", String(pushes), "-i", pathsFile, "-d", bodyFile, "-H",
            "authorization: bearer \(bearer)", "-H",
            "apns-topic: \(BenchPush.topic)", "-H", "apns-push-type: alert", "-H", "apns-priority: 10",
        ])
    }

    /// What h2load reports about a run.
    struct Output {
        /// The time from connecting to the last answer, from which h2load computes its own rate.
        var seconds: Double
        /// Answers with a status from 200 to 299.
        var succeeded: Int

        /// Reads `finished in 3.04s, 65789.47 req/s, …` and `status codes: 200000 2xx, …`.
        init(_ text: String) throws {
            let lines = text.split(separator: "\n").map { $0.split(separator: " ").map { $0.filter { $0 != "," } } }
            guard let finished = lines.first(where: { $0.starts(with: ["finished", "in"]) }), finished.count > 2,
                let seconds = Self.seconds(finished[2]),
                let codes = lines.first(where: { $0.starts(with: ["status", "codes:"]) }), codes.count > 2,
                let succeeded = Int(codes[2])
            else { throw Diagnostic("h2load's output is not understood:\n\(text.suffix(800))") }
            self.seconds = seconds
            self.succeeded = succeeded
        }

        /// Reads `950us`, `302.11ms` or `3.04s`. h2load does not use minutes.
        private static func seconds(_ text: String) -> Double? {
            for (unit, factor) in [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)] where text.hasSuffix(unit) {
                return Double(text.dropLast(unit.count)).map { $0 * factor }
            }
            return nil
        }
    }
}

/// Two loops on two cores. The server needs as much CPU time as the sender, so both share the
/// cores: one core for the whole system, then two.
struct ScalingBenchmark {
    let bench: Workbench
    let pushes: Int
    let repeats: Int

    func run() throws {
        let both = "\(bench.clientCore),\(bench.serverCore)"
        let set = [
            ("(a) both on one core, one loop", bench.clientCore, 1), ("(b) both on two cores, two loops", both, 2),
            ("(c) both on two cores, one loop", both, 1),
        ]
        var measurements = set.map { _ in [Measurement]() }
        for round in 1...max(1, repeats) {
            for (index, (name, cores, loops)) in set.enumerated() {
                Table.progress("round \(round) of \(repeats): \(name)")
                let server = try MeasuredServer(.plain, on: bench, cores: cores)
                measurements[index].append(
                    try Contestants.deliver(bench, server, pushes: pushes, loops: loops, cores: cores))
                try server.stop()
            }
        }
        let figures = measurements.map(Medians.init)
        Table.say(
            """

            Scaling: Volley's transport alone and the plain server on the same cores, as this machine has no other cores for the server; median of \(repeats).
            What is measured is the whole system, sender and server together. The second loop starts once the first has been saturated for half a second.

            """)
        Table.head(["cores and loops", "pushes", "pushes/s", "sender's CPU µs a push", "server's CPU µs a push"])
        for ((name, _, _), one) in zip(set, figures) {
            Table.line([
                name, TextFormat.count(pushes), Table.count(one.rate), Table.fixed(one.cpuPer100000 * 10),
                Table.fixed(one.serverShare / one.rate * 1e6),
            ])
        }
        let (one, two, apart) = (figures[0].rate, figures[1].rate, figures[2].rate)
        Table.say("\nb / a: \(Table.fixed(two / one)); b / c, what the second loop adds: \(Table.fixed(two / apart))")
    }
}
