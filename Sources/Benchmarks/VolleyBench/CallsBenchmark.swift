import BareCurl
import Base
import Cryptography
import Delivery
import Glibc
import PushServices

/// Volley's sender over libcurl against FCM's simulator, and a loop on libcurl's multi interface in
/// C that does nothing else. nghttp2, over which pushes to FCM really go, is measured next to them.
struct CallsBenchmark {
    let bench: Workbench
    let pushes: Int
    let repeats: Int

    func run() throws {
        let server = try MeasuredServer(.simulator(.fcm), on: bench)
        func contestant(_ name: String, _ way: String) -> Comparison.Contestant {
            .init(name: name, pushes: pushes) { try measure(server, pushes: $0, way) }
        }
        try Comparison(
            title: "Requests over libcurl, against `volley simulate --service fcm`",
            contestants: [
                contestant("bare curl_multi loop in C", "bare"), contestant("Volley's sender over libcurl", "libcurl"),
                contestant("Volley's sender over nghttp2", "nghttp2"),
            ], repeats: repeats, yardstick: "bare loop"
        ).run()
        try server.stop()
    }

    private func measure(_ server: MeasuredServer, pushes: Int, _ way: String) throws -> Measurement {
        let before = server.cpuSeconds
        let process = try bench.run([
            "\(bench.binaries)/volley-bench", "calls", String(server.port), server.authorityFile, server.keyFile,
            String(pushes), way,
        ])
        let result = try TransportBenchmark.Result(json: process.output)
        guard result.accepted == pushes else {
            throw Diagnostic("\(result.accepted) of \(pushes) pushes were accepted")
        }
        return Measurement(
            pushes: pushes, seconds: result.seconds, cpuSeconds: result.cpuSeconds, peakBytes: process.peakBytes,
            serverCPUSeconds: server.cpuSeconds - before)
    }
}

/// A measured process. Its time begins when it has a token.
struct CallsProcess {
    let port: Int
    let authorityFile: String
    let accountFile: String
    let pushes: Int

    private static let inFlight = 100
    /// As `FCMPayload` writes it.
    private static let payload =
        #"{"message":{"apns":{"headers":{}},"notification":{"title":"Hi there","body":"20 % off everything until Sunday."},"android":{}}}"#

    func run(_ way: String) throws {
        guard let exchange = FCM().account.tokenExchange, case .assertion(let facts) = exchange.proof else {
            throw Diagnostic("FCM's tokens are not fetched")
        }
        let account = try facts.read(try JSONValue(parsing: RegularFile.bytes(of: accountFile, atMost: 1 << 20)))
        let endpoint = Endpoint(host: "localhost", port: port, certificateAuthorityFile: authorityFile)
        let source = try FetchedTokenSource(exchange: exchange, identity: .key(account), server: endpoint)
        try source.start()
        defer { source.stop() }
        let options = PushOptions(topic: account.topic ?? "", pushType: .alert, priority: .high)
        if way == "bare" { return print(try bare(FCM().request(options), source).json) }
        var settings = SenderSettings(
            FCM(), endpoint: endpoint, credentials: .fetched(source), options: options, runSeed: .random())
        settings.loops = 1
        settings.connections = 1
        if way == "libcurl" { settings.wire = .calls(inFlight: Self.inFlight) }
        let result = try TransportBenchmark(
            settings: settings, pushes: pushes, target: Self.target, payload: Self.payload
        ).run()
        print(result.json)
    }

    /// A registration token: 22 characters that differ, and a signature that is the same for all.
    static func target(_ device: Int) -> String {
        let digits = String(UInt64(device) &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678 | 1 << 63, radix: 16)
        return digits + "111111:APA91b" + String(repeating: "1", count: 134)
    }

    private func bare(_ template: RequestTemplate, _ source: FetchedTokenSource) throws -> TransportBenchmark.Result {
        let marker = "TARGET" + String(repeating: "0", count: 150)
        let push = RequestPush(
            id: PushID(runSeed: .random(), recipient: 0), target: Array(marker.utf8)[...],
            payload: Array(Self.payload.utf8)[...])
        let request = template.single(push, at: Timestamp.now().epochSeconds)
        let parts = String(decoding: request.body, as: UTF8.self).split(
            separator: marker, omittingEmptySubsequences: false)
        let cpuBefore = TransportBenchmark.cpuNow(), start = ContinuousClock.now
        let accepted = bare_curl_calls(
            "https://localhost:\(port)\(request.path)", authorityFile, source.authorization, String(parts[0]),
            String(parts[1]), pushes,
            Self.inFlight)
        return TransportBenchmark.Result(
            seconds: (ContinuousClock.now - start) / .seconds(1), cpuSeconds: TransportBenchmark.cpuNow() - cpuBefore,
            accepted: accepted)
    }
}

/// The sender alone in its own process: payloads are ready in memory, and outcomes are only
/// counted. No run file, no rendering.
struct TransportBenchmark {
    let settings: SenderSettings
    let pushes: Int
    let target: (Int) -> String
    let payload: String

    private static let batchSize = 1000

    /// What delivery alone cost, without starting the process and making the payloads.
    struct Result {
        var seconds: Double
        var cpuSeconds: Double
        var accepted: Int

        /// One line of JSON for the measuring process.
        var json: String {
            "{\"seconds\":\(Self.microseconds(seconds)),\"cpu\":\(Self.microseconds(cpuSeconds)),\"accepted\":\(accepted)}"
        }

        /// Reads the line of JSON, in which both times are whole microseconds.
        init(json text: String) throws {
            let document = try JSONValue(parsing: text)
            guard let seconds = document["seconds"]?.integerValue, let cpu = document["cpu"]?.integerValue,
                let accepted = document["accepted"]?.integerValue
            else { throw Diagnostic("no result of the transport alone: \(text.prefix(200))") }
            self.init(seconds: Double(seconds) / 1e6, cpuSeconds: Double(cpu) / 1e6, accepted: Int(accepted))
        }

        init(seconds: Double, cpuSeconds: Double, accepted: Int) {
            self.seconds = seconds
            self.cpuSeconds = cpuSeconds
            self.accepted = accepted
        }

        private static func microseconds(_ seconds: Double) -> Int { Int((seconds * 1e6).rounded()) }
    }

    func run() throws -> Result {
        let sender = try Sender(settings)
        let source = fullSource()
        let results = BoundedQueue<[Settlement]>(capacity: 64)
        let counter = try WorkerThread("count") {
            var accepted = 0
            while let group = results.take() { accepted += group.count { $0.outcome == .accepted } }
            return accepted
        }
        let cpuBefore = Self.cpuNow(), start = ContinuousClock.now
        _ = sender.run(source: source, results: results, control: SendControl())
        let accepted = counter.join()
        return Result(
            seconds: (ContinuousClock.now - start) / .seconds(1), cpuSeconds: Self.cpuNow() - cpuBefore,
            accepted: accepted)
    }

    private func fullSource() -> BoundedQueue<PushBatch> {
        let source = BoundedQueue<PushBatch>(capacity: pushes / Self.batchSize + 1)
        let payload = Array(payload.utf8)
        for start in stride(from: 0, to: pushes, by: Self.batchSize) {
            var batch = PushBatch()
            for push in start..<min(start + Self.batchSize, pushes) {
                batch.append(recipient: push, token: target(push), payload: payload)
            }
            source.put(batch)
        }
        source.close()
        return source
    }

    /// Returns the CPU time of all threads of this process.
    static func cpuNow() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return usage.cpuSeconds
    }
}
