import Base
import Foundation
import TestCommands
import Testing

/// The approval that the volley.yaml of a campaign's own folder requires, if that folder or file is
/// missing, or is not a file.
@Suite("the gate before sending: the campaign's own volley.yaml")
struct GateDemandTests: GateTesting {
    private static let other = ["--config", "other/volley.yaml"]

    /// `camp/a.yaml`, with a volley.yaml next to it, and another one in `other` that requires
    /// nothing.
    private func campaignInFolder(demands: Bool) throws -> ProjectFolder {
        let folder = try folder()
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try Shell.run(
            "cd '\(folder.url.path)'; mkdir camp other; sed -i 's#runs: runs#runs: ../runs#' volley.yaml; cp volley.yaml camp; mv volley.yaml other"
        )
        if demands { try Shell.run("cd '\(folder.url.path)'; echo '    approval: required' >> camp/volley.yaml") }
        try folder.write("camp/a.yaml", campaign.replacing("devices.csv", with: "../devices.csv"))
        return folder
    }

    private func planned(_ folder: ProjectFolder) throws -> String {
        let planned = try VolleyBinary.run(["plan", "camp/a.yaml", "--json"] + Self.other, in: folder.url)
        return try #require(try planned.json()["run"]?.stringValue, "\(planned.errors)")
    }

