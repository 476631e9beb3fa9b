import Base
import Cryptography
import Foundation
import TestCommands
import Testing

/// Keys and certificates mounted as in Kubernetes: `key.p8` is a link to `..data/key.p8`, and
/// `..data` a link to the folder of the newest secret.
@Suite("Secrets that are rotated behind a symbolic link")
struct RotatedSecretTests {
    private let server: LedgeredServer
    private var folder: ProjectFolder { server.folder }
    private let key: String

    init() throws {
        server = try LedgeredServer(devices: 20)
        // The keys that the simulator trusts.
        let project = try String(contentsOf: server.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        let file = try #require(project.split(separator: "file: ").last?.split(separator: ",").first.map(String.init))
        key = try String(contentsOf: URL(fileURLWithPath: file, relativeTo: server.folder.url), encoding: .utf8)
        try folder.writeCampaign()
        try FileManager.default.createDirectory(at: url("secrets"), withIntermediateDirectories: true)
        try rotate(to: "2026_11_01", key: key)
        try link("secrets/key.p8", to: "..data/key.p8")
        try link("secrets/ca.pem", to: "..data/ca.pem")
        try writeProject()
    }

    private func url(_ name: String) -> URL { folder.url.appendingPathComponent(name) }

    private func link(_ name: String, to target: String) throws {
        let path = url(name).path
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    /// Makes a new folder, points `..data` to it, and removes all others.
    private func rotate(to name: String, key: String) throws {
        let old = folder.files(in: "secrets").filter { $0.hasPrefix("..2026") }
        try FileManager.default.createDirectory(at: url("secrets/..\(name)"), withIntermediateDirectories: true)
        try folder.write("secrets/..\(name)/key.p8", key)
        try FileManager.default.copyItem(at: url("simulator-ca.pem"), to: url("secrets/..\(name)/ca.pem"))
        try link("secrets/..data", to: "..\(name)")
        for folder in old { try FileManager.default.removeItem(at: url("secrets/\(folder)")) }
    }

    private func writeProject(file: String = "secrets/key.p8", id: String = "SIMULATOR1", team: String = "VOLLEYTEAM")
        throws
    {
        let address = try String(contentsOf: url("volley.yaml"), encoding: .utf8).split(separator: "\"").first {
            $0.hasPrefix("https:")
        }
        try folder.writeProject(
            app:
                "environment: {url: \"\(try #require(address))\", ca: secrets/ca.pem}\nkey: {file: \(file), id: \(id), team: \(team)}"
        )
    }

    private func plan() throws {
        let planned = try folder.volley("plan", "campaign.yaml", "--quiet")
        try #require(planned.status == 0, "\(planned.errors)")
    }

    private func send() throws -> VolleyBinary.Result { try folder.volley("send", "--plan", "last", "--yes") }

    @Test("a plan is sent with the key that the link leads to by then, though the file of before is gone")
    func rotated() throws {
        try plan()
        try rotate(to: "2026_12_01", key: key)
        let sent = try send()
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try server.accepted().count == 20)
    }

    @Test("a key may lie elsewhere by then: its id, its team and its public half say which it is")
    func moved() throws {
        try plan()
        try FileManager.default.moveItem(at: url("secrets"), to: url("vault"))
        try FileManager.default.createSymbolicLink(atPath: url("secrets").path, withDestinationPath: "vault")
        try writeProject(file: "vault/key.p8")
        let sent = try send()
        #expect(sent.status == 0, "\(sent.errors)")
    }

    @Test("another key under the same id is refused, and nothing is sent")
    func otherKey() throws {
        try plan()
        try rotate(to: "2026_12_01", key: SigningKey.generate().pem)
        let sent = try send()
        #expect(sent.status == 2, "\(sent.errors)")
        #expect(sent.errors.contains("secrets/key.p8: this file holds a different key"), "\(sent.errors)")
        #expect(sent.errors.contains("under the same id SIMULATOR1"), "\(sent.errors)")
        #expect(try server.accepted().isEmpty)
    }

    @Test(
        "a run that the service stopped for a wrong key goes on with the right one under the same id; so does its retry",
        arguments: [false, true])
    func corrected(isRetried: Bool) throws {
        try rotate(to: "2026_12_01", key: SigningKey.generate().pem)
        let stopped = try folder.volley("send", "campaign.yaml", "--yes")
        #expect(
            stopped.status == 3 && stopped.errors.contains("InvalidProviderToken"),
            "\(stopped.status) \(stopped.errors)")
        let report = try folder.volley("report", "last").output
        #expect(report.contains("fix the cause, then this resumes it where it stopped"), "\(report)")
        try rotate(to: "2026_12_02", key: key)
        if isRetried { #expect(try folder.volley("cancel", "last").status == 0) }
        let command = isRetried ? ["retry", "last", "--outcome", "unsent", "--yes"] : ["resume", "last"]
        let done = try VolleyBinary.run(command, in: folder.url)
        // The device whose push was refused for the wrong key stays rejected in its run.
        #expect(done.status == (isRetried ? 0 : 1), "\(done.errors)")
        #expect(try server.accepted().count == 19)
    }

    @Test("a plan that was made with a wrong key is planned again, as the refusal says")
    func plannedAgain() throws {
        try rotate(to: "2026_12_01", key: SigningKey.generate().pem)
        try plan()
        try rotate(to: "2026_12_02", key: key)
        let sent = try send()
        #expect(
            sent.status == 2
                && sent.errors.contains("If it is the key that the id SIMULATOR1 belongs to, plan the campaign again"))
        try plan()
        #expect(try send().status == 0)
    }

