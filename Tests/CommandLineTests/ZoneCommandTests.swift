import Base
import Foundation
import TestCommands
import Testing

@Suite("Time zones of the machine and its database")
struct ZoneCommandTests {
    private func now(hoursAhead: Int, _ format: String) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: hoursAhead * 3600)
        formatter.dateFormat = format
        return formatter.string(from: Date())
    }

    @Test(
        "a path with a date is that of the C library's day, and refused where TZ cannot be read; without a date TZ does not matter",
        arguments: ["preview", "send"])
    func dates(command: String) throws {
        let folder = try ProjectFolder()
        // Fourteen hours ahead and ten behind: never the same day.
        for (hours, name) in [(14, "early"), (-10, "late")] {
            let date = now(hoursAhead: hours, "yyyy-MM-dd")
            try folder.write("devices-\(name)-\(date).csv", ProjectFolder.export(devices: 3))
            try folder.writeCampaign(
                "\(name).yaml", name: name, audience: "devices: \"devices-\(name)-{{ date }}.csv\"\neveryone: true")
        }
        try folder.writeCampaign("none.yaml", name: "none")
        let arguments = command == "send" ? ["--yes"] : []
        func run(_ file: String, _ zone: String) throws -> VolleyBinary.Result {
            try VolleyBinary.run([command, file] + arguments, in: folder.url, environment: ["TZ": zone])
        }
        for (file, zone) in [("early.yaml", "AAA-14"), ("late.yaml", "HST10"), ("none.yaml", "Europe/Berln")] {
            let done = try run(file, zone)
            #expect(done.status == 0, "\(file): \(done.errors)")
        }
        let runs = folder.files(in: "runs").count
        let refused = try run("late.yaml", "Europe/Berln")
        #expect(refused.status == 2)
        #expect(
            refused.errors.contains("the time zone of this machine cannot be read: TZ is 'Europe/Berln'")
                && refused.errors.contains("late.yaml:4:12: the date in this path ")
                && refused.errors.contains("for example TZ=Europe/Berlin"),
            "\(refused.errors)")
        #expect(folder.files(in: "runs").count == runs)
    }

    @Test(
        "the time zone database is updated while volley schedule is at work: it follows the new rules, says so, and loses no time"
    )
    func update() throws {
        let folder = try ProjectFolder()
        let zones = folder.url.appendingPathComponent("zones/Europe")
        try FileManager.default.createDirectory(at: zones, withIntermediateDirectories: true)
        func install(_ name: String) throws {
            let file = try Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/\(name)"))
            try file.write(to: zones.appendingPathComponent("Moscow"), options: .atomic)
        }
        try install("Etc/GMT-3")
        // In an hour by these rules, and a moment ago by the next ones.
        let time = now(hoursAhead: 4, "yyyy-MM-dd HH:mm")
        try folder.writeCampaign()
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", campaign + "schedule: {at: \(time), timezone: Europe/Moscow}\n")
        let running = try VolleyBinary.start(
            ["schedule", "campaign.yaml"], in: folder.url,
            environment: ["TZDIR": folder.url.appendingPathComponent("zones").path])
        defer { kill(running.processID, SIGTERM) }
        func wait(for text: String) throws {
            let end = Date(timeIntervalSinceNow: 60)
            while !running.errorsSoFar.contains(text) {
                try #require(running.isRunning && Date() < end, "waited in vain for \(text): \(running.errorsSoFar)")
                usleep(20_000)
            }
        }
        try wait(for: "next \(time) Europe/Moscow")
        try install("Etc/GMT-4")
        try wait(for: "The time zone database was updated: times in Europe/Moscow follow the new rules")
        try wait(for: "is due: planning")
        #expect(!running.errorsSoFar.contains("skipped"))
    }
}
