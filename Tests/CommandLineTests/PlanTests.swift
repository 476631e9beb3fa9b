import Base
import Cryptography
import Foundation
import TestCommands
import TestServers
import Testing

/// Exactly what was previewed is sent, or it is refused.
@Suite("a plan and what became of it")
struct PlanTests {
    private func plannedFolder(app: String = "environment: simulator") throws -> (ProjectFolder, run: String) {
        let folder = try ProjectFolder(app: app)
        try folder.writeCampaign()
        let planned = try folder.volley("plan", "campaign.yaml", "--json")
        return (folder, try #require(try planned.json()["run"]?.stringValue, "\(planned.errors)"))
    }

    /// A project whose store accepts connections and sends nothing on them, and how to reach it.
    private func silentStore(seconds: Int) throws -> (
        folder: ProjectFolder, environment: [String: String], listener: Int32
    ) {
        let folder = try ProjectFolder(
            app: "environment: production\nkey: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}")
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", "store: {postgres: {url_env: VOLLEY_DATABASE}}\n" + project)
        try folder.write("key.p8", SigningKey.generate().pem)
        chmod(folder.url.appendingPathComponent("key.p8").path, 0o600)
        try folder.writeCampaign()
        let (listener, port) = try Sockets.listen()
        let address = "postgresql://volley@127.0.0.1:\(port)/volley?connect_timeout=\(seconds)"
        return (folder, ["VOLLEY_DATABASE": address], listener)
    }

    @Test("a plan waits once for a store that is away, and warns")
    func storeAway() throws {
        let (folder, environment, listener) = try silentStore(seconds: 2)
        defer { Sockets.close(listener) }
        let planned = try VolleyBinary.run(["plan", "campaign.yaml"], in: folder.url, environment: environment)
        #expect(
            planned.status == 0 && planned.errors.components(separatedBy: "[store-away]").count == 2,
            "\(planned.errors)")
        // Connections stay in the queue of the listener.
        _ = fcntl(listener, F_SETFL, O_NONBLOCK)
        var connections = 0
        while case let connection = accept(listener, nil, nil), connection >= 0 {
            connections += 1
            close(connection)
        }
        #expect(connections == 1)
    }

    @Test("Ctrl-C ends a plan that waits for a store at once")
    func interruptedByStore() throws {
        let (folder, environment, listener) = try silentStore(seconds: 300)
        defer { Sockets.close(listener) }
        let running = try VolleyBinary.start(["plan", "campaign.yaml"], in: folder.url, environment: environment)
        var arrival = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        #expect(poll(&arrival, 1, 30_000) == 1)
        running.interrupt()
        #expect(running.finish(timeout: 60).status == 130)
        #expect(!folder.files(in: "runs").contains { $0.hasSuffix(".sqlite") && $0.hasPrefix("20") })
    }

    @Test(
        "Ctrl-C ends what waits for a silent store with 130, also after a warning that it is away, which --quiet leaves",
        arguments: [(["store", "list"], 1), (["work"], 1), (["send", "campaign.yaml", "--yes", "--quiet"], 2)])
    func interruptedBySilence(command: [String], connections: Int) throws {
        let (folder, environment, listener) = try silentStore(seconds: connections == 1 ? 300 : 4)
        defer { Sockets.close(listener) }
        let running = try VolleyBinary.start(command, in: folder.url, environment: environment)
        var arrival = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        var opened: [Int32] = []
        defer { for connection in opened { close(connection) } }
        for _ in 0..<connections {
            try #require(poll(&arrival, 1, 30_000) == 1, "\(running.errorsSoFar)")
            opened.append(accept(listener, nil, nil))
        }
        #expect(running.errorsSoFar.contains("[store-away]") == (connections == 2), "\(running.errorsSoFar)")
        running.interrupt()
        let result = running.finish(timeout: 60)
        #expect(result.status == 130 && result.errors.contains("interrupted. Nothing was sent."), "\(result)")
        #expect(!folder.files(in: "runs").contains { $0.hasSuffix(".sqlite") && $0.hasPrefix("20") })
    }

