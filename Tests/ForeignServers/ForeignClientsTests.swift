import Foundation
import TestCommands
import Testing

/// Other projects' SDKs and libraries as clients of Volley's simulators. `StandIns/clients` has a
/// file for each, with its calls and what its documentation says about them; `make test-servers`
/// gets the clients.
@Suite("clients of others", .serialized)
struct ForeignClientsTests {
    struct Client: Sendable, CustomTestStringConvertible {
        /// The file with its calls, without `_client.py`.
        let file: String
        /// The module that Python imports.
        let module: String
        /// The folder of Python's modules.
        var folder = "python"

        var testDescription: String { file }
    }

    private static let clients = [
        Client(file: "firebase", module: "firebase_admin"), Client(file: "google_auth", module: "google/auth"),
        Client(file: "pyfcm", module: "pyfcm"), Client(file: "jpush", module: "jpush"),
        Client(file: "aioapns", module: "aioapns"),
        Client(file: "kalyke", module: "kalyke"), Client(file: "pyapns2", module: "apns2", folder: "python-apns2"),
    ]

    /// Those that SCENARIO selects.
    private static var chosen: [Client] {
        let wanted = ProcessInfo.processInfo.environment["VOLLEY_FOREIGN_SERVERS"] ?? ""
        return clients.filter { wanted.isEmpty || $0.file.contains(wanted) }
    }

    @Test(
        "every call has the result that the client's documentation gives, and the simulator's ledger has what the client was told",
        arguments: chosen)
    func calls(_ client: Client) throws {
        try ForeignPrograms.requireModule(client.module, in: client.folder)
        let program = "\(ForeignPrograms.standIns)/clients/\(client.file)_client.py"
        let played = try RunningVolley(
            executable: ForeignPrograms.python(in: client.folder), [program, "--volley", VolleyBinary.path],
            in: FileManager.default.temporaryDirectory, environment: ["PYTHONDONTWRITEBYTECODE": "1"], input: nil
        ).finish(timeout: 240)
        #expect(played.status == 0, "\(client.file): \(played.output)\(played.errors.suffix(2000))")
        #expect(played.output.contains(/[1-9][0-9]* calls, 0 with another result/), "\(client.file): \(played.output)")
    }

    @Test("answers drawn at random from the documentation of five services: report, ledger and suppression list agree")
    func drawnAnswers() throws {
        try ForeignPrograms.requireModule("hypercorn")
        // It waits as services ask it to, which takes a minute or more.
        guard let wanted = ProcessInfo.processInfo.environment["VOLLEY_FOREIGN_SERVERS"],
            wanted.isEmpty || "answers".contains(wanted)
        else { try Test.cancel("`make test-servers` plays it") }
        let played = try RunningVolley(
            executable: ForeignPrograms.hypercornPython,
            [
                "\(ForeignPrograms.standIns)/answers_check.py", "--volley", VolleyBinary.path, "--seeds", "2",
                "--devices", "400",
            ],
            in: FileManager.default.temporaryDirectory, environment: ["PYTHONDONTWRITEBYTECODE": "1"], input: nil
        ).finish(timeout: 900)
        #expect(played.status == 0, "\(played.output)\(played.errors.suffix(2000))")
        #expect(played.output.contains("2 seeds of 400 devices, 0 where"), "\(played.output)")
    }
}
