import BareCurl
import Base
import Cryptography
import Delivery
import Glibc
import PushServices

/// `make bench`: compares Volley with other tools, all measured in the same run on the same
/// machine. Prints Markdown for docs/performance.md. `--sending` and `--planning` (the default),
/// `--calls`, `--services`, `--memory`, `--recording`, `--scaling`, `--rendering` `--machines` and
/// `--reports` choose the tables; `--quick` makes them once and small.
///
/// `volley-bench pipeline [RECIPIENTS]`: what a push costs outside the transport; a few seconds.
///
/// The other commands are the measured processes, each separate so that its time and memory can be
/// told apart: `bare-curl URL CA KEY PUSHES [STREAMS]`,
/// `recording PORT CA KEY PUSHES with|without`,
/// `deliver PORT CA KEY PUSHES [LOOPS [CONNECTIONS [PROXY]]]`, `bearer KEY`,
/// `answer CA KEY SECONDS`, and against FCM's simulator
/// `calls PORT CA ACCOUNT PUSHES bare|libcurl|nghttp2`.
@main
struct VolleyBench {
    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            let line = Array("volley-bench: \(error)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) throws {
        let words = Array(arguments.dropFirst())
        switch (arguments.first, words.count) {
        case ("bare-curl", 4...): try bareCurl(words)
        case ("deliver", 4...): try deliver(words)
        case ("calls", 5):
            try CallsProcess(
                port: Int(words[0]) ?? 0, authorityFile: words[1], accountFile: words[2], pushes: Int(words[3]) ?? 0
            ).run(words[4])
        case ("recording", 5):
            let result = try RecordingProcess(
                port: Int(words[0]) ?? 0, authorityFile: words[1], keyFile: words[2], pushes: Int(words[3]) ?? 0,
                records: words[4] == "with"
            ).run()
            print(result.json)
        case ("bearer", 1): print(ProviderBearer.make(try SigningKey(file: words[0])))
        case ("answer", 3):
            try PlainServer.run(authorityFile: words[0], keyFile: words[1], seconds: Int(words[2]) ?? 600)
        case ("export", 3):
            guard let rows = Int(words[1]), let format = ExportGenerator.Format(rawValue: words[2]) else {
                throw Diagnostic("export PATH ROWS csv|jsonl")
            }
            var generator = ExportGenerator(rows: rows, format: format)
            try generator.write(to: words[0])
        case ("pipeline", _): try PipelineBenchmark(recipients: words.first.flatMap { Int($0) } ?? 200_000).run()
        default: try measure(Set(arguments))
        }
    }

    private static func measure(_ options: Set<String>) throws {
        let unknown = options.subtracting([
            "--quick", "--sending", "--planning", "--memory", "--scaling", "--recording", "--rendering", "--reports",
            "--calls",
            "--services", "--machines",
        ])
        guard unknown.isEmpty else {
            throw Diagnostic(
                "unknown: \(unknown.sorted().joined(separator: " "))",
                remedy:
                    "Use --sending, --calls, --services, --planning, --memory, --recording, --scaling, --rendering, --reports, --machines and --quick, or `pipeline`."
            )
        }
        if options.contains("--rendering") {
            let isQuick = options.contains("--quick")
            try RenderingBenchmark(payloads: isQuick ? 100_000 : 2_000_000, rounds: isQuick ? 1 : 7).run()
            if options.isSubset(of: ["--rendering", "--quick"]) { return }
        }
        Interruption.install()
        let isQuick = options.contains("--quick")
        let bench = try Workbench()
        defer { bench.clear() }
        let repeats = isQuick ? 1 : 3, many = isQuick ? 20_000 : 400_000, few = isQuick ? 5000 : 100_000
        Table.say("Sender on core \(bench.clientCore), server on core \(bench.serverCore); the contestants take turns.")
        let isPlain = options.isSubset(of: ["--quick", "--rendering"])
        if isPlain || options.contains("--sending") {
            try againstSimulator(bench, many: many, few: few, repeats: repeats)
            try againstPlainServer(bench, many: many, repeats: repeats)
        }
        if isPlain || options.contains("--sending") || options.contains("--calls") {
            try CallsBenchmark(bench: bench, pushes: few, repeats: repeats).run()
        }
        if options.contains("--services") { try ServicesBenchmark(bench: bench, devices: many, repeats: repeats).run() }
        if isPlain || options.contains("--planning") { try PlanningBenchmark(bench: bench, isQuick: isQuick).run() }
        if options.contains("--scaling") {
            try ScalingBenchmark(bench: bench, pushes: isQuick ? 100_000 : 800_000, repeats: repeats).run()
        }
        if options.contains("--recording") {
            try RecordingBenchmark(bench: bench, pushes: isQuick ? 50_000 : 800_000, repeats: repeats).run()
        }
        if options.contains("--reports") {
            try ReportBenchmark(bench: bench, recipients: isQuick ? 200_000 : 10_000_000).run()
        }
        if options.contains("--machines") {
            try MachinesBenchmark(bench: bench, recipients: isQuick ? 50_000 : 1_000_000, repeats: isQuick ? 1 : 5)
                .run()
        }
        if options.contains("--memory") {
            try MemoryBenchmark(bench: bench, sizes: isQuick ? [10_000, 100_000] : [1_000_000, 10_000_000]).run()
        }
    }

