import Base
import Foundation
import TestCommands
import Testing

@Suite("frequency: at most so many pushes per device") struct FrequencyTests {
    private func send(_ folder: ProjectFolder, _ name: String, tags: String? = nil, frequency: String? = nil) throws
        -> JSONValue
    {
        try folder.writeCampaign(
            "\(name).yaml", name: name,
            audience: "devices: devices.csv\n" + (tags.map { "tags: [\($0)]" } ?? "everyone: true"),
            delivery: frequency.map { "frequency: \($0)" })
        let sent = try folder.volley("send", "\(name).yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        return try sent.json()
    }

    @Test("pushes of all campaigns of the app count, and whoever has enough is skipped")
    func acrossCampaigns() throws {
        let folder = try ProjectFolder()
        #expect(try send(folder, "first").int("audience") == 20)
        #expect(try send(folder, "second", tags: "news", frequency: "at most 2 per 7 days").int("audience") == 10)
        // Ten devices got two pushes, ten got one.
        let third = try send(folder, "third", frequency: "at most 2 per 7 days")
        #expect(third.int("audience") == 10 && third["skipped"]?.int("frequency") == 10)
        let fourth = try send(folder, "fourth", frequency: "at most 2 per 7 days")
        #expect(fourth.int("audience") == 0 && fourth["skipped"]?.int("frequency") == 20)
        #expect(try send(folder, "fifth").int("audience") == 20)
    }

    @Test("the app's own cap counts for every campaign, and a campaign's may be stricter")
    func app() throws {
        let folder = try ProjectFolder(app: "environment: simulator\nfrequency: at most 2 per day")
        _ = try send(folder, "first")
        #expect(try send(folder, "second", tags: "news", frequency: "at most 1 per 30 days").int("audience") == 0)
        #expect(try send(folder, "third", tags: "news").int("audience") == 10)
        #expect(try send(folder, "fourth").int("audience") == 10)
    }

    @Test("prune leaves runs whose pushes a cap counts, and says until when")
    func pruned() throws {
        let folder = try ProjectFolder()
        _ = try send(folder, "first", frequency: "at most 1 per 2 days")
        let pruned = try folder.volley("prune", "--keep", "0d", "--yes", "--include-stopped")
        #expect(
            pruned.status == 0 && pruned.output.contains(/'frequency' counts its pushes until 20.* UTC/),
            "\(pruned.output)")
        #expect(try send(folder, "second", frequency: "at most 1 per 2 days").int("audience") == 0)
    }

    @Test("what is older than the stretch, was refused, is a test, or went elsewhere does not count")
    func notCounted() throws {
        let server = try LedgeredServer(devices: 20)
        let folder = server.folder
        func audience() throws -> Int? {
            try folder.writeCampaign("capped.yaml", name: "capped", delivery: "frequency: at most 1 per 2 hours")
            return try folder.volley("preview", "capped.yaml", "--json").json().int("audience")
        }
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        #expect(try audience() == 0)
        // An hour and fifty minutes ago, then two hours and ten.
        let shift = "UPDATE run SET started_at = started_at - %, finished_at = finished_at - %"
        try folder.editRun(shift.replacingOccurrences(of: "%", with: "6600000"), "DELETE FROM outcome_block")
        // Claimed, with an unknown result: it may have arrived.
        #expect(try audience() == 0)
        try folder.editRun(shift.replacingOccurrences(of: "%", with: "1200000"))
        #expect(try audience() == 20)
        try folder.editRun("UPDATE run SET finished_at = finished_at + 7800000", "DELETE FROM claim")
        #expect(try audience() == 20)
    }

    @Test(
        "a killed run counts from when it claimed, a paused one for everybody it goes on to, a background push not at all"
    )
    func unfinished() throws {
        let folder = try ProjectFolder()
        _ = try send(folder, "first")
        func audience() throws -> Int? {
            try folder.writeCampaign("capped.yaml", name: "capped", delivery: "frequency: at most 1 per 2 hours")
            return try folder.volley("preview", "capped.yaml", "--json").json().int("audience")
        }
        try folder.editRun("DELETE FROM outcome_block", "UPDATE run SET finished_at = NULL, state = 'stopped'")
        #expect(try audience() == 0)
        try folder.editRun("UPDATE claim SET claimed_at = claimed_at - 7800000")
        #expect(try audience() == 20)
        try folder.editRun("UPDATE run SET state = 'paused'")
        #expect(try audience() == 0)
        try folder.editRun("UPDATE run SET settings = replace(settings, '\\\"alert\\\"', '\\\"background\\\"')")
        #expect(try audience() == 20)
    }

