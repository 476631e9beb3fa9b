import Base
import Foundation
import TestCommands
import Testing

/// Topic or environment is wrong, so good tokens are refused: no device may be suppressed because
/// of it.
@Suite("wrong settings")
struct WrongSettingsTests {
    private static let right = "com.example.shop"
    private static let wrong = "com.example.shopp"

    /// A server to whose topic the tokens belong, and a project that names another one.
    /// - Parameter anyTopic: devices that are still accepted.
    private func server(devices: Int, anyTopic: Int = 0, app: String = "") throws -> ToldServer {
        let topics = Dictionary(uniqueKeysWithValues: (anyTopic..<max(anyTopic, devices)).map { ($0, Self.right) })
        let server = try ToldServer(app: app, devices: devices, topics: topics)
        try setTopic(Self.wrong, in: server.folder)
        try server.folder.writeCampaign()
        return server
    }

    private func setTopic(_ topic: String, in folder: ProjectFolder) throws {
        let file = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        let lines = file.split(separator: "\n").map { $0.hasPrefix("    topic:") ? "    topic: \(topic)" : String($0) }
        try folder.write("volley.yaml", lines.joined(separator: "\n") + "\n")
    }

    private func suppressed(in folder: ProjectFolder) throws -> Int? {
        try folder.volley("suppression", "list", "--json").json().int("devices")
    }

    private func report(in folder: ProjectFolder) throws -> JSONValue {
        try folder.volley("report", "last", "--format", "json").json()
    }