    private static func againstSimulator(_ bench: Workbench, many: Int, few: Int, repeats: Int) throws {
        let server = try MeasuredServer(.simulator(.apns), on: bench)
        let all = try Contestants(bench, server)
        try Comparison(
            title: "Against `volley simulate`, which checks everything that APNs checks",
            contestants: [
                try all.h2load(many), all.transportAlone(many), all.campaign(many), all.bareLoop(few),
            ], repeats: repeats
        ).run()
        try server.stop()
    }

    private static func againstPlainServer(_ bench: Workbench, many: Int, repeats: Int) throws {
        let server = try MeasuredServer(.plain, on: bench)
        let all = try Contestants(bench, server)
        try Comparison(
            title: "Against a server that answers 200 and checks nothing",
            contestants: [try all.h2load(many), all.transportAlone(many), all.campaign(many)], repeats: repeats
        ).run()
        try server.stop()
    }

    // MARK: The measured processes

    private static func bareCurl(_ words: [String]) throws {
        let pushes = Int(words[3]) ?? 0
        let accepted = bare_curl_multi(
            words[0], words[1], ProviderBearer.make(try SigningKey(file: words[2])), BenchPush.topic, BenchPush.payload,
            pushes,
            words.count > 4 ? Int(words[4]) ?? 1000 : 1000)
        print(accepted)
        exit(accepted == pushes ? 0 : 1)
    }

    private static func deliver(_ words: [String]) throws {
        let tokens = SignedTokenSource(key: try SigningKey(file: words[2]), keyID: "SIMULATOR1", teamID: "VOLLEYTEAM")
        var settings = SenderSettings(
            endpoint: Endpoint(host: "localhost", port: Int(words[0]) ?? 0, certificateAuthorityFile: words[1]),
            credentials: .token(tokens),
            options: PushOptions(topic: BenchPush.topic, pushType: .alert, priority: .high),
            runSeed: .random())
        settings.loops = words.count > 4 ? Int(words[4]) ?? 1 : 1
        if words.count > 5, let connections = Int(words[5]) { settings.connections = connections }
        settings.proxy = words.count > 6 ? words[6] : nil
        let result = try TransportBenchmark(
            settings: settings, pushes: Int(words[3]) ?? 0, target: BenchPush.token, payload: BenchPush.payload
        ).run()
        print(result.json)
    }
}

