import Base
import Foundation
import Testing

/// A simulator in a process of its own that outlives those that send to it, and the project folder that points to it.
final class LedgeredServer {
    let folder: ProjectFolder
    private let simulator: RunningVolley

    /// - Parameters:
    ///   - app: further lines below the app in volley.yaml.
    ///   - faults: options of `volley simulate`.
    init(app: String = "", devices: Int, faults: [String] = []) throws {
        folder = try ProjectFolder(export: ProjectFolder.export(devices: devices))
        simulator = try VolleyBinary.start(
            ["simulate", "--port", "0", "--ledger", "ledger.jsonl", "--json", "--for", "100"] + faults, in: folder.url)
        while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n") { usleep(20_000) }
        let server = try JSONValue(parsing: simulator.outputSoFar)
        let url = try #require(server["url"]?.stringValue), key = try #require(server["key"]?.stringValue)
        try folder.writeProject(
            app: "environment: {url: \"\(url)\", ca: simulator-ca.pem}\nkey: {file: \(key), id: SIMULATOR1, team: VOLLEYTEAM}\n" + app)
    }

    deinit { _ = simulator.finish(timeout: 0) }

    /// What the simulator accepted, once it has ended: the apns-ids by token, one for each time.
    func accepted() throws -> [String: [String]] {
        simulator.interrupt()
        #expect(simulator.finish().status == 0)
        let ledger = try String(contentsOf: folder.url.appendingPathComponent("ledger.jsonl"), encoding: .utf8)
        var accepted: [String: [String]] = [:]
        for line in ledger.split(separator: "\n") {
            let entry = try JSONValue(parsing: String(line))
            guard entry.int("status") == 200 else { continue }
            accepted[try #require(entry["token"]?.stringValue), default: []].append(try #require(entry["apns_id"]?.stringValue))
        }
        return accepted
    }

    /// Compares the last run's report, recipient by recipient, with what the simulator accepted, once it has ended.
    /// - Parameters:
    ///   - mayRepeat: tokens that may have been accepted more than once; nil for any, as long as the apns-id is the same.
    func expectAgreement(mayRepeat: Set<String>? = [], _ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let lines = try folder.volley("report", "last", "--format", "csv").output.split(separator: "\n").dropFirst()
        let accepted = try accepted()
        var reported: [Substring: Int] = [:]
        var tokens: Set<String> = []
        for line in lines {
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            let (token, outcome) = (String(cells[0]), cells[5])
            reported[outcome, default: 0] += 1
            tokens.insert(token)
            let times = accepted[token]?.count ?? 0
            if outcome == "accepted", times == 0 {
                Issue.record("\(comment): reported as accepted, and was not: \(line)", sourceLocation: sourceLocation)
            }
            if outcome != "accepted", outcome != "unknown", times > 0 {
                Issue.record("\(comment): was accepted, and is not reported so: \(line)", sourceLocation: sourceLocation)
            }
        }
        #expect(tokens.count == lines.count, comment, sourceLocation: sourceLocation)
        #expect(Set(accepted.keys).isSubset(of: tokens), comment, sourceLocation: sourceLocation)
        let repeated = accepted.filter { $0.value.count > 1 }
        if let mayRepeat { #expect(Set(repeated.keys).isSubset(of: mayRepeat), comment, sourceLocation: sourceLocation) }
        #expect(repeated.allSatisfy { Set($0.value).count == 1 }, "\(comment): under another apns-id", sourceLocation: sourceLocation)
        let report = try report()
        for outcome in ["accepted", "invalid_token", "rejected", "failed", "unknown", "unsent"] {
            #expect(report["outcomes"]?.int(outcome) == reported[outcome[...], default: 0], comment, sourceLocation: sourceLocation)
        }
    }

    /// Starts `volley send` and waits until some pushes have answers.
    func startSending(_ command: [String] = ["send", "campaign.yaml", "--yes", "--json"]) throws -> RunningVolley {
        let running = try VolleyBinary.start(command, in: folder.url)
        wait {
            self.isAnswering
        } orEndOf: {
            running
        }
        return running
    }

    private var isAnswering: Bool {
        let ledger = folder.url.appendingPathComponent("ledger.jsonl").path
        return ((try? FileManager.default.attributesOfItem(atPath: ledger)[.size] as? Int) ?? 0) > 20_000
    }

    /// Waits until something is so, at most for twenty seconds, or the process has ended.
    func wait(until isSo: () -> Bool, orEndOf running: () -> RunningVolley) {
        for _ in 0..<1000 where running().isRunning && !isSo() { usleep(20_000) }
    }

    /// The last run's outcomes, state and all.
    func report() throws -> JSONValue {
        let report = try folder.volley("report", "last", "--format", "json")
        try #require(report.status == 0, "\(report.errors)")
        return try report.json()
    }

    /// The last run's tokens that ended in an outcome.
    func tokens(_ outcome: String) throws -> Set<String> { Set(try lines(outcome).map { String($0[0]) }) }

    /// The last run's lines of the CSV report with an outcome, cell by cell.
    func lines(_ outcome: String) throws -> [[Substring]] {
        let report = try folder.volley("report", "last", "--format", "csv")
        try #require(report.status == 0, "\(report.errors)")
        return report.output.split(separator: "\n").dropFirst().map { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .filter { $0[5] == outcome }
    }
}