    /// The topic is corrected: every device is in the next plan, and gets the push.
    private func expectEverybody(
        _ devices: Int, _ server: ToldServer, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try suppressed(in: server.folder) == 0, sourceLocation: sourceLocation)
        try setTopic(Self.right, in: server.folder)
        let sent = try server.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)", sourceLocation: sourceLocation)
        #expect(try sent.json()["outcomes"]?.int("accepted") == devices, sourceLocation: sourceLocation)
    }

    /// Waits until the run that is being sent has recorded this many refusals.
    private func wait(for running: RunningVolley, refusals: Int, in folder: ProjectFolder) {
        while running.isRunning {
            let count = (try? report(in: folder))?["outcomes"]?.int("invalid_token") ?? 0
            if count >= refusals { return }
            usleep(10_000)
        }
    }

    @Test(
        "a run whose tokens are all refused is stopped at its end, whatever its size, and suppresses nobody; gone on with it ends the same way",
        arguments: [1, 2, 3, 60, 99, 100, 400])
    func everySize(devices: Int) throws {
        let server = try server(devices: devices)
        let sent = try server.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 3 && sent.errors.contains("The run stopped: "), "\(sent.errors)")
        let first = try sent.json()
        #expect(first["state"]?.stringValue == "stopped")
        #expect(
            first["stopped_because"]?.stringValue?.contains("check the environment and topic in volley.yaml") == true)
        let resumed = try server.folder.volley("resume", "last", "--json")
        #expect(resumed.status == 3, "\(resumed.errors)")
        let second = try resumed.json()
        #expect(second["state"]?.stringValue == "stopped")
        if devices < 100 { #expect(second["attempts"] == first["attempts"] && second["outcomes"] == first["outcomes"]) }
        try expectEverybody(devices, server)
    }

    @Test(
        "Ctrl-C in between, resume, cancel: nobody is suppressed either, and those who are gone for certain are",
        arguments: [60, 400])
    func severalEpochs(devices: Int) throws {
        let server = try server(devices: devices, app: "pace: 10/s")
        let gone = "00000410" + String(repeating: "ab", count: 28)
        let export = try String(contentsOf: server.folder.url.appendingPathComponent("devices.csv"), encoding: .utf8)
        var rows = export.split(separator: "\n").map(String.init)
        rows.insert(gone + ",,,,,,", at: 1)
        try server.folder.write("devices.csv", rows.joined(separator: "\n") + "\n")
        for command in [["send", "campaign.yaml", "--yes"], ["resume", "last"]] {
            let refusals =
                try command[0] == "send" ? 11 : (report(in: server.folder)["outcomes"]?.int("invalid_token") ?? 0) + 10
            let running = try VolleyBinary.start(command, in: server.folder.url)
            wait(for: running, refusals: refusals, in: server.folder)
            running.interrupt()
            let ended = running.finish()
            #expect(ended.status == 130, "\(ended.errors)")
            #expect(try suppressed(in: server.folder) == 1)
        }
        if devices == 60 {
            let ended = try server.folder.volley("resume", "last", "--json")
            #expect(try ended.status == 3 && ended.json()["outcomes"]?.int("invalid_token") == 61, "\(ended.errors)")
            #expect(
                ended.errors.contains(
                    "APNs refused the tokens of 60 of the 61 devices that were pushed to, as DeviceTokenNotForTopic"),
                "\(ended.errors)")
        }
        #expect(try server.folder.volley("cancel", "last").status == 0)
        #expect(try suppressed(in: server.folder) == 1)
        #expect(try server.folder.volley("suppression", "remove", gone).status == 0)
        try server.folder.write("devices.csv", export)
        try setTopic(Self.right, in: server.folder)
        #expect(try server.folder.volley("preview", "campaign.yaml", "--json").json().int("audience") == devices)
    }

    @Test(
        "a run that is cancelled while it is sent suppresses nobody, and neither does a retry of what it did not send")
    func cancelledAndRetried() throws {
        let server = try server(devices: 60, app: "pace: 40/s")
        let running = try VolleyBinary.start(["send", "campaign.yaml", "--yes"], in: server.folder.url)
        wait(for: running, refusals: 20, in: server.folder)
        #expect(try server.folder.volley("cancel", "last").status == 0)
        #expect(running.finish().status == 3)
        #expect(try suppressed(in: server.folder) == 0)
        let retried = try server.folder.volley("retry", "last", "--outcome", "unsent", "--yes", "--json")
        #expect(try retried.status == 3 && retried.json()["state"]?.stringValue == "stopped", "\(retried.errors)")
        #expect(
            retried.errors.contains("the tokens of all 60 devices"), "judged with what it retries: \(retried.errors)")
        try expectEverybody(60, server)
    }

    @Test(
        "when everybody is refused after most were accepted, as another server stands behind the name, the later epoch and the retry stop, and suppress nobody",
        arguments: ["resume", "retry"])
    func laterEpoch(command: String) throws {
        // The last seven are refused once, and wait for the rest of the test.
        let server = try LedgeredServer(devices: 28, faults: ["--retry-after", "300"])
        let folder = server.folder
        let waiting = (0..<7).map { "00000429" + String(repeating: "\($0)", count: 56) }
        let export = try String(contentsOf: folder.url.appendingPathComponent("devices.csv"), encoding: .utf8)
        try folder.write("devices.csv", export + waiting.map { "\($0),,,,,,\n" }.joined())
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.start(["send", "campaign.yaml", "--yes"])
        server.wait {
            server.acceptedSoFar().count == 28
        } orEndOf: {
            running
        }
        running.interrupt()
        #expect(running.finish().status == 130)
        server.stop()
        try folder.write("bad.txt", waiting.joined(separator: "\n") + "\n")
        server.faults = ["--bad-tokens", "bad.txt"]
        try server.start()
        if command == "retry" { #expect(try folder.volley("cancel", "last").status == 0) }
        let arguments =
            command == "retry"
            ? ["retry", "last", "--outcome", "unsent", "--yes", "--json"] : ["resume", "last", "--json"]
        let later = try VolleyBinary.run(arguments, in: folder.url)
        #expect(try later.status == 3 && later.json()["state"]?.stringValue == "stopped", "\(later.errors)")
        #expect(later.errors.contains("since others were accepted"), "\(later.errors)")
        #expect(try suppressed(in: folder) == 0)
        // Nothing is left to send, and nothing has changed.
        let again = try folder.volley("resume", "last")
        #expect(again.status == 3, "\(again.errors)")
        #expect(try suppressed(in: folder) == 0)
    }

    @Test("a schedule tells that the run stopped, and why")
    func schedule() throws {
        let server = try server(devices: 60)
        let time = Timestamp.now().adding(seconds: -180).description.prefix(16).replacing("T", with: " ")
        let campaign = try String(
            contentsOf: server.folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try server.folder.write("campaign.yaml", campaign + "schedule: {at: \(time), timezone: UTC}\n")
        let running = try VolleyBinary.start(["schedule", "campaign.yaml"], in: server.folder.url)
        while running.isRunning, !running.errorsSoFar.contains(": stopped: "),
            !running.errorsSoFar.contains(": finished")
        {
            usleep(20_000)
        }
        kill(running.processID, SIGTERM)
        let ended = running.finish()
        #expect(ended.errors.contains(": stopped: APNs refused the tokens of all 60 devices"), "\(ended.errors)")
        #expect(
            try server.folder.volley("schedule", "campaign.yaml", "--list").output.contains(
                "the tokens of all 60 devices"))
        #expect(try suppressed(in: server.folder) == 0)
    }

    @Test(
        "test devices in the export that are accepted do not make the others suppressed; only a few refusals among many are the tokens' fault",
        arguments: [(15, 3, 0), (30, 0, 0), (40, 0, 0), (47, 0, 0), (48, 0, 12), (59, 0, 1)])
    func mixed(accepted: Int, status: Int32, expected: Int) throws {
        let server = try server(devices: 60, anyTopic: accepted)
        let sent = try server.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == status, "\(sent.errors)")
        #expect(try suppressed(in: server.folder) == expected)
        let isSaid = sent.errors.contains("are not suppressed although their tokens were refused")
        #expect(isSaid == (status == 0 && expected == 0), "\(sent.errors)")
    }

    @Test("a test shows what became of each device; that most are refused is said, and exit code 1")
    func testDevices() throws {
        let (good, bad) = (ProjectFolder.token(1), "00000400" + String(repeating: "cd", count: 28))
        for (devices, status) in [([bad], Int32(1)), ([good, bad], 0), ([good], 0)] {
            let folder = try ProjectFolder(
                app: "environment: simulator\ntest_devices: [\"\(devices.joined(separator: "\", \""))\"]")
            try folder.writeCampaign()
            let sent = try folder.volley("send", "campaign.yaml", "--test")
            #expect(sent.status == status, "\(sent.errors)")
            #expect(sent.output.contains("State        finished"), "\(sent.output)")
            #expect(sent.output.contains("invalid_token (BadDeviceToken)") == devices.contains(bad), "\(sent.output)")
            #expect(sent.errors.contains("the tokens of most test devices") == (status == 1), "\(sent.errors)")
        }
    }
}