/// Provider tokens for contestants that cannot make their own.
enum ProviderBearer {
    /// Makes a provider token for the simulator, as Volley itself does.
    static func make(_ key: SigningKey) -> String {
        let header = Base64URL.text(Array("{\"alg\":\"ES256\",\"kid\":\"SIMULATOR1\"}".utf8))
        let claims = Base64URL.text(Array("{\"iss\":\"VOLLEYTEAM\",\"iat\":\(Timestamp.now().epochSeconds)}".utf8))
        return "\(header).\(claims).\(Base64URL.text(key.sign(Array("\(header).\(claims)".utf8))))"
    }
}

/// An app of volley.yaml that a benchmark sends through, and devices that its service may have.
struct BenchApp: Sendable {
    let service: any PushService
    /// The name of a campaign to it in tables.
    let name: String
    /// The keys of volley.yaml that name the app at its service, in addition to `environment`.
    let keys: @Sendable (_ keyFile: String) -> [String]
    /// The keys of content that the service has, in addition to title, body and link.
    let content: [String]
    /// Returns the target of a device: spread over what the service gives out, so that no simulated
    /// answer depends on their order.
    let target: @Sendable (_ device: Int) -> String
    /// The limit per minute that the simulator is started with; nil for its default. More than any
    /// contestant sends: otherwise the limit would be measured.
    let limitPerMinute: Int?

    /// As fast as volley.yaml can say.
    private static let unpaced = "pace: 1000000/s"

    static let apns = BenchApp(
        service: APNs(), name: "APNs, one device a request",
        keys: { ["topic: \(BenchPush.topic)", "key: {file: \($0), id: SIMULATOR1, team: VOLLEYTEAM}"] },
        content: ["sound: default"], target: { BenchPush.token($0) }, limitPerMinute: nil)

    static let fcm = BenchApp(
        service: FCM(), name: "FCM, one device a request",
        keys: { ["project: volley-simulator", "service_account: {file: \($0)}"] },
        content: ["sound: default"], target: { CallsProcess.target($0) }, limitPerMinute: nil)

    /// Campaigns through services whose requests carry many devices. The app keys are those that
    /// simulators know by default.
    static let many = [
        BenchApp(
            service: JPush(), name: "JPush, 1,000 devices a call",
            keys: { ["app_key: 0123456789abcdef01234567", "master_secret: {file: \($0)}", unpaced] },
            content: ["sound: default"], target: { "1a" + BenchPush.token($0).prefix(17) }, limitPerMinute: 60_000_000),
        BenchApp(
            service: Getui(), name: "Getui, 200 devices a batch", keys: { getui($0) }, content: ["sound: default"],
            target: { String(BenchPush.token($0).prefix(32)) }, limitPerMinute: 60_000_000),
        BenchApp(
            service: Getui(), name: "Getui, lists of 1,000 devices", keys: { getui($0) + ["lists: true"] },
            content: ["sound: default"],
            target: { String(BenchPush.token($0).prefix(32)) }, limitPerMinute: 60_000_000),
        BenchApp(
            service: RongCloud(), name: "RongCloud, 100 users a request",
            keys: { ["app_key: volleysimulator", "app_secret: {file: \($0)}", unpaced] },
            content: [], target: { "user-\($0)" }, limitPerMinute: 60_000_000),
    ]

    private static func getui(_ keyFile: String) -> [String] {
        [
            "app_id: SimulatorAppId00000000", "app_key: SimulatorAppKey0000000", "master_secret: {file: \(keyFile)}",
            unpaced,
        ]
    }
}

/// The push that every contestant sends.
enum BenchPush {
    /// The payload that h2load, the bare loop and the transport alone repeat. A campaign renders
    /// one of nearly the same size for each device.
    static let payload =
        #"{"aps":{"alert":{"title":"Hi there","body":"20 % off everything until Sunday, in every store."},"sound":"default"},"link":"shop://sale"}"#
    static let topic = "com.example.shop"

    /// Returns a token like those of a random export: spread over the whole range, so that no
    /// simulated answer depends on their order.
    static func token(_ device: Int) -> String {
        let x = UInt64(device) &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678
        return [x | 1 << 63, x &* 3, x &* 5, x &* 7].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
