import Base
import Foundation
import TestCommands
import Testing

/// Helpers that the suites of the gate share.
protocol GateTesting {}

extension GateTesting {
    /// A schedule whose time has come, and which is sent even if it is late.
    static var due: String { "schedule: {at: 2025-06-01 09:00, timezone: Asia/Tokyo, late: send}\n" }

    func folder(app: String = "environment: simulator", schedule: String = "") throws -> ProjectFolder {
        let folder = try ProjectFolder(app: app)
        try folder.writeCampaign()
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", campaign + schedule)
        return folder
    }

    /// Plans the campaign; returns the run's id.
    func plan(_ folder: ProjectFolder, _ campaign: String = "campaign.yaml") throws -> String {
        let planned = try folder.volley("plan", campaign, "--json")
        return try #require(try planned.json()["run"]?.stringValue, "\(planned.errors)")
    }

    func runs(_ folder: ProjectFolder) -> [String] {
        folder.files(in: "runs").filter { $0.hasPrefix("20") && $0.hasSuffix(".sqlite") }.map { String($0.dropLast(7)) }
    }

    /// Expects that a command sends nothing; returns its output.
    @discardableResult
    func expectRefusal(
        _ folder: ProjectFolder, _ arguments: [String], saying words: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        let result = try VolleyBinary.run(arguments, in: folder.url)
        #expect(result.status == 2, "\(arguments): \(result.output)\(result.errors)", sourceLocation: sourceLocation)
        #expect(result.errors.contains(words), "\(arguments): \(result.errors)", sourceLocation: sourceLocation)
        return result.errors
    }

    /// A run that was interrupted in the middle, and the server that it sends to.
    func interrupted(delivery: String? = nil, schedule: String = "") throws -> (server: LedgeredServer, run: String) {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        try server.folder.writeCampaign(delivery: delivery)
        if !schedule.isEmpty {
            let campaign = try String(
                contentsOf: server.folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
            try server.folder.write("campaign.yaml", campaign + schedule)
        }
        let running = try server.startSending()
        running.interrupt()
        #expect(running.finish().status == 130)
        return (server, try #require(runs(server.folder).first))
    }

    /// Expects that every device was accepted, once.
    func expectEverybodyOnce(_ server: LedgeredServer, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let accepted = try server.accepted()
        #expect(accepted.count == 3000 && accepted.allSatisfy { $0.value.count == 1 }, sourceLocation: sourceLocation)
    }

    /// Changes a file of the folder.
    func edit(_ file: String, of folder: ProjectFolder, _ old: String, _ new: String) throws {
        let text = try String(contentsOf: folder.url.appendingPathComponent(file), encoding: .utf8)
        try #require(text.contains(old))
        try folder.write(file, text.replacing(old, with: new))
    }

    /// Runs shell commands in the folder, with `volley` on the path.
    func shell(_ folder: ProjectFolder, _ commands: String) throws -> VolleyBinary.Result {
        try RunningVolley(
            executable: "/bin/sh", ["-c", "volley() { '\(VolleyBinary.path)' \"$@\"; }; \(commands)"], in: folder.url,
            environment: [:],
            input: nil
        ).finish()
    }

    /// Does what a refusal says: leaves out the devices that were reached.
    func excludeReached(_ folder: ProjectFolder, as refusal: String, campaign: String = "campaign.yaml") throws {
        let commands = refusal.split(separator: "`").filter { $0.hasPrefix("volley report ") }
        try #require(!commands.isEmpty, "\(refusal)")
        for command in commands {
            let reported = try shell(folder, String(command))
            #expect(reported.status == 0, "\(reported.errors)")
        }
        let parts = refusal.split(separator: "`")
        if let exclusion = parts.first(where: { $0.hasPrefix("exclude: ") }) {
            try edit(campaign, of: folder, "audience:\n", "audience:\n  \(exclusion)\n")
        } else {
            let lists = try #require(parts.first { $0.hasPrefix("devices: [") }, "\(refusal)")
            #expect(refusal.contains("`\(lists)` under `exclude`, in addition to what is there"), "\(refusal)")
            try edit(campaign, of: folder, "exclude: {", "exclude: {\(lists), ")
        }
    }

    func attempts(_ folder: ProjectFolder, _ run: String) throws -> Int? {
        try folder.volley("report", run, "--format", "json").json().int("attempts")
    }

    func python(_ folder: ProjectFolder, _ program: String) throws {
        let python = try RunningVolley(
            executable: "/usr/bin/python3", ["-c", program], in: folder.url, environment: [:], input: nil
        )
        .finish()
        try #require(python.status == 0, "\(python.errors)")
    }

    /// Makes the app of volley.yaml require approval.
    /// - Returns: volley.yaml before the change.
    @discardableResult
    func demandApproval(_ folder: ProjectFolder) throws -> String {
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", project + "    approval: required\n")
        return project
    }

    /// How many devices of a run are claimed, according to the file next to it during sending.
    func claimed(_ folder: ProjectFolder, _ run: String) -> Int {
        let marks = try? String(
            contentsOf: folder.url.appendingPathComponent("runs/\(run).sqlite.claimed"), encoding: .utf8)
        return marks?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0
    }
}
