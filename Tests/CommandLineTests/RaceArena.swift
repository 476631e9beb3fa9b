import Base
import Foundation
import TestCommands
import Testing

/// A command that takes part in a race.
enum Contender: String, CaseIterable {
    case send, sendPlan = "send-plan", resume, retry, cancel, schedule, prune, approve

    /// Whether it sends, to the end.
    var isSender: Bool { [.send, .sendPlan, .resume, .retry].contains(self) }

    /// The states in which it has something to do.
    var places: Set<RaceStart.State> {
        switch self {
        case .send, .schedule: [.fresh, .planned, .unapproved]
        case .sendPlan: [.planned, .unapproved]
        case .resume: [.stopped, .cancelled, .stoppedUnapproved]
        case .retry: [.cancelled, .finished]
        case .cancel: [.planned, .unapproved, .stopped, .stoppedUnapproved]
        case .prune: [.cancelled, .finished, .stopped]
        case .approve: [.unapproved, .stoppedUnapproved]
        }
    }

    /// - Parameter run: an id, or `last`.
    func arguments(_ run: String, _ state: RaceStart.State) -> [String] {
        switch self {
        case .send: ["send", "campaign.yaml", "--yes"]
        case .sendPlan: ["send", "--plan", run, "--yes"]
        case .resume: ["resume", run]
        case .retry: ["retry", run, "--yes"] + (state == .finished ? [] : ["--outcome", "unsent"])
        case .cancel: ["cancel", run]
        case .schedule: ["schedule", "campaign.yaml"]
        case .prune: ["prune", "--keep", "0d", "--include-stopped", "--yes"]
        case .approve: ["approve", run, "--by", "Anna", "--yes"]
        }
    }
}

/// The start of a race: the files of a folder of runs, restored before each race.
struct RaceStart {
    enum State: String, CaseIterable {
        /// A campaign that is due, without a run.
        case fresh
        case planned
        /// Planned, and an approval is required.
        case unapproved
        /// Interrupted in the middle.
        case stopped
        /// Interrupted before an approval was required.
        case stoppedUnapproved = "stopped-unapproved"
        /// Interrupted, then cancelled.
        case cancelled
        /// With devices that are unknown.
        case finished

        var needsApproval: Bool { self == .unapproved || self == .stoppedUnapproved }
    }

    var state: State
    /// Names and contents.
    var files: [String: Data] = [:]
    /// The run's id; nil if there is no run.
    var run: String?
    /// Tokens that it reports as accepted.
    var accepted: Set<String> = []
    /// Tokens that it reports as unknown.
    var unknown: Set<String> = []
}

/// A folder, a simulator with a ledger, and the starts of races.
final class RaceArena {
    static let devices = 40
    let server: LedgeredServer
    var folder: ProjectFolder { server.folder }
    private let project: String
    private var starts: [RaceStart.State: RaceStart] = [:]

