import Base
import Foundation
import TestCommands
import Testing

@Suite("volley approve")
struct ApproveTests {
    private static let app = "environment: simulator\napproval: required"

    private func runs(_ folder: ProjectFolder) -> [String] {
        folder.files(in: "runs").filter { $0.hasSuffix(".sqlite") }
    }

    @Test("an app that demands approval sends nothing without one, with --yes neither; the report says who approved")
    func required() throws {
        let folder = try ProjectFolder(app: Self.app)
        try folder.writeCampaign()
        let refused = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(refused.status == 2)
        #expect(try refused.json().names == ["errors"])
        let run = String(try #require(runs(folder).first).dropLast(".sqlite".count))
        #expect(refused.errors.contains("volley approve \(run) --by NAME"), "\(refused.errors)")
        #expect(refused.errors.contains("would go to 20 devices"), "whoever approves sees nothing: \(refused.errors)")
        let plan = try folder.volley("send", "--plan", run, "--yes")
        #expect(plan.status == 2 && plan.errors.contains("nobody has approved this plan"), "\(plan.errors)")

        let approved = try folder.volley("approve", run, "--by", " Anna  Roth ", "--yes", "--json")
        #expect(approved.status == 0, "\(approved.errors)")
        #expect(try approved.json()["approved_by"]?.stringValue == "Anna Roth")
        #expect(
            approved.errors.contains("would go to 20 devices") && approved.errors.contains("com.example.shop"),
            "\(approved.errors)")
        let sent = try folder.volley("send", "--plan", run, "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        let report = try sent.json()
        #expect(report["approved_by"]?.stringValue == "Anna Roth")
        #expect(report["approved_at"] == (try approved.json()["approved_at"]))
        let text = try folder.volley("report", run).output
        #expect(text.contains("Approved") && text.contains("by Anna Roth"), "\(text)")
    }

    @Test("an approval of one plan is none for the next, and none for one that volley.yaml sends elsewhere")
    func exactlyThis() throws {
        let folder = try ProjectFolder(app: Self.app)
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").output.contains("volley approve"))
        #expect(try folder.volley("approve", "last", "--by", "Anna", "--yes").status == 0)
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 2)
        #expect(runs(folder).count == 2)
        try folder.writeProject(app: "environment: simulator\ntopic2: x\napproval: required")
        #expect(try folder.volley("approve", "last", "--by", "Anna", "--yes").errors.contains("topic2"))
        try folder.write(
            "volley.yaml", "runs: runs\napps: {shop: {topic: com.example.other, environment: simulator}}\n")
        let elsewhere = try folder.volley("approve", "last", "--by", "Anna", "--yes")
        #expect(elsewhere.status == 2 && elsewhere.errors.contains("the topic was"), "\(elsewhere.errors)")
    }