    @Test("another id or team is refused, and nothing is sent")
    func otherIdentity() throws {
        try plan()
        try writeProject(id: "ABC123DEFG")
        let otherID = try send()
        #expect(
            otherID.status == 2 && otherID.errors.contains("the key was SIMULATOR1 of team VOLLEYTEAM"),
            "\(otherID.errors)")
        try writeProject(team: "DEF123GHIJ")
        let otherTeam = try send()
        #expect(
            otherTeam.status == 2 && otherTeam.errors.contains("is SIMULATOR1 of team DEF123GHIJ"),
            "\(otherTeam.errors)")
        #expect(try server.accepted().isEmpty)
    }

    @Test(
        "what is frozen is the path as it is written, made absolute, and a fingerprint; never the key",
        .enabled(if: hasPython))
    func frozen() throws {
        try plan()
        let run = try #require(folder.files(in: "runs").first { $0.hasSuffix(".sqlite") })
        let settings = try RunningVolley(
            executable: "/usr/bin/python3",
            [
                "-c",
                "import sqlite3; print(sqlite3.connect('runs/\(run)').execute('select settings from run').fetchone()[0])",
            ],
            in: folder.url, environment: [:], input: nil
        ).finish().output
        let frozen = try JSONValue(parsing: settings)
        #expect(frozen["key"]?["file"]?.stringValue?.hasSuffix("/secrets/key.p8") == true, "\(settings)")
        #expect(frozen["key"]?["fingerprint"]?.stringValue?.count == 64, "\(settings)")
        #expect(frozen["environment"]?["ca"]?.stringValue?.hasSuffix("/secrets/ca.pem") == true, "\(settings)")
        #expect(!settings.contains("PRIVATE"))
    }

    @Test(
        "a plan of an older version, which names the file that the link led to, is sent after a rotation",
        .enabled(if: hasPython))
    func olderPlan() throws {
        try plan()
        let run = try #require(folder.files(in: "runs").first { $0.hasSuffix(".sqlite") })
        let script = """
            import sqlite3, json
            c = sqlite3.connect('runs/\(run)')
            s = json.loads(c.execute('select settings from run').fetchone()[0])
            for holder, name in (s['key'], 'file'), (s['environment'], 'ca'):
                holder[name] = holder[name].replace('/secrets/', '/secrets/..2026_11_01/')
            del s['key']['fingerprint']
            # A plan without a digest is of such a version, too.
            c.execute('update run set settings = ?, digest = ""', (json.dumps(s),))
            c.commit()
            """
        let edited = try RunningVolley(
            executable: "/usr/bin/python3", ["-c", script], in: folder.url, environment: [:], input: nil
        ).finish()
        try #require(edited.status == 0, "\(edited.errors)")
        try rotate(to: "2026_12_01", key: key)
        let sent = try send()
        #expect(sent.status == 0, "\(sent.errors)")
    }
}
