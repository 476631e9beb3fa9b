import Base
import Content
import Delivery
import Foundation
import PushServices
import Runs
import Simulators
import Testing
import Workspace

@testable import Sending

/// Two texts to three devices each, one of which is no device, through JPush's strict simulator;
/// the process is killed after any number of the groups in which outcomes are recorded, and another
/// one resumes the run.
@Suite("calls whose outcomes were recorded in part when the process was killed")
struct HalfRecordedCallsTests {
    private static let app = "0123456789abcdef01234567", secret = "5e987ac6d2e04d95a9d8f0d1"
    private static let bad: Set = [1, 5]
    private static let ids = (0..<6).map { bad.contains($0) ? "0000100300000000000\($0)" : "1a0018970a8d000000\($0)" }
    private static let campaign =
        "name: c\napp: shop\naudience: {tags: [a]}\ncontent: {title: Hi, body: \"Hi {{ text }}\"}\n"

    /// A run, the simulator that takes its pushes, and what a process does with both.
    private final class Bench {
        let run: RunFile
        private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "volley-half-\(UUID().uuidString)")
        private let simulator: ServiceSimulator
        private let messages: MessageCatalog

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            var configuration = SimulatorConfiguration()
            configuration.secrets = [TrustedSecret(app: app, secret: secret)]
            configuration.ledgerFile = folder.appendingPathComponent("ledger.jsonl").path
            // Longer than settlements wait for others: each answer is a group of its own.
            configuration.faults.latencyMilliseconds = 130
            simulator = try StandIn.jpush.start(configuration)
            try Data(simulator.certificateAuthorityPEM.utf8).write(to: folder.appendingPathComponent("ca.pem"))
            let writer = try RunWriter(folder: folder.path, id: "a")
            for (slot, id) in ids.enumerated() {
                try writer.put(Recipient(token: Target(normalized: id), fields: [slot < 3 ? "one" : "two"]), at: slot)
            }
            var settings = RunSettings(
                environment: .simulator, topic: app, pushType: .alert, renderingRules: MessageCatalog.renderingRules)
            settings.services[0].serviceName = JPush().name
            run = try writer.finish(
                RunPlan(
                    id: "a", campaign: "c", app: "shop", campaignFile: "c.yaml", campaignSource: campaign,
                    projectFile: "volley.yaml",
                    seed: RunSeed(high: 1, low: 2), fields: ["text"], plannedAt: .now(), planHash: "", rows: ids.count,
                    audience: ids.count,
                    skipped: [:], settings: .success(settings), preview: .object([])))
            messages = try MessageCatalog(frozenIn: run.plan)
            try run.append(.state(.running, at: .now()))
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// Sends what is left, as `RunSender` does.
        /// - Parameter most: how many groups are recorded before the process is killed.
        /// - Returns: how many groups there were.
        func send(recording most: Int = .max) throws -> Int {
            let calls = try EarlierCalls(of: run, [(0, JPush())], at: .now())
            let batches = BoundedQueue<PushBatch>(capacity: 100), results = BoundedQueue<[Settlement]>(capacity: 100)
            var reader = PushReader(
                run: run, messages: messages, paces: RequestPaces(JPush().batching), resendsUnknown: false)
            reader.repeats = calls.repeats(in: RunSegment(ids: 0..<ids.count, service: 0))
            #expect(try reader.read(into: batches).isEmpty)
            batches.close()
            var settings = SenderSettings(
                JPush(),
                endpoint: Endpoint(
                    host: "localhost", port: simulator.port,
                    certificateAuthorityFile: folder.appendingPathComponent("ca.pem").path),
                credentials: .fixed(FixedTokenSource(basic: AppSecret(topic: app, secret: secret))),
                options: PushOptions(topic: app, pushType: .alert, priority: .high), runSeed: run.plan.seed)
            settings.wire = .calls(inFlight: 1)
            settings.commitCalls = { [run] calls in (try? run.append(.callsNamed(calls))) != nil }
            #expect(try Sender(settings).run(source: batches, results: results, control: SendControl()) == .finished)
            var groups: [[Settlement]] = []
            while let group = results.take() { groups.append(group) }
            for group in groups.prefix(most) { try run.append(.settled([group])) }
            return groups.count
        }

        /// The numbers under which JPush took pushes to each id: one, if it was pushed to once.
        func taken() throws -> [String: Set<String>] {
            simulator.stop()
            let text = try String(contentsOf: folder.appendingPathComponent("ledger.jsonl"), encoding: .utf8)
            return try text.split(separator: "\n").reduce(into: [:]) { taken, line in
                let entry = try JSONValue(parsing: String(line))
                guard entry["status"] == .integer(200), let id = entry["target"]?.stringValue else { return }
                taken[id, default: []].insert(entry["msg_id"]?.stringValue ?? "")
            }
        }
    }

    @Test(
        "whenever the process is killed, the next one pushes to nobody twice, loses nobody, and reports what JPush did with each"
    )
    func anyCut() throws {
        var groups = 1, cut = 0
        while cut <= groups {
            let bench = try Bench()
            groups = max(groups, try bench.send(recording: cut))
            _ = try bench.send()
            var outcomes: [Int: Outcome] = [:]
            try bench.run.forEachResult { id, _, settlement, _ in outcomes[id] = settlement?.outcome }
            #expect(
                outcomes
                    == Dictionary(
                        uniqueKeysWithValues: (0..<6).map { ($0, Self.bad.contains($0) ? .invalidToken : .accepted) }))
            let taken = try bench.taken()
            #expect(
                Set(taken.keys) == Set((0..<6).filter { !Self.bad.contains($0) }.map { Self.ids[$0] }),
                "after \(cut) of \(groups)")
            #expect(taken.values.allSatisfy { $0.count == 1 }, "after \(cut) of \(groups)")
            cut += 1
        }
        #expect(groups >= 3, "some answers were recorded by themselves")
    }
}