    /// Plans without sending.
    /// - Returns: the run's id.
    private func plan(_ folder: ProjectFolder, _ name: String, frequency: String?) throws -> String {
        try folder.writeCampaign("\(name).yaml", name: name, delivery: frequency.map { "frequency: \($0)" })
        let planned = try folder.volley("plan", "\(name).yaml", "--json")
        #expect(planned.status == 0, "\(planned.errors)")
        return try #require(folder.files(in: "runs").last { $0.contains("-\(name)-") && $0.hasSuffix(".sqlite") })
            .replacing(
                ".sqlite", with: "")
    }

    @Test(
        "of plans that waited side by side the second leaves out whom the first reached; a retry reaches them all the same"
    )
    func sideBySide() throws {
        let folder = try ProjectFolder()
        let first = try plan(folder, "first", frequency: "at most 1 per week")
        let second = try plan(folder, "second", frequency: "at most 1 per week")
        let sent = try folder.volley("send", "--plan", first, "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 20, "\(sent.errors)")
        _ = try send(folder, "third", tags: "news")
        let later = try folder.volley("send", "--plan", second, "--yes", "--json")
        #expect(
            later.status == 0 && later.errors.contains("20 devices do not get this push"),
            "\(later.errors)")
        let report = try later.json()
        #expect(
            report["state"]?.stringValue == "finished" && report["outcomes"]?.int("unsent") == 20
                && report["outcomes"]?.sum == 20)
        #expect(report["reasons"]?.int("FrequencyCap") == 20)
        let retry = try folder.volley("retry", second, "--outcome", "unsent", "--yes", "--json")
        #expect(try retry.json()["outcomes"]?.int("accepted") == 20, "\(retry.errors)")
    }

    @Test("a run that goes on leaves them out too, but what may have arrived is the same push once more")
    func resumed() throws {
        let server = try LedgeredServer(devices: 20)
        let folder = server.folder
        let capped = try plan(folder, "capped", frequency: "at most 1 per week")
        // The first ten may have got it: they were claimed, and have no outcome.
        try folder.editRun(
            "INSERT INTO claim VALUES (0, 9, (SELECT planned_at FROM run))",
            "UPDATE run SET state = 'stopped', started_at = planned_at, finished_at = planned_at + 1")
        _ = try send(folder, "other", tags: "news")
        let resumed = try folder.volley("resume", capped, "--json")
        #expect(resumed.status == 0 && resumed.errors.contains("5 devices do not get this push"), "\(resumed.errors)")
        let report = try resumed.json()
        #expect(report["outcomes"]?.int("accepted") == 15 && report["outcomes"]?.int("unsent") == 5)
        #expect(report["reasons"]?.int("FrequencyCap") == 5)
    }

    @Test("a file that cannot be read keeps a plan from being sent")
    func unknownReach() throws {
        let folder = try ProjectFolder()
        let capped = try plan(folder, "capped", frequency: "at most 1 per week")
        try folder.write("runs/20261101-000000-x-0000.sqlite", "nothing")
        let sent = try folder.volley("send", "--plan", capped, "--yes", "--json")
        #expect(sent.status == 2 && sent.errors.contains("which devices a run reached is not known"), "\(sent.errors)")
        #expect(sent.errors.contains("If it does not matter which devices it reached"))
        #expect(try folder.volley("runs", "--json").output.contains(#""state": "planned""#))
    }

    @Test("damage is not taken for nobody reached")
    func damaged() throws {
        let folder = try ProjectFolder()
        _ = try send(folder, "first")
        try folder.editRun("UPDATE outcome_block SET slots = x'F0FF' || substr(slots, 3)")
        try folder.writeCampaign(delivery: "frequency: at most 1 per week")
        let planned = try folder.volley("plan", "campaign.yaml")
        #expect(
            planned.status == 2 && planned.errors.contains("outcome of recipient 0 cannot be read"), "\(planned.errors)"
        )
    }

    @Test("--why says so")
    func why() throws {
        let folder = try ProjectFolder()
        _ = try send(folder, "first")
        try folder.writeCampaign(delivery: "frequency: at most 1 per week")
        let why = try folder.volley("preview", "campaign.yaml", "--why", "reg3")
        #expect(why.output.contains("it has reached its limit of pushes: at most 1 per 7 days"), "\(why.output)")
        try folder.writeCampaign(delivery: "frequency: at most 2 per week")
        #expect(
            try folder.volley("preview", "campaign.yaml", "--why", "reg3").output.contains(
                "it may get another push: at most 2 per 7 days"))
    }

    @Test("a run that cannot be read stops the plan: whom it reached is not known")
    func broken() throws {
        let folder = try ProjectFolder()
        _ = try send(folder, "first")
        try folder.write("runs/20261101-000000-x-0000.sqlite", "nothing")
        try folder.writeCampaign(delivery: "frequency: at most 1 per week")
        let planned = try folder.volley("plan", "campaign.yaml")
        #expect(
            planned.status == 2 && planned.errors.contains("which devices a run reached is not known"),
            "\(planned.errors)")
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
    }
}
