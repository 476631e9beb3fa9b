import Base
import Content
import Cryptography
import Delivery
import Glibc
import PushServices
import Runs

/// What recording costs. The same run is read, rendered and sent, both with and without writing
/// claims and outcomes into its file.
struct RecordingBenchmark {
    let bench: Workbench
    let pushes: Int
    let repeats: Int

    func run() throws {
        let both = "\(bench.clientCore),\(bench.serverCore)"
        Table.say(
            "\nWhat recording costs: claims and outcomes written, or not; the plain server; median of \(repeats)\n")
        Table.head([
            "cores", "pushes", "pushes/s without", "pushes/s with", "with / without", "CPU µs a push without", "with",
        ])
        for (name, client, server) in [
            ("sender on one core, server on the other", bench.clientCore, bench.serverCore),
            ("both on both cores", both, both),
        ] {
            var without: [Measurement] = [], with: [Measurement] = []
            for round in 1...max(1, repeats) {
                Table.progress("round \(round) of \(repeats): \(name)")
                let plain = try MeasuredServer(.plain, on: bench, cores: server)
                without.append(try measure(plain, records: false, cores: client))
                with.append(try measure(plain, records: true, cores: client))
                try plain.stop()
            }
            let (less, more) = (Medians(without), Medians(with))
            Table.line([
                name, TextFormat.count(pushes), Table.count(less.rate), Table.count(more.rate),
                Table.fixed(more.rate / less.rate),
                Table.fixed(less.cpuPer100000 * 10), Table.fixed(more.cpuPer100000 * 10),
            ])
        }
    }

    private func measure(_ server: MeasuredServer, records: Bool, cores: String) throws -> Measurement {
        let before = server.cpuSeconds
        let process = try bench.run(
            [
                "\(bench.binaries)/volley-bench", "recording", String(server.port), server.authorityFile,
                server.keyFile, String(pushes),
                records ? "with" : "without",
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

/// The process that `RecordingBenchmark` measures: three threads around a run file, as in
/// `volley send`.
struct RecordingProcess {
    let port: Int
    let authorityFile: String
    let keyFile: String
    let pushes: Int
    let records: Bool

    private static let batchSize = 1000
    private static let claimSize = 4000

    func run() throws -> TransportBenchmark.Result {
        let folder = try Workbench.temporaryFolder()
        defer { Workbench.remove(folder) }
        let (run, template) = try PlannedRun.make(recipients: pushes, folder: folder)
        try run.append(.state(.running, at: .now()))
        let tokens = SignedTokenSource(key: try SigningKey(file: keyFile), keyID: "SIMULATOR1", teamID: "VOLLEYTEAM")
        let sender = try Sender(
            SenderSettings(
                endpoint: Endpoint(host: "localhost", port: port, certificateAuthorityFile: authorityFile),
                credentials: .token(tokens),
                options: PushOptions(topic: BenchPush.topic, pushType: .alert, priority: .high), runSeed: .random()))
        let source = BoundedQueue<PushBatch>(capacity: 4)
        let results = BoundedQueue<[Settlement]>(capacity: 64)
        let cpuBefore = TransportBenchmark.cpuNow(), start = ContinuousClock.now
        let reader = try WorkerThread("read") { try? read(run, template, into: source) }
        let recorder = try WorkerThread("record") { try? record(results, into: run) }
        _ = sender.run(source: source, results: results, control: SendControl())
        _ = reader.join()
        let accepted = recorder.join() ?? 0
        return .init(
            seconds: (ContinuousClock.now - start) / .seconds(1), cpuSeconds: TransportBenchmark.cpuNow() - cpuBefore,
            accepted: accepted)
    }

    private func read(_ run: RunFile, _ template: PayloadTemplate, into source: BoundedQueue<PushBatch>) throws {
        defer { source.close() }
        for start in stride(from: 0, to: pushes, by: Self.claimSize) {
            let claim = start..<min(start + Self.claimSize, pushes)
            var batches: [PushBatch] = []
            try run.forEachPush(in: claim) { push in
                if batches.last.map({ $0.pushes.count == Self.batchSize }) ?? true {
                    batches.append(PushBatch())
                    batches[batches.count - 1].reserve(pushes: Self.batchSize, bytes: Self.batchSize * 256)
                }
                try batches[batches.count - 1].append(recipient: push.id, token: push.token) { bytes in
                    if template.append(push.cells, to: &bytes) != nil {
                        throw Diagnostic("recipient \(push.id) cannot be rendered")
                    }
                }
            }
            if records { try run.append(.claimed(claim, at: .now())) }
            for batch in batches { source.put(batch) }
        }
    }

    private func record(_ results: BoundedQueue<[Settlement]>, into run: RunFile) throws -> Int {
        var accepted = 0
        let groups = SettlementBatcher(results)
        while let group = groups.next() {
            for part in group { accepted += part.count { $0.outcome == .accepted } }
            if records { try run.append(.settled(group)) }
        }
        return accepted
    }
}
