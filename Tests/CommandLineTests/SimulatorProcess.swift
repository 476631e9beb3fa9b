import Base
import Foundation
import TestCommands
import Testing

/// `volley simulate` for a service, in a folder of its own, as a bench of campaigns has it.
final class SimulatorProcess {
    private let service: String
    private let server: ProjectFolder
    private var simulator: RunningVolley
    private var ledgers = 1
    /// Its output at its end; nil while it runs.
    private var lastWords: String?
    /// Where it listens.
    let url: String

    /// - Parameter options: of `volley simulate`.
    init(_ service: String, _ options: [String]) throws {
        self.service = service
        server = try ProjectFolder()
        try FileManager.default.removeItem(at: server.url.appendingPathComponent("volley.yaml"))
        simulator = try Self.start(service, in: server, port: "0", ledger: "ledger-1.jsonl", options)
        url = try #require(try JSONValue(parsing: simulator.outputSoFar)["url"]?.stringValue)
    }

    deinit { stop() }

    private static func start(
        _ service: String, in server: ProjectFolder, port: String, ledger: String, _ options: [String]
    ) throws -> RunningVolley {
        let simulator = try VolleyBinary.start(
            [
                "simulate", "--service", service, "--port", port, "--for", VolleyBinary.simulatorSeconds, "--key",
                "secret.txt", "--ledger",
                ledger, "--json",
            ]
                + options,
            in: server.url)
        let limit = Date().addingTimeInterval(30)
        while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n"), Date() < limit { usleep(20_000) }
        return simulator
    }

    /// Writes the secret that it trusts, and its authority, into a project.
    func introduce(to folder: ProjectFolder) throws {
        try folder.write("secret.txt", try Data(contentsOf: server.url.appendingPathComponent("secret.txt")))
        try folder.write("ca.pem", try Data(contentsOf: server.url.appendingPathComponent("simulator-ca.pem")))
    }

    /// Replaces it by an empty one at the same address, and registers its devices.
    func restart(_ options: [String] = [], for folder: ProjectFolder) throws {
        stop()
        let port = try #require(url.split(separator: ":").last.map(String.init))
        ledgers += 1
        lastWords = nil
        simulator = try Self.start(service, in: server, port: port, ledger: "ledger-\(ledgers).jsonl", options)
        try introduce(to: folder)
    }

    /// Ends it.
    /// - Returns: its output at the end.
    @discardableResult
    func stop() -> String {
        if let lastWords { return lastWords }
        kill(simulator.processID, SIGTERM)
        let words = simulator.finish(timeout: 10).errors
        lastWords = words
        return words
    }

    /// The lines of a ledger, once the simulator has ended.
    /// - Parameter number: of the first simulator, or of one that replaced it.
    func ledger(_ number: Int = 1) throws -> [JSONValue] {
        stop()
        let text = try String(contentsOf: server.url.appendingPathComponent("ledger-\(number).jsonl"), encoding: .utf8)
        return try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    }
}
