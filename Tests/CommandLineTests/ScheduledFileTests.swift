import Base
import Foundation
import TestServers
import TestCommands
import Testing

/// How `volley schedule` handles files that change while it runs.
@Suite("Files under volley schedule")
struct ScheduledFileTests {
    /// A campaign whose time was a few minutes ago, so that it is sent at once.
    private static func campaign(_ name: String, minutesAgo: Int = 3, audience: String = "") -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd HH:mm"
        let time = formatter.string(from: Date(timeIntervalSinceNow: Double(-60 * minutesAgo)))
        return """
            name: \(name)
            app: shop
            audience: {devices: devices.csv, everyone: true\(audience)}
            content: {title: Hello, body: World}
            schedule: {at: \(time), timezone: UTC}

            """
    }

    private func state(_ folder: ProjectFolder, _ campaign: String) throws -> String? {
        let list = try folder.volley("schedule", ".", "--list", "--json", timeout: 30)
        guard case .array(let times)? = try list.json()["times"] else { return nil }
        return times.last { $0["campaign"]?.stringValue == campaign }?["state"]?.stringValue
    }

    /// Waits until a condition holds; fails after two minutes.
    private func wait(_ running: RunningVolley, _ what: Comment, _ condition: () throws -> Bool) throws {
        let end = Date(timeIntervalSinceNow: 120)
        while try !condition() {
            try #require(running.isRunning, "ended before \(what): \(running.errorsSoFar)")
            try #require(Date() < end, "waited in vain for \(what): \(running.errorsSoFar)")
            usleep(50_000)
        }
    }

    private func stop(_ running: RunningVolley) {
        kill(running.processID, SIGTERM)
        #expect(running.finish(timeout: 30).status == 130)
    }

    @Test("an export is planned from when it has been left alone, with all that was written to it until then")
    func quiet() throws {
        let folder = try ProjectFolder(export: ProjectFolder.export(devices: 5))
        try folder.write("a.yaml", Self.campaign("a"))
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        try wait(running, "the pause") { running.errorsSoFar.contains("and may still be being written") }
        // The exporter continues.
        let export = try FileHandle(forWritingTo: folder.url.appendingPathComponent("devices.csv"))
        try export.seekToEnd()
        for device in 5..<9 {
            try export.write(
                contentsOf: Data("\(ProjectFolder.token(device)),reg\(device),user,news,en,2026-11-01,Ada\n".utf8))
            usleep(500_000)
        }
        try export.close()
        try wait(running, "the end") { try state(folder, "a") == "finished" }
        stop(running)
        #expect(try folder.volley("report", "last", "--format", "json").json().int("audience") == 9)
        #expect(!running.errorsSoFar.contains("cannot be planned"), "\(running.errorsSoFar)")
        #expect(running.errorsSoFar.matches(of: /is due: planning/).count == 1, "\(running.errorsSoFar)")
    }

    @Test(
        "a campaign with mistakes that is deleted is gone, not repaired; a line break in its name begins no line of the log"
    )
    func gone() throws {
        let folder = try ProjectFolder(export: ProjectFolder.export(devices: 5))
        try folder.write("a.yaml", Self.campaign("a") + "nonsense: 1\n")
        try folder.write("b\nb.yaml", "name: [\n")
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        try wait(running, "mistakes") {
            ["a.yaml", "b\\u000Ab.yaml"].allSatisfy { running.errorsSoFar.contains("\($0) has mistakes") }
        }
        #expect(!running.errorsSoFar.contains("\nb.yaml"), "\(running.errorsSoFar)")
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("b\nb.yaml"))
        try folder.write("a.yaml", Self.campaign("a"))
        try wait(running, "both") {
            running.errorsSoFar.contains("b\\u000Ab.yaml is gone.")
                && running.errorsSoFar.contains("a.yaml no longer has mistakes.")
        }
        stop(running)
    }

    @Test("an export that is dated ahead of the clock holds nothing up for good")
    func future() throws {
        let folder = try ProjectFolder(export: ProjectFolder.export(devices: 5))
        try folder.write("a.yaml", Self.campaign("a"))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: 86_400)],
            ofItemAtPath: folder.url.appendingPathComponent("devices.csv").path)
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        try wait(running, "the end") { try state(folder, "a") == "finished" }
        stop(running)
    }

    @Test("an audience that dropped by more than half is not sent, and told; `shrinks_at_most: off` sends it")
    func shrinking() throws {
        let hook = try TestWebhook()
        let folder = try ProjectFolder(
            app: "environment: simulator\nnotices: [{webhook: \"\(hook.url())\", events: [failed]}]")
        try folder.write("a.yaml", Self.campaign("a"))
        #expect(try folder.volley("send", "a.yaml", "--now", "--yes", "--quiet").status == 0)
        try folder.write("devices.csv", ProjectFolder.export(devices: 8))
        try folder.write("a.yaml", Self.campaign("a", minutesAgo: 2))
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        try wait(running, "the failure") {
            running.errorsSoFar.contains("60.0 % fewer than the 20 of ") && hook.requests.count == 1
        }
        let notice = try JSONValue(parsing: try #require(hook.requests.first).body)
        #expect(notice["reason"]?.stringValue?.contains("may shrink by at most 50%") == true, "\(notice)")
        #expect(try state(folder, "a") == "planning")
        stop(running)
        try folder.write("a.yaml", Self.campaign("a", minutesAgo: 2, audience: ", shrinks_at_most: off"))
        let again = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = again.finish(timeout: 0) }
        try wait(again, "the end") { try state(folder, "a") == "finished" }
        stop(again)
        #expect(try folder.volley("report", "last", "--format", "json").json().int("audience") == 8)
    }

    @Test(
        "a campaign, an export and a volley.yaml that become named pipes are told as mistakes, and hold up nothing else"
    )
    func pipes() throws {
        let folder = try ProjectFolder()
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", "monitoring: {health: health.json}\n" + project)
        try folder.write("a.yaml", Self.campaign("a", minutesAgo: -600))
        func makePipe(_ name: String) throws {
            let path = folder.url.appendingPathComponent(name).path
            unlink(path)
            try #require(mkfifo(path, 0o600) == 0)
        }
        func health() throws -> JSONValue {
            try JSONValue(
                parsing: String(contentsOf: folder.url.appendingPathComponent("health.json"), encoding: .utf8))
        }
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        try wait(running, "the health file") { (try? health())?["status"]?.stringValue == "ok" }
        try makePipe("a.yaml")
        try wait(running, "the mistake") {
            running.errorsSoFar.contains("a.yaml: this is a named pipe, not a file")
                && (try? health())?["status"]?.stringValue == "problems"
        }
        // Everything else continues.
        try folder.write("b.yaml", Self.campaign("b"))
        try wait(running, "another campaign") { try state(folder, "b") == "finished" }
        try makePipe("devices.csv")
        try folder.write("c.yaml", Self.campaign("c"))
        try wait(running, "the failure") {
            running.errorsSoFar.contains("devices.csv: this is a named pipe, not a file")
        }
        try makePipe("volley.yaml")
        try wait(running, "the mistake of volley.yaml") {
            running.errorsSoFar.contains("volley.yaml: this is a named pipe, not a file")
        }
        stop(running)
    }
}
