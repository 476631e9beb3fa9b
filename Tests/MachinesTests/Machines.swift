import Base
import Foundation
import Glibc
import TestCommands

/// Three machines: folders with volley.yaml, of which `home` has the campaign and sends, and the
/// others help (`volley work`).
final class Machines {
    enum Name: String, CaseIterable, Sendable {
        case home, second, third

        static let helpers = [Name.second, .third]
    }

    /// What sets a set of machines apart from the usual one.
    struct Setup: Sendable {
        var recipients = MachineScale.recipients
        var pace = "\(MachineScale.pace)/s"
        /// Lines of the campaign, and of devices.csv instead of the usual ones.
        var delivery = "unknown: skip", audience = "everyone: true", schedule: String?, export: String?
        var hasFCM = false
        /// Options of the simulator of APNs.
        var simulator: [String] = []
        var hasOwnServer = false, hasStandby = false, hasSmallDisk = false
        /// The machine that comes to the database through a relay.
        var relayed: Name?
        /// How far the clocks of machines are from the right one, in seconds.
        var clocks: [Name: Int] = [:]
    }

    let setup: Setup
    let database: MachineDatabase
    let simulators: [MachineSimulator]
    private var folders: [Name: ProjectFolder] = [:]
    private var addresses: [Name: String] = [:]
    private var processes: [Name: RunningVolley] = [:]