    @Test(
        "a run file that was changed after planning is neither sent nor approved", .enabled(if: hasPython),
        arguments: [
            ("UPDATE recipient SET device_token = 'ff' || substr(device_token, 3) WHERE id = 12", "recipients"),
            ("UPDATE run SET campaign_source = replace(campaign_source, 'World', 'Moon')", "campaign"),
            ("UPDATE run SET settings = replace(settings, 'com.example.shop', 'com.example.other')", "settings"),
        ])
    func edited(edit: String, what: String) throws {
        let (folder, run) = try plannedFolder()
        try folder.editRun(edit)
        for command in [["send", "--plan", run, "--yes"], ["approve", run, "--by", "Anna", "--yes"]] {
            let result = try VolleyBinary.run(command, in: folder.url)
            #expect(result.status == 2, "\(result.errors)")
            #expect(result.errors.contains("was changed after it was planned"), "\(result.errors)")
            #expect(result.errors.contains(what), "\(result.errors)")
        }
        #expect(try folder.volley("report", run, "--format", "json").json()["state"]?.stringValue == "planned")
    }

    @Test("a plan is sent as it was made, and says that its campaign was changed since")
    func editedCampaign() throws {
        let (folder, run) = try plannedFolder()
        try folder.writeCampaign(content: "title: Hello\nbody: Moon")
        let sent = try folder.volley("send", "--plan", run, "--yes", "--quiet")
        #expect(
            sent.status == 0 && sent.errors.contains("campaign.yaml was changed after this plan was made"),
            "\(sent.errors)")
        let again = try #require(try folder.volley("plan", "campaign.yaml", "--json").json()["run"]?.stringValue)
        let unchanged = try folder.volley("send", "--plan", again, "--yes", "--quiet")
        #expect(unchanged.status == 0 && !unchanged.errors.contains("was changed"), "\(unchanged.errors)")
    }

    @Test(
        "a stopped run whose file was changed is not resumed, and a finished one not retried", .enabled(if: hasPython))
    func editedLater() throws {
        let (folder, run) = try plannedFolder()
        #expect(try folder.volley("send", "--plan", run, "--yes", "--quiet").status == 0)
        try folder.editRun("UPDATE recipient SET alias = 'x' WHERE id = 1")
        let retried = try folder.volley("retry", run, "--yes")
        #expect(retried.status == 2 && retried.errors.contains("was changed after it was planned"), "\(retried.errors)")
        try folder.editRun("UPDATE run SET state = 'stopped'")
        let resumed = try folder.volley("resume", run)
        #expect(resumed.status == 2 && resumed.errors.contains("was changed after it was planned"), "\(resumed.errors)")
    }

    @Test(
        "a plan is not sent when volley.yaml names another key, topic or environment by now, and every difference is said"
    )
    func otherProject() throws {
        let (folder, run) = try plannedFolder()
        try folder.write(
            "volley.yaml",
            "runs: runs\napps: {shop: {topic: com.example.other, environment: sandbox, key: {file: k.p8, id: ABC123DEFG, team: DEF123GHIJ}}}\n"
        )
        let sent = try folder.volley("send", "--plan", run, "--yes")
        #expect(sent.status == 2)
        for words in [
            "the environment was simulator and is sandbox now",
            "the topic was com.example.shop and is com.example.other now",
            "the key was none and is ABC123DEFG of team DEF123GHIJ in", "Plan the campaign again",
        ] {
            #expect(sent.errors.contains(words), "\(sent.errors)")
        }
        try folder.write(
            "volley.yaml", "runs: runs\napps: {other: {topic: com.example.shop, environment: simulator}}\n")
        #expect(try folder.volley("send", "--plan", run, "--yes").errors.contains("'shop' is no longer there"))
        // Settings that decide neither the target of a push nor its sender may change.
        try folder.writeProject(app: "environment: simulator\npace: 2000/s\ndevices: other.csv")
        #expect(try folder.volley("send", "--plan", run, "--yes", "--quiet").status == 0)
    }
}