    init() throws {
        server = try LedgeredServer(devices: Self.devices, faults: ["--latency", "10"])
        server.stop()
        project = try String(contentsOf: server.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd HH:mm"
        let due = formatter.string(from: Date(timeIntervalSinceNow: -300))
        // About 0.4 s for all, so that the contenders overlap.
        try server.folder.write(
            "campaign.yaml",
            """
            name: race
            app: shop
            audience: {devices: devices.csv, everyone: true}
            content: {title: Hello, body: World}
            delivery: {unknown: skip, pace: 90/s}
            schedule: {at: \(due), timezone: UTC, late: send}

            """)
        try Shell.run("mkfifo '\(server.folder.url.appendingPathComponent("gate").path)'")
    }

    // MARK: - Where a race begins

    private var runs: URL { folder.url.appendingPathComponent("runs") }

    private func writeProject(needsApproval: Bool) throws {
        try folder.write("volley.yaml", project + (needsApproval ? "    approval: required\n" : ""))
    }

    /// The state, made once.
    func start(_ state: RaceStart.State) throws -> RaceStart {
        if let known = starts[state] { return known }
        // An interrupt may come too late.
        for _ in 0..<10 {
            if let start = try make(state) {
                starts[state] = start
                return start
            }
        }
        throw Diagnostic("no run could be interrupted in the middle")
    }

    private func make(_ state: RaceStart.State) throws -> RaceStart? {
        try? FileManager.default.removeItem(at: runs)
        var start = RaceStart(state: state)
        try writeProject(needsApproval: state == .unapproved)
        if state != .fresh {
            let plan = try folder.volley("plan", "campaign.yaml")
            try #require(plan.status == 0, "\(plan.errors)")
            start.run = folder.files(in: "runs").first { $0.hasPrefix("20") && $0.hasSuffix(".sqlite") }.map {
                String($0.dropLast(7))
            }
        }
        let run = start.run ?? ""
        switch state {
        case .fresh, .planned, .unapproved: break
        case .stopped, .stoppedUnapproved, .cancelled: guard try interrupt(run) else { return nil }
        case .finished: try finishWithUnknown(run)
        }
        if state == .cancelled { #expect(try folder.volley("cancel", run).status == 0) }
        if state != .fresh {
            let outcomes = try outcomes(of: run)
            start.accepted = Set(outcomes.filter { $0.value == "accepted" }.keys)
            start.unknown = Set(outcomes.filter { $0.value == "unknown" }.keys)
            for name in folder.files(in: "runs") {
                start.files[name] = try Data(contentsOf: runs.appendingPathComponent(name))
            }
        }
        return start
    }

    /// - Returns: false if it was already over.
    private func interrupt(_ run: String) throws -> Bool {
        try server.start()
        let running = try server.start(["send", "--plan", run, "--yes"])
        server.wait {
            self.server.answeredBytes > 0
        } orEndOf: {
            running
        }
        running.interrupt()
        let result = running.finish()
        server.stop()
        server.forgetLedgers()
        try #require([0, 130].contains(result.status), "\(result.status) \(result.errors)")
        return result.status == 130
    }

    private func finishWithUnknown(_ run: String) throws {
        let usual = server.faults
        server.faults = ["--reset-every", "5"]
        try server.start()
        let result = try folder.volley("send", "--plan", run, "--yes")
        server.stop()
        server.faults = usual
        try #require(result.status == 1, "\(result.status) \(result.errors)")
        server.forgetLedgers()
    }

    /// Restores all files, and starts the server with an empty ledger.
    func prepare(_ start: RaceStart) throws {
        try? FileManager.default.removeItem(at: runs)
        try FileManager.default.createDirectory(
            at: runs, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for (name, data) in start.files {
            let file = runs.appendingPathComponent(name)
            try data.write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        try writeProject(needsApproval: start.state.needsApproval)
        server.forgetLedgers()
        try server.start()
    }

    // MARK: - The race

    /// Starts a command that waits at the gate.
    func line(up arguments: [String], offsetMilliseconds: Int) throws -> RunningVolley {
        let seconds = "\(offsetMilliseconds / 1000).\(String(1000 + offsetMilliseconds % 1000).dropFirst())"
        return try VolleyBinary.start(
            arguments, in: folder.url, launcher: ["sh", "-c", ": <gate; sleep \(seconds); exec \"$@\"", "race"])
    }

    /// Releases all that wait at the gate, and those that arrive later; close it when all have
    /// ended.
    func open() throws -> FileHandle { try FileHandle(forWritingTo: folder.url.appendingPathComponent("gate")) }

    // MARK: - Results

    /// Each token's outcome in a run.
    func outcomes(of run: String) throws -> [String: String] {
        let report = try folder.volley("report", run, "--format", "csv")
        try #require(report.status == 0, "\(report.errors)")
        let lines = report.output.split(separator: "\n").dropFirst().map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), String($0[5])) })
    }

    /// All runs according to `volley runs --json`.
    func runsInJSON() throws -> [JSONValue] {
        let result = try folder.volley("runs", "--json")
        try #require(result.status == 0, "\(result.errors)")
        let document = try result.json()
        #expect(document["broken"] == .array([]), "\(document.text)")
        guard case .array(let runs)? = document["runs"] else { throw Diagnostic("no runs: \(document.text)") }
        return runs
    }
}