    /// Where a library is that sets clocks; nil if it is missing.
    static let faketime: String? = {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        return folders.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }.first {
            FileManager.default.fileExists(atPath: $0)
        }
    }()

    init(_ setup: Setup) throws {
        self.setup = setup
        database = try MachineDatabase(
            isOwn: setup.hasOwnServer, hasStandby: setup.hasStandby, hasSmallDisk: setup.hasSmallDisk)
        simulators = try [MachineSimulator("apns", setup.simulator)] + (setup.hasFCM ? [MachineSimulator("fcm")] : [])
        for name in Name.allCases {
            let folder = try ProjectFolder(export: "")
            try folder.write("volley.yaml", project())
            folders[name] = folder
            addresses[name] = try database.address(
                by: name == setup.relayed ? .relay : setup.hasStandby ? .eitherServer : .socket)
        }
        try writeCampaign()
        let made = try volley(.home, "store", "migrate")
        guard made.status == 0 else { throw CommandFailure(what: "store migrate: \(made.errors)") }
    }

    deinit { for name in Name.allCases { kill(name) } }

    private func project() -> String {
        var lines = [
            "runs: runs", "store: {postgres: {url_env: VOLLEY_DATABASE}}", "apps:", "  shop:",
            "    topic: com.example.shop",
            "    environment: \(simulators[0].environment)",
            "    key: {file: \(simulators[0].key), id: SIMULATOR1, team: VOLLEYTEAM}",
        ]
        if setup.hasFCM {
            let fcm = simulators[1]
            lines += [
                "    services:",
                "      fcm: {project: volley-simulator, environment: \(fcm.environment), service_account: {file: \(fcm.key)}}",
                "    columns: {token: device_token, service: {column: platform, map: {ios: apns, android: fcm}}}",
            ]
        } else {
            lines.append("    columns: {token: device_token}")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func writeCampaign() throws {
        let home = folder(.home)
        try home.write(
            "devices.csv",
            setup.export ?? "device_token\n" + (0..<setup.recipients).map { Self.token($0) + "\n" }.joined())
        try home.writeCampaign(
            audience: "devices: devices.csv\n\(setup.audience)", delivery: "pace: \(setup.pace)\n\(setup.delivery)")
        guard let schedule = setup.schedule else { return }
        let file = home.url.appendingPathComponent("campaign.yaml")
        try home.write("campaign.yaml", try String(contentsOf: file, encoding: .utf8) + schedule + "\n")
    }

    /// A token of APNs.
    static func token(_ number: Int) -> String { ProjectFolder.token(number) }

    func folder(_ name: Name) -> ProjectFolder {
        guard let folder = folders[name] else { preconditionFailure("every machine has a folder") }
        return folder
    }

    // MARK: - Processes

    /// Starts a command on a machine; what ran there before must have ended.
    func start(_ name: Name, _ arguments: String...) throws {
        var environment = ["VOLLEY_DATABASE": addresses[name] ?? "", "NO_COLOR": "1"]
        var launcher: [String] = []
        if let offset = setup.clocks[name], let library = Self.faketime {
            // libfaketime sets a variable of its environment, which hides its arguments from a
            // Swift program: the shell has it set before.
            launcher = ["sh", "-ec", "exec \"$0\" \"$@\""]
            environment.merge(
                [
                    "LD_PRELOAD": library, "FAKETIME": offset < 0 ? "\(offset)" : "+\(offset)",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                ]
            ) { $1 }
        }
        processes[name] = try VolleyBinary.start(
            arguments, in: folder(name).url, environment: environment, launcher: launcher)
    }

    /// Runs a command to its end on a machine, next to the processes that run there.
    func volley(_ name: Name, _ arguments: String...) throws -> VolleyBinary.Result { try volley(name, arguments) }

    func volley(_ name: Name, _ arguments: [String]) throws -> VolleyBinary.Result {
        try VolleyBinary.run(
            arguments, in: folder(name).url, environment: ["VOLLEY_DATABASE": addresses[name] ?? "", "NO_COLOR": "1"],
            timeout: 200)
    }

    /// Starts the helpers, and then the campaign at home.
    func send() throws {
        for name in Name.helpers { try start(name, "work") }
        try start(.home, "send", "campaign.yaml", "--yes")
    }

    func isRunning(_ name: Name) -> Bool { processes[name]?.isRunning ?? false }

    /// What a machine's process has said so far.
    func said(_ name: Name) -> String { (processes[name]?.outputSoFar ?? "") + (processes[name]?.errorsSoFar ?? "") }

    func signal(_ name: Name, _ number: Int32) {
        guard let process = processes[name], process.isRunning else { return }
        Glibc.kill(process.processID, number)
    }

    /// Declares a process dead in the store, as another one would after half a minute: it leaves
    /// what it had leased and not claimed.
    func declareDead(_ name: Name) throws {
        guard let process = processes[name]?.processID else { return }
        try database.sql(
            """
            BEGIN;
            UPDATE volley_sender SET dead_at = clock_timestamp() WHERE dead_at IS NULL AND machine LIKE '%process \(process)';
            INSERT INTO volley_returned (run, first, last)
                SELECT run, start, last FROM (
                    SELECT l.run, l.last, greatest(l.first, coalesce((
                        SELECT max(j.last) FROM volley_journal j
                        WHERE j.run = l.run AND j.sender = l.sender AND j.kind = 1 AND j.first >= l.first AND j.last <= l.last), 0)) AS start
                    FROM volley_lease l JOIN volley_sender s ON s.number = l.sender
                    WHERE s.dead_at IS NOT NULL AND l.redo IS NULL) o WHERE start < last;
            DELETE FROM volley_lease l USING volley_sender s WHERE s.number = l.sender AND s.dead_at IS NOT NULL;
            UPDATE volley_run SET conductor = NULL WHERE conductor IN (SELECT number FROM volley_sender WHERE dead_at IS NOT NULL);
            COMMIT;
            """)
    }

    /// Ends a process as a power cut would.
    func kill(_ name: Name) {
        signal(name, SIGKILL)
        _ = processes[name]?.finish(timeout: 5)
    }

    /// Waits for the end of what runs at home.
    /// - Returns: its exit code; a process that takes longer is killed, with the status of SIGKILL.
    func finishHome(within seconds: Double) -> Int32 { processes[.home]?.finish(timeout: seconds).status ?? -1 }

    /// Ends the helpers in an orderly way.
    /// - Returns: their exit codes.
    func finishHelpers() -> [Name: Int32] {
        for name in Name.helpers { signal(name, SIGINT) }
        return Dictionary(
            uniqueKeysWithValues: Name.helpers.map { ($0, processes[$0]?.finish(timeout: 40).status ?? -1) })
    }

    /// What everybody said at the end, the store included: for what went wrong.
    var lastWords: [String] {
        let run =
            (try? database.sql("SELECT state, cause, conductor, to_timestamp(ended_at / 1000.0) FROM volley_run")) ?? ""
        let workers = try? database.sql(
            "SELECT number, machine, beat, joined_at, dead_at FROM volley_sender ORDER BY number")
        return ["the store: \(run)\n\(workers ?? "")"]
            + Name.allCases.map { "\($0.rawValue) said: \(said($0).suffix(1200))" }
    }

    // MARK: - Waiting

    /// Waits until something holds.
    /// - Returns: whether it held within this many seconds.
    @discardableResult
    func wait(atMost seconds: Double, until condition: () -> Bool) -> Bool {
        let limit = Date().addingTimeInterval(seconds)
        while !condition() {
            if Date() > limit { return false }
            usleep(20_000)
        }
        return true
    }

    /// Answers in all ledgers so far.
    var answered: Int { simulators.reduce(0) { $0 + $1.countSoFar() } }
}
