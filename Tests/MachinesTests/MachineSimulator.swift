import Base
import Foundation
import TestCommands

/// `volley simulate` with a ledger, in a folder of its own. It outlives the machines that send to
/// it.
final class MachineSimulator {
    /// An answer in the ledger.
    struct Entry {
        var milliseconds: Int
        var token: String
        var status: Int

        var isAccepted: Bool { status == 200 }
    }

    let service: String
    private let folder: ProjectFolder
    private let process: RunningVolley
    private let words: JSONValue

    /// - Parameter options: of `volley simulate`.
    init(_ service: String = "apns", _ options: [String] = []) throws {
        self.service = service
        folder = try ProjectFolder()
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("volley.yaml"))
        process = try VolleyBinary.start(
            ["simulate", "--service", service, "--port", "0", "--for", "1500", "--ledger", "ledger.jsonl", "--json"]
                + options,
            in: folder.url)
        let limit = Date().addingTimeInterval(60)
        while process.isRunning, !process.outputSoFar.hasSuffix("}\n"), Date() < limit { usleep(20_000) }
        words = try JSONValue(parsing: process.outputSoFar)
    }

    deinit { _ = process.finish(timeout: 0) }

    /// `environment` in volley.yaml, and the file with the key that it trusts.
    var environment: String {
        let authority = folder.url.appendingPathComponent("simulator-ca.pem").path
        return "{url: \"\(words["url"]?.stringValue ?? "")\", ca: \(authority)}"
    }

    var key: String { words["key"]?.stringValue ?? "" }

    private var file: URL { folder.url.appendingPathComponent("ledger.jsonl") }

    /// How many answers the ledger has so far: all lines are about equally long.
    func countSoFar() -> Int {
        guard let bytes = try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int, bytes > 0 else {
            return 0
        }
        if lineBytes == nil, let text = try? String(contentsOf: file, encoding: .utf8) {
            lineBytes = text.split(separator: "\n", maxSplits: 1).first.map { $0.utf8.count + 1 }
        }
        return bytes / (lineBytes ?? 300)
    }

    private var lineBytes: Int?

    /// Ends it, and reads the whole ledger, in the order of its times.
    func entries() throws -> [Entry] {
        if process.isRunning {
            process.interrupt()
            _ = process.finish(timeout: 20)
        }
        let text = try String(contentsOf: file, encoding: .utf8)
        let entries = try text.split(separator: "\n").map { line in
            let entry = try JSONValue(parsing: String(line))
            return Entry(
                milliseconds: entry.int("time_ms") ?? 0, token: (entry["token"] ?? entry["target"])?.stringValue ?? "",
                status: entry.int("status") ?? 0)
        }
        return entries.sorted { $0.milliseconds < $1.milliseconds }
    }
}