    @Test(
        "what demanded approval when it was planned demands it when its folder or its volley.yaml is away for a moment, or half written",
        arguments: [
            "mv camp camp.old", "rm camp/volley.yaml", "head -c 40 camp/volley.yaml > x; mv x camp/volley.yaml",
            "rm -r camp; mkdir camp",
        ])
    func away(change: String) throws {
        let folder = try campaignInFolder(demands: true)
        let run = try planned(folder)
        let command = ["send", "--plan", run, "--yes"] + Self.other
        try expectRefusal(folder, command, saying: "requires approval in ")
        try Shell.run("cd '\(folder.url.path)'; \(change)")
        try expectRefusal(folder, command, saying: "nobody has approved this plan")
        #expect(try attempts(folder, run) == 0)
        #expect(
            try VolleyBinary.run(["approve", run, "--by", "Anna", "--yes"] + Self.other, in: folder.url).status == 0)
        #expect(try VolleyBinary.run(command, in: folder.url).status == 0)
    }

    @Test(
        "a test goes to no devices that another volley.yaml calls test devices where the campaign's own demands approval, whatever the other one demands",
        arguments: ["", "    approval: required\n"])
    func testDevices(demand: String) throws {
        let folder = try campaignInFolder(demands: true)
        let devices = "    test_devices: [{name: Anna, token: \(ProjectFolder.token(1))}]"
        try Shell.run(
            "cd '\(folder.url.path)'; echo '\(devices)' | tee -a other/volley.yaml >> camp/volley.yaml; printf %s '\(demand)' >> other/volley.yaml"
        )
        try expectRefusal(
            folder, ["send", "camp/a.yaml", "--test", "--yes"] + Self.other,
            saying: "but the test devices are those of other/volley.yaml")
        #expect(runs(folder).isEmpty)
        #expect(try folder.volley("send", "camp/a.yaml", "--test", "--yes").status == 0)
    }

    @Test("volley schedule sends nothing while the file that demanded approval is away")
    func awayFromSchedule() throws {
        let folder = try campaignInFolder(demands: true)
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("camp/a.yaml"), encoding: .utf8)
        try folder.write("camp/a.yaml", campaign + Self.due)
        try Shell.run("cd '\(folder.url.path)'; touch -d '1 hour ago' devices.csv camp/a.yaml")
        let daemon = try VolleyBinary.start(["schedule", "camp"] + Self.other, in: folder.url)
        defer { _ = daemon.finish(timeout: 0) }
        for _ in 0..<3000 where daemon.isRunning && runs(folder).isEmpty { usleep(20_000) }
        let run = try #require(runs(folder).first, "\(daemon.errorsSoFar)")
        try Shell.run(
            "cd '\(folder.url.path)'; mv camp/volley.yaml x; sleep 3; mv camp away; sleep 3; mv away camp; mv x camp/volley.yaml"
        )
        kill(daemon.processID, SIGTERM)
        _ = daemon.finish()
        #expect(try attempts(folder, run) == 0)
    }

    @Test("whether a folder that is not there any more demands approval is not known, which counts as if it did")
    func unknown() throws {
        let folder = try campaignInFolder(demands: false)
        let run = try planned(folder)
        let command = ["send", "--plan", run, "--yes"] + Self.other
        try Shell.run("cd '\(folder.url.path)'; mv camp elsewhere")
        try expectRefusal(folder, command, saying: "with its volley.yaml, does not exist or cannot be read")
        try Shell.run(
            "cd '\(folder.url.path)'; mv elsewhere camp; cp camp/volley.yaml x; echo 'runs: [' > camp/volley.yaml")
        try expectRefusal(folder, command, saying: "camp/volley.yaml, the nearest to the campaign, cannot be read")
        try Shell.run("cd '\(folder.url.path)'; mv x camp/volley.yaml")
        #expect(try VolleyBinary.run(command, in: folder.url).status == 0)
    }

    @Test(
        "approval that is demanded since the plan was made is not forgotten when the campaign's folder is away with its volley.yaml",
        arguments: ["mv camp camp.old", "mv camp camp.old; mkdir camp", "mv camp/volley.yaml x"])
    func awayTogether(change: String) throws {
        let folder = try campaignInFolder(demands: false)
        let planned = try VolleyBinary.run(["plan", "camp/a.yaml", "--json"], in: folder.url)
        let run = try #require(try planned.json()["run"]?.stringValue, "\(planned.errors)")
        try Shell.run("cd '\(folder.url.path)'; echo '    approval: required' >> camp/volley.yaml; \(change)")
        let command = ["send", "--plan", "\(folder.url.path)/runs/\(run).sqlite", "--yes"]
        for (place, config) in [("other", []), ("", Self.other)] {
            let refused = try VolleyBinary.run(command + config, in: folder.url.appendingPathComponent(place))
            #expect(refused.status == 2 && refused.errors.contains("is not next to another one"), "\(refused.errors)")
        }
        #expect(try attempts(folder, run) == 0)
    }

    @Test(
        "a project that was moved as a whole needs no approval that its volley.yaml does not demand",
        arguments: [false, true])
    func movedWhole(demands: Bool) throws {
        let folder = try self.folder()
        let run = try plan(folder)
        if demands { try demandApproval(folder) }
        try Shell.run("cd '\(folder.url.path)'; mkdir moved; mv volley.yaml campaign.yaml devices.csv runs moved/")
        let sent = try VolleyBinary.run(
            ["send", "--plan", run, "--yes"], in: folder.url.appendingPathComponent("moved"))
        #expect(sent.status == (demands ? 2 : 0), "\(sent.errors)")
        #expect(sent.errors.contains("requires approval in ") == demands, "\(sent.errors)")
    }

    @Test("a campaign behind a link whose folder was rotated away is sent as it was planned")
    func rotated() throws {
        let folder = try campaignInFolder(demands: false)
        try Shell.run(
            "cd '\(folder.url.path)/camp'; mkdir data-1; mv a.yaml data-1; ln -s data-1 data; ln -s data/a.yaml a.yaml")
        let run = try planned(folder)
        try Shell.run("cd '\(folder.url.path)/camp'; cp -r data-1 data-2; rm data; ln -s data-2 data; rm -r data-1")
        let sent = try VolleyBinary.run(["send", "--plan", run, "--yes"] + Self.other, in: folder.url)
        #expect(sent.status == 0, "\(sent.errors)")
    }

    @Test(
        "a volley.yaml that leads nowhere or is a folder gives way to none further up",
        arguments: ["ln -s gone.yaml volley.yaml", "ln -s volley.yaml volley.yaml", "mkdir volley.yaml"])
    func noFile(making: String) throws {
        let folder = try campaignInFolder(demands: true)
        try Shell.run(
            "cd '\(folder.url.path)'; sed 's#../runs#runs#' other/volley.yaml > volley.yaml; cd camp; rm volley.yaml; \(making)"
        )
        let refused = try expectRefusal(folder, ["send", "camp/a.yaml", "--yes"], saying: "camp/volley.yaml: ")
        #expect(runs(folder).isEmpty, "\(refused)")
    }
}
