import Workspace
import Base
import Foundation
import Runs
import Testing

@testable import Sending
@testable import Automation

@Suite("Files of schedules")
final class ScheduleFilesTests {
    private let base = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-files-\(UUID().uuidString)")
    private let now = Timestamp(epochSeconds: 1_796_116_800)
    private var folder: URL { base.appendingPathComponent("campaigns") }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("runs: runs\napps: {shop: {topic: a.b, environment: simulator}}\n".utf8).write(
            to: base.appendingPathComponent("volley.yaml"))
    }

    deinit { try? FileManager.default.removeItem(at: base) }

    @Test(
        "what was named is said: a link that leads nowhere, and a folder that is named like a campaign and holds none")
    func named() throws {
        let link = folder.path + "/gone.yaml", yaml = folder.path + "/dir.yaml"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere.yaml")
        try FileManager.default.createDirectory(atPath: yaml, withIntermediateDirectories: false)
        for (path, words) in [
            (link, "nowhere.yaml, where nothing is"), (yaml, "this is a folder, although it is named like a campaign"),
        ] {
            let mistake = #expect(throws: Diagnostic.self) { try files([path]) }
            #expect(mistake?.message.contains(words) == true, "\(mistake?.message ?? "")")
        }
        try write("dir.yaml/c.yaml", name: "c")
        _ = try files([yaml])
    }

    @Test(
        "a file with mistakes is a problem of the schedule if it could have times, and a draft that is sent by hand is none",
        arguments: [
            ("", false), ("schedule: {at: soon}", true), ("schedule: {timezone: UTC}", false),
            ("schedule:\n  repeat: daily", true),
            ("  : [", true),
        ])
    func drafts(schedule: String, isProblem: Bool) throws {
        try Data("name: draft\napp: shop\naudience: {tags: []}\ncontent: {titel: Hello}\n\(schedule)\n".utf8).write(
            to: folder.appendingPathComponent("draft.yaml"))
        let reading = try files().read(now: now)
        #expect(reading.mistakes.isEmpty != isProblem && reading.unscheduledFiles.isEmpty == isProblem)
        #expect(reading.unreadable.isEmpty != isProblem)
    }

    private func write(_ file: String, name: String, _ more: String = "") throws {
        let text = """
            name: \(name)
            app: shop
            audience: {devices: devices.csv, everyone: true}
            content: {title: Hello, body: World}
            schedule: {at: 2026-12-01 09:00, timezone: UTC}
            \(more)
            """
        try Data(text.utf8).write(to: folder.appendingPathComponent(file))
    }

    private func files(_ arguments: [String]? = nil) throws -> ScheduleFiles {
        try ScheduleFiles(
            arguments ?? [folder.path], catalog: RunsFolder(base.appendingPathComponent("runs").path), in: .init())
    }

    @Test("what looks like a campaign in a folder and is not read is named: folders within it, other endings")
    func ignoredFiles() throws {
        try write("spring.yaml", name: "spring")
        try write("autumn.YAML", name: "autumn")
        for name in ["sub", "exports", "named", ".hidden"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        for name in ["sub/a.yml", "named/b.yaml", ".hidden/c.yaml", "exports/devices.csv", "notes.txt", "x.yaml.txt"] {
            try write(name, name: "x")
        }
        let reading = try files([folder.path, folder.appendingPathComponent("named").path]).read(now: now)
        #expect(reading.ignoredFiles.map { $0.split(separator: "/").last } == ["autumn.YAML", "sub", "x.yaml.txt"])
        #expect(Set(reading.campaigns.map(\.name)) == ["spring", "x"])
        let list = ScheduleList(
            reading, saved: SavedSchedule(), isAtWork: false, here: .utc, now: now, needsApproval: { _ in false })
        #expect(
            list.text(colour: false).contains(
                "\nNot read: \(reading.ignoredFiles.joined(separator: ", ")). Name subfolders as well"))
    }

    @Test("a run that is paused is listed as paused; its state stays what programs read")
    func paused() throws {
        let saved = SavedSchedule(scheduledRuns: [
            ScheduledRun(
                key: .init(campaign: "spring", occurrence: "2026-12-01T09:00"), file: "/spring.yaml", run: "r",
                state: .sending,
                begins: now,
                ends: now, changedAt: now)
        ])
        let list = ScheduleList(
            try files().read(now: now), saved: saved, isAtWork: true, here: .utc, now: now, isPaused: { $0 == "r" })
        #expect(list.text(colour: false).contains("paused as r") && list.times.map(\.state) == [.sending])
        #expect(
            list.json.text.contains("\"paused\":true") || list.json.text.contains("\"paused\": true"),
            "\(list.json.text)")
    }

    @Test("of files whose campaigns have one name none is sent, and each says which the others are")
    func copied() throws {
        try write("spring.yaml", name: "spring")
        try write("autumn.yaml", name: "spring")
        try write("winter.yaml", name: "winter")
        let reading = try files().read(now: now)
        #expect(reading.campaigns.map(\.name) == ["winter"])
        let mistakes = Dictionary(
            uniqueKeysWithValues: reading.mistakes.map {
                (FilePaths.join("", name: $0.key).split(separator: "/").last, "\($0.value)")
            })
        #expect(mistakes.count == 2, "\(mistakes)")
        #expect(mistakes["spring.yaml"]?.contains("autumn.yaml also has the name 'spring'") == true, "\(mistakes)")
        #expect(mistakes["autumn.yaml"]?.contains("spring.yaml also has the name 'spring'") == true, "\(mistakes)")
        #expect(reading.unreadable == Set(reading.mistakes.keys))
    }

    @Test("a folder or a file that is away is a mistake, and none of its campaigns is taken for gone")
    func away() throws {
        try write("spring.yaml", name: "spring")
        for argument in [folder.path, folder.appendingPathComponent("spring.yaml").path] {
            var files = try files([argument])
            // A change counts at the second check, after the file was left alone.
            let first = files.readIfChanged(now: now)
            let file = try #require(first?.campaigns.first?.file)
            let elsewhere = base.appendingPathComponent("elsewhere")
            try FileManager.default.moveItem(at: folder, to: elsewhere)
            let looks = [files.readIfChanged(now: now), files.readIfChanged(now: now)]
            let reading = try #require(looks[1])
            #expect(
                looks[0] == nil && reading.mistakes.count == 1 && reading.unreadable.contains(file)
                    && reading.campaigns.isEmpty)
            try FileManager.default.moveItem(at: elsewhere, to: folder)
            let returned = [files.readIfChanged(now: now), files.readIfChanged(now: now)]
            #expect(returned[1]?.campaigns.map(\.file) == [file])
        }
    }

    @Test(
        "a reading that remembers the one before finds what one of all files finds, whatever was changed between them")
    func remembered() throws {
        let files = try files()
        func look(_ moment: Timestamp? = nil) throws -> (
            names: [String], sources: [String: String], mistakes: [String: Diagnostics], byHand: Int
        ) {
            let moment = moment ?? now
            let read = [try self.files().read(now: moment), files.read(now: moment), files.read(now: moment)]
            let found = read.map { ($0.campaigns.map(\.name), $0.sources, $0.mistakes, $0.unscheduledFiles.count) }
            for other in found.dropFirst() {
                #expect(other.0 == found[0].0 && other.1 == found[0].1 && other.3 == found[0].3)
                #expect(other.2.mapValues(\.description) == found[0].2.mapValues(\.description))
            }
            return found[2]
        }
        try write("spring.yaml", name: "spring")
        try write("winter.yaml", name: "winter", "delivery: {expires: 2026-12-02 12:00}\n")
        let first = try look()
        #expect(first.names == ["spring", "winter"] && first.mistakes.isEmpty)
        try write("copy.yaml", name: "spring")
        #expect(try look().names == ["winter"])
        try FileManager.default.removeItem(at: folder.appendingPathComponent("copy.yaml"))
        try write("spring.yaml", name: "summer")
        #expect(try look().names == ["summer", "winter"])
        // The app's settings are a part of what is planned.
        try Data("runs: runs\napps: {shop: {topic: a.b, environment: simulator, pace: 5/s}}\n".utf8).write(
            to: base.appendingPathComponent("volley.yaml"))
        #expect(try look().sources != first.sources)
        let late = try look(now.adding(seconds: 3 * 86_400))
        #expect(late.names == ["summer"] && late.mistakes.count == 1, "an expiry passes without a change: \(late)")
        try Data("name: winter\napp: shop\naudience: {everyone: true}\ncontent: {title: Hello}\n".utf8).write(
            to: folder.appendingPathComponent("winter.yaml"))
        #expect(try look().byHand == 1)
    }
}