    @Test(
        "an approver reads first that the campaign was changed or is gone since the plan was made, and what to do instead"
    )
    func changedCampaign() throws {
        let folder = try ProjectFolder(app: Self.app)
        try folder.writeCampaign()
        let run = try #require(try folder.volley("plan", "campaign.yaml", "--json").json()["run"]?.stringValue)
        func approve() throws -> String { try folder.volley("approve", run, "--by", "Anna", "--yes").errors }
        #expect(try !approve().contains("campaign.yaml was changed"))
        try folder.writeCampaign(content: "title: Hello\nbody: Moon")
        let changed = try approve()
        #expect(
            changed.contains("campaign.yaml was changed after this plan was made. The plan is sent unchanged"),
            "\(changed)")
        #expect(changed.contains("`volley cancel \(run)`") && changed.contains("volley plan "), "\(changed)")
        try Shell.run("mv '\(folder.url.path)/campaign.yaml' '\(folder.url.path)/moved.yaml'")
        let gone = try approve()
        #expect(gone.contains("campaign.yaml is no longer there: it was archived, moved or removed"), "\(gone)")
        // The remedies.
        #expect(try folder.volley("cancel", run).status == 0)
        #expect(try folder.volley("plan", "moved.yaml").status == 0)
    }

    @Test(
        "a plan made before approval was demanded needs one; one frozen with it needs it also when volley.yaml no longer asks"
    )
    func changedPolicy() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        try folder.writeProject(app: Self.app)
        #expect(try folder.volley("send", "--plan", "last", "--yes").errors.contains("volley approve"))
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        try folder.writeProject(app: "environment: simulator\napproval: none")
        #expect(try folder.volley("send", "--plan", "last", "--yes").errors.contains("volley approve"))
    }

    @Test("a run that is resumed needs no new approval")
    func resumed() throws {
        let server = try LedgeredServer(app: "approval: required\npace: 1500/s", devices: 3000)
        try server.folder.writeCampaign()
        #expect(try server.folder.volley("plan", "campaign.yaml").status == 0)
        #expect(try server.folder.volley("approve", "last", "--by", "Anna", "--yes").status == 0)
        let id = try #require(try server.report()["run"]?.stringValue)
        let running = try server.startSending(["send", "--plan", id, "--yes", "--json"])
        running.interrupt()
        #expect(running.finish().status == 130)
        let resumed = try server.folder.volley("resume", id, "--json")
        #expect(resumed.status == 0, "\(resumed.errors)")
        #expect(try resumed.json()["approved_by"]?.stringValue == "Anna")
        let accepted = try server.accepted()
        #expect(accepted.count == 3000 && accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test("a retry of an approved run needs no approval of its own, and its report names who approved")
    func retried() throws {
        let server = try LedgeredServer(app: "approval: required", devices: 30, faults: ["--reset-every", "10"])
        try server.folder.writeCampaign(delivery: "unknown: skip")
        #expect(try server.folder.volley("plan", "campaign.yaml").status == 0)
        #expect(try server.folder.volley("approve", "last", "--by", "Anna", "--yes").status == 0)
        #expect(try server.folder.volley("send", "--plan", "last", "--yes", "--quiet").status == 1)
        let retried = try server.folder.volley("retry", "last", "--yes", "--json")
        #expect(retried.status == 0, "\(retried.errors)")
        #expect(try retried.json()["approved_by"]?.stringValue == "Anna")
    }

    @Test("a retry of a run that nobody approved is kept until somebody does")
    func retryOfUnapproved() throws {
        let server = try LedgeredServer(devices: 30, faults: ["--reset-every", "10"])
        try server.folder.writeCampaign(delivery: "unknown: skip")
        #expect(try server.folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 1)
        let lines = try String(contentsOf: server.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try server.folder.write("volley.yaml", lines + "    approval: required\n")
        let refused = try server.folder.volley("retry", "last", "--yes")
        #expect(refused.status == 2 && refused.errors.contains("volley approve"), "\(refused.errors)")
        #expect(try server.folder.volley("approve", "last", "--by", "Anna", "--yes").output.contains("A retry for "))
        #expect(try server.folder.volley("send", "--plan", "last", "--yes", "--quiet").status == 0)
    }

    @Test(
        "on a terminal it asks, and only a yes approves",
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script"), "script makes the terminal"),
        arguments: ["n", "", "y"])
    func asked(answer: String) throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let terminal = try RunningVolley(
            executable: "/usr/bin/script", ["-qec", "\(VolleyBinary.path) approve last --by Anna", "/dev/null"],
            in: folder.url,
            environment: [:], input: answer + "\n"
        ).finish()
        #expect(terminal.status == (answer == "y" ? 0 : 2), "\(terminal.output)")
        #expect(
            terminal.output.contains("would go to 20 devices") && terminal.output.contains("as Anna? [y/N]"),
            "\(terminal.output)")
        let report = try folder.volley("report", "last", "--format", "json").json()
        #expect(report["approved_by"]?.stringValue == (answer == "y" ? "Anna" : nil))
    }

    @Test("a name is needed, and a terminal or --yes; what has begun cannot be approved")
    func mistakes() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        #expect(try folder.volley("approve", "last", "--by", " ", "--yes").errors.contains("--by needs"))
        let asked = try folder.volley("approve", "last", "--by", "Anna", input: "y\n")
        #expect(asked.status == 2 && asked.errors.contains("--yes"), "\(asked.errors)")
        #expect(try folder.volley("report", "last", "--format", "json").json()["approved_by"] == nil)
        #expect(try folder.volley("send", "--plan", "last", "--yes", "--quiet").status == 0)
        let late = try folder.volley("approve", "last", "--by", "Anna", "--yes")
        #expect(late.status == 2 && late.errors.contains("the run is finished"), "\(late.errors)")
    }
}
