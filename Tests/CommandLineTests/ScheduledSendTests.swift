import Base
import Foundation
import TestCommands
import Testing

@Suite("volley send and a schedule")
struct ScheduledSendTests {
    /// Devices in three zones, one without a zone, and one with a zone that does not exist.
    private func folder(_ schedule: String, delivery: String? = nil, columns: String = "device_token,timezone") throws
        -> ProjectFolder
    {
        let zones = ["Asia/Tokyo", "Europe/Berlin", "Europe/Madrid", "America/New_York", "", "Mars/Base"]
        let rows = (0..<60).map { "\(ProjectFolder.token($0)),\(zones[$0 % 6])" }
        let folder = try ProjectFolder(
            app: "environment: simulator", export: ([columns] + rows).joined(separator: "\n") + "\n")
        try folder.writeCampaign(delivery: delivery)
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", campaign + "schedule: {\(schedule)}\n")
        return folder
    }

    private static let byDevice = "at: 2035-06-01 09:00, timezone: recipient, fallback_timezone: UTC"

    @Test("what is not due is refused with the time in both zones, and nothing is planned or sent")
    func refused() throws {
        let folder = try folder("at: 2035-06-01 09:00, timezone: Asia/Tokyo")
        let sent = try folder.volley("send", "campaign.yaml", "--yes", environment: ["TZ": "America/New_York"])
        #expect(sent.status == 2)
        #expect(
            sent.errors.contains(
                "goes out at 2035-06-01 09:00 in Asia/Tokyo (2035-05-31 20:00 in America/New_York); nothing was sent"),
            "\(sent.errors)")
        #expect(
            sent.errors.contains(
                "`volley schedule campaign.yaml` waits for it. `volley send campaign.yaml --now` sends it to all devices at once, and "
                    + "`volley schedule` sends it again at its time."))
        #expect(folder.files(in: "runs").isEmpty)
        let repeating = try self.folder("repeat: \"0 9 * * mon\", timezone: UTC")
        #expect(try repeating.volley("send", "campaign.yaml", "--yes").status == 2)
        let past = try self.folder("at: 2025-06-01 09:00, timezone: Asia/Tokyo")
        let tooLate = try past.volley("send", "campaign.yaml", "--yes")
        #expect(
            tooLate.status == 2 && tooLate.errors.contains("too late for that now (late: skip after 2h)"),
            "\(tooLate.errors)")
        #expect(try past.volley("plan", "campaign.yaml").status == 2)
    }

    @Test("--now sends at once, to everybody; so does a time that has just passed, or that may be late")
    func now() throws {
        for (schedule, arguments) in [
            (Self.byDevice, ["--now"]), ("at: 2025-06-01 09:00, timezone: Asia/Tokyo, late: send", []),
        ] {
            let folder = try folder(schedule)
            let sent = try VolleyBinary.run(["send", "campaign.yaml", "--yes", "--json"] + arguments, in: folder.url)
            #expect(sent.status == 0, "\(sent.errors)")
            #expect(try sent.json()["outcomes"]?.int("accepted") == 60)
        }
        #expect(try folder(Self.byDevice).volley("send", "--plan", "last", "--now", "--yes").status == 2)
    }

    @Test("a plan keeps how long it took, as that makes nobody late", .enabled(if: hasPython))
    func planningTime() throws {
        let folder = try folder(Self.byDevice)
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let run = try #require(folder.files(in: "runs").first { $0.hasSuffix(".sqlite") })
        let query =
            "import json, sqlite3; s, = sqlite3.connect('runs/\(run)').execute('SELECT settings FROM run').fetchone(); "
        let python = try RunningVolley(
            executable: "/usr/bin/python3",
            ["-c", query + "a, b = json.loads(s)['schedule']['planning_ms']; print(b - a)"], in: folder.url,
            environment: [:], input: nil
        ).finish()
        #expect(try (1...60_000).contains(#require(Int(python.output.dropLast()))), "\(python.output)\(python.errors)")
    }

    @Test("--now warns of devices that are in their quiet hours")
    func nowInQuietHours() throws {
        // All day except a minute that is far from now in each of the zones, whatever the time.
        let utc = Calendar(identifier: .gregorian).dateComponents(
            in: TimeZone(identifier: "UTC") ?? .current, from: Date())
        let free = ((utc.hour ?? 0) * 60 + (utc.minute ?? 0) + 120) % 1440
        let clock = { (minute: Int) in String(format: "%02d:%02d", minute / 60 % 24, minute % 60) }
        let folder = try folder(
            "at: 2035-06-01 09:00, timezone: UTC, quiet_hours: \"\(clock(free + 1))-\(clock(free))\"")
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--now")
        #expect(sent.errors.contains("and would get it anyway"), "\(sent.errors)")
        #expect(sent.errors.contains("[sent-in-quiet-hours]"))
    }

    @Test("a preview tells who gets it when, whose zone is not known, and to whom it is too late")
    func preview() throws {
        let folder = try folder(Self.byDevice)
        let text = try folder.volley("preview", "campaign.yaml")
        #expect(
            text.output.contains("2035-06-01 09:00 in Asia/Tokyo           2035-06-01T00:00:00Z  10 devices"),
            "\(text.output)")
        #expect(text.output.contains("10 devices without a time zone: UTC applies"))
        #expect(
            text.errors.contains(
                "10 devices have a time zone in the export that does not exist, so UTC applies to them"))
        let schedule = try #require(try folder.volley("preview", "campaign.yaml", "--json").json()["schedule"])
        guard case .array(let waves)? = schedule["waves"] else { return #expect(Bool(false), "\(schedule.text)") }
        // Berlin and Madrid share a clock; UTC has those without a zone.
        #expect(waves.map { $0.int("devices") } == [10, 20, 20, 10])
        #expect(
            waves.map { $0["at"]?.stringValue?.dropFirst(11) } == ["00:00:00Z", "07:00:00Z", "09:00:00Z", "13:00:00Z"])
        #expect(
            schedule.int("without_timezone") == 10 && schedule.int("unknown_timezone") == 10
                && schedule.int("too_late") == 0)
        let past = try self.folder("at: 2025-06-01 09:00, timezone: recipient, fallback_timezone: UTC")
        #expect(try past.volley("preview", "campaign.yaml", "--json").json()["schedule"]?.int("too_late") == 60)
    }

    @Test("an export without the column is a warning, and the fallback counts for all")
    func noColumn() throws {
        let folder = try folder(Self.byDevice, columns: "device_token,zone")
        let checked = try folder.volley("check", "campaign.yaml")
        #expect(
            checked.errors.contains("has no column 'timezone', so fallback_timezone applies to all"),
            "\(checked.errors)")
        #expect(checked.status == 0 && checked.errors.contains("[timezone-not-found]"))
        #expect(
            try folder.volley("preview", "campaign.yaml", "--json").json()["schedule"]?.int("without_timezone") == 60)
    }

    @Test("an expiry that is over before some get it is a warning that says for how many")
    func expiry() throws {
        let folder = try folder(Self.byDevice, delivery: "expires: 2035-06-01 08:00")
        let shown = try folder.volley("preview", "campaign.yaml")
        #expect(
            shown.errors.contains("30 devices would be due only after the expiry 2035-06-01T08:00:00Z"),
            "\(shown.errors)")
    }

    @Test("a plan keeps its times: send --plan waits, obeys from elsewhere, and goes on after an interrupt")
    func waits() throws {
        let folder = try folder(Self.byDevice)
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        func waiting(_ arguments: [String]) throws -> RunningVolley {
            let process = try VolleyBinary.start(arguments, in: folder.url)
            let deadline = Date().addingTimeInterval(60)
            while !process.errorsSoFar.contains("Waiting"), process.isRunning, Date() < deadline { usleep(20_000) }
            #expect(
                process.errorsSoFar.contains(
                    "until 2035-06-01 09:00 in Asia/Tokyo (2035-06-01T00:00:00Z); 3 more times after that"))
            return process
        }
        let first = try waiting(["send", "--plan", "last", "--yes"])
        #expect(try folder.volley("runs").output.contains("running"))
        first.interrupt()
        #expect(first.finish().status == 130)
        let second = try waiting(["resume", "last"])
        #expect(try folder.volley("pause", "last").status == 0)
        let deadline = Date().addingTimeInterval(60)
        while !second.errorsSoFar.contains("Paused"), Date() < deadline { usleep(20_000) }
        #expect(try folder.volley("resume", "last").status == 0)
        while !second.errorsSoFar.contains("Continuing"), Date() < deadline { usleep(20_000) }
        #expect(
            second.errorsSoFar.contains("Paused") && second.errorsSoFar.contains("Continuing"), "\(second.errorsSoFar)")
        #expect(try folder.volley("cancel", "last").status == 0)
        let ended = second.finish()
        #expect(ended.status == 3 && ended.errors.contains("Cancelled"), "\(ended.errors)")
        #expect(try folder.volley("report", "last", "--format", "json").json()["outcomes"]?.int("unsent") == 60)
    }

    @Test(
        "a time goes out once, by hand as well: as a campaign, or as a plan that was made before; --now is something else"
    )
    func once() throws {
        let folder = try folder("at: 2025-06-01 09:00, timezone: Asia/Tokyo, late: send")
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let plan = try #require(folder.files(in: "runs").first { $0.hasPrefix("20") && $0.hasSuffix(".sqlite") })
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        for arguments in [["send", "campaign.yaml", "--yes"], ["send", "--plan", "runs/\(plan)", "--yes"]] {
            let again = try VolleyBinary.run(arguments, in: folder.url)
            #expect(
                again.status == 2 && again.errors.contains("has already used its time 2025-06-01 09:00"),
                "\(again.errors)")
        }
        let listed = try folder.volley("schedule", "campaign.yaml", "--list", "--json")
        #expect(listed.status == 0, "\(listed.errors)")
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--now").status == 0)
    }

    @Test("a plan that is too late for everybody is refused, and kept")
    func latePlan() throws {
        let folder = try folder(Self.byDevice)
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        try folder.editRun("UPDATE wave SET due_at = 1700000000000", "UPDATE run SET digest = ''")
        let sent = try folder.volley("send", "--plan", "last", "--yes")
        #expect(sent.status == 2 && sent.errors.contains("too late for every device of this plan"), "\(sent.errors)")
        #expect(try folder.volley("report", "last", "--format", "json").json()["state"]?.stringValue == "planned")
    }
}
