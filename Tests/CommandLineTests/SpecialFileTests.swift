import Base
import Foundation
import TestCommands
import Testing

/// Whatever is in place of a file, Volley says so and ends: it never waits for a named pipe.
@Suite("What is no file")
struct SpecialFileTests {
    /// Seconds: a test that does not wait ends long before.
    private static let timeout = 30.0

    private func makePipe(_ folder: ProjectFolder, _ name: String) throws {
        let path = folder.url.appendingPathComponent(name).path
        unlink(path)
        try #require(mkfifo(path, 0o600) == 0)
    }

    /// Writes a file where a pipe may be, which cannot be opened without waiting.
    private func write(_ folder: ProjectFolder, _ name: String, _ text: String) throws {
        unlink(folder.url.appendingPathComponent(name).path)
        try folder.write(name, text)
    }

    private func expectRefused(
        _ folder: ProjectFolder, _ arguments: [String], _ name: String, _ kind: String = "a named pipe",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let result = try VolleyBinary.run(arguments, in: folder.url, timeout: Self.timeout)
        #expect(result.status == 2, "\(result)", sourceLocation: sourceLocation)
        #expect(
            result.errors.contains("this is \(kind), not ") && result.errors.contains(name), "\(result)",
            sourceLocation: sourceLocation)
    }

    private func server(_ folder: ProjectFolder, _ lines: String) throws {
        try folder.writeProject(app: "environment: {url: \"https://localhost:1\", ca: ca.pem}\n\(lines)")
    }

    @Test(
        "is refused as campaign, as volley.yaml, and as what a campaign names", arguments: ["check", "preview", "plan"])
    func campaign(command: String) throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        try makePipe(folder, "pipe.yaml")
        try expectRefused(folder, [command, "pipe.yaml"], "pipe.yaml")
        try makePipe(folder, "volley.yaml")
        try expectRefused(folder, [command, "campaign.yaml"], "volley.yaml")
        unlink(folder.url.appendingPathComponent("volley.yaml").path)
        try folder.writeProject(app: "environment: simulator")
        try makePipe(folder, "devices.csv")
        try expectRefused(folder, [command, "campaign.yaml"], "devices.csv")
        try write(folder, "devices.csv", ProjectFolder.export(devices: 3))
        try makePipe(folder, "list.txt")
        try folder.writeCampaign(audience: "devices: devices.csv\naliases: {file: list.txt}")
        try expectRefused(folder, [command, "campaign.yaml"], "list.txt")
        try folder.writeCampaign(audience: "devices: devices.csv\neveryone: true\nexclude: {devices: list.txt}")
        try expectRefused(folder, [command, "campaign.yaml"], "list.txt")
        #expect(folder.files(in: "runs").isEmpty)
    }

    @Test("is refused whichever kind it is, and behind a symbolic link")
    func kinds() throws {
        let folder = try ProjectFolder()
        try expectRefused(folder, ["check", "/dev/zero"], "/dev/zero", "a device")
        try makePipe(folder, "pipe")
        try FileManager.default.createSymbolicLink(
            atPath: folder.url.appendingPathComponent("link.yaml").path, withDestinationPath: "pipe")
        try expectRefused(folder, ["check", "link.yaml"], "link.yaml")
        // A socket of the file system, with the shortest possible path.
        let path = "/tmp/volley-\(UInt32.random(in: 0...UInt32.max)).yaml"
        defer { unlink(path) }
        try Shell.run("python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(\"\(path)\")'")
        try expectRefused(folder, ["check", path], path, "a socket")
    }

    @Test("is refused as key, certificate and certificate authority", arguments: ["send", "doctor", "push"])
    func secrets(command: String) throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let arguments =
            switch command {
            case "send": ["send", "campaign.yaml", "--yes"]
            case "push": ["push", "--app", "shop", "--token", ProjectFolder.token(1), "--title", "Hi"]
            default: ["doctor", "shop"]
            }
        func expect(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
            let result = try VolleyBinary.run(arguments, in: folder.url, timeout: Self.timeout)
            #expect(result.status != 0 && result.status < 128, "\(result)", sourceLocation: sourceLocation)
            #expect(
                (result.errors + result.output).contains("this is a named pipe, not a"), "\(result)",
                sourceLocation: sourceLocation)
        }
        try folder.write("ca.pem", "-----BEGIN CERTIFICATE-----\n")
        try makePipe(folder, "key.p8")
        try server(folder, "key: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}")
        try expect("key.p8")
        try server(folder, "certificate: {file: key.p8}")
        try expect("key.p8")
        try Shell.run(
            "cd '\(folder.url.path)' && rm key.p8 && openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.p8"
        )
        try server(folder, "key: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}")
        try makePipe(folder, "ca.pem")
        try expect("ca.pem")
    }

    @Test(
        "is refused as a payload, a run, a list of suppressed devices, a list to import, a lock and the record of a schedule"
    )
    func others() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        try makePipe(folder, "pipe")
        try expectRefused(
            folder, ["push", "--app", "shop", "--token", ProjectFolder.token(1), "--payload", "pipe"], "pipe")
        try expectRefused(folder, ["suppression", "import", "pipe", "--app", "shop"], "pipe")
        try expectRefused(folder, ["report", "./pipe"], "pipe")
        #expect(try folder.volley("plan", "campaign.yaml", "--quiet", timeout: Self.timeout).status == 0)
        let run = try #require(
            folder.files(in: "runs").first { $0.hasSuffix(".sqlite") && !$0.hasPrefix("suppressed") })
        let id = String(run.dropLast(".sqlite".count))
        try makePipe(folder, "runs/\(run)-journal")
        for command in [["report", id], ["send", "--plan", id, "--yes"]] {
            try expectRefused(folder, command, "\(run)-journal")
        }
        for command in [["report", "last"], ["runs"]] {
            let result = try VolleyBinary.run(command, in: folder.url, timeout: Self.timeout)
            #expect(result.status < 128, "\(result)")
        }
        unlink(folder.url.appendingPathComponent("runs/\(run)-journal").path)
        try makePipe(folder, "runs/\(run).lock")
        try expectRefused(folder, ["send", "--plan", "last", "--yes"], "\(run).lock")
        #expect(try folder.volley("report", "last", timeout: Self.timeout).status == 0)
        try makePipe(folder, "runs/\(run)")
        try expectRefused(folder, ["report", id], run)
        #expect(try folder.volley("runs", timeout: Self.timeout).status < 128)
        try makePipe(folder, "runs/suppressed-shop.sqlite")
        try expectRefused(folder, ["plan", "campaign.yaml"], "suppressed-shop.sqlite")
        try folder.write(
            "later.yaml",
            "name: later\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: A, body: B}\nschedule: {at: 2027-01-01 09:00, timezone: UTC}\n"
        )
        for name in ["schedule.sqlite", "schedule.lock"] {
            try makePipe(folder, "runs/\(name)")
            try expectRefused(folder, ["schedule", "later.yaml"], name)
            unlink(folder.url.appendingPathComponent("runs/\(name)").path)
        }
    }
}
