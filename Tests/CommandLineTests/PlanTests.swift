import Base
import Foundation
import TestCommands
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
        #expect(sent.status == 0 && sent.errors.contains("campaign.yaml was changed after this plan was made"), "\(sent.errors)")
        let again = try #require(try folder.volley("plan", "campaign.yaml", "--json").json()["run"]?.stringValue)
        let unchanged = try folder.volley("send", "--plan", again, "--yes", "--quiet")
        #expect(unchanged.status == 0 && !unchanged.errors.contains("was changed"), "\(unchanged.errors)")
    }

    @Test("a stopped run whose file was changed is not resumed, and a finished one not retried", .enabled(if: hasPython))
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

    @Test("a plan is not sent when volley.yaml names another key, topic or environment by now, and every difference is said")
    func otherProject() throws {
        let (folder, run) = try plannedFolder()
        try folder.write(
            "volley.yaml",
            "runs: runs\napps: {shop: {topic: com.example.other, environment: sandbox, key: {file: k.p8, id: ABC123DEFG, team: DEF123GHIJ}}}\n"
        )
        let sent = try folder.volley("send", "--plan", run, "--yes")
        #expect(sent.status == 2)
        for words in [
            "the environment was simulator and is sandbox now", "the topic was com.example.shop and is com.example.other now",
            "the key was none and is ABC123DEFG of team DEF123GHIJ in", "Plan the campaign again",
        ] {
            #expect(sent.errors.contains(words), "\(sent.errors)")
        }
        try folder.write("volley.yaml", "runs: runs\napps: {other: {topic: com.example.shop, environment: simulator}}\n")
        #expect(try folder.volley("send", "--plan", run, "--yes").errors.contains("'shop' is no longer there"))
        // Settings that decide neither the target of a push nor its sender may change.
        try folder.writeProject(app: "environment: simulator\npace: 2000/s\ndevices: other.csv")
        #expect(try folder.volley("send", "--plan", run, "--yes", "--quiet").status == 0)
    }
}
