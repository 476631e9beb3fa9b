import Workspace
import Base
import Campaigns
import Content
import Delivery
import Foundation
import Runs
import Testing

@testable import Automation
@testable import Planning
@testable import Sending

/// The state of a run that `volley schedule` finds after a restart.
@Suite("what is found of a firing's run")
struct ScheduledRunWorkTests {
    private static let now = Timestamp.now()
    private static let id = "20261201-090000-c-7f3a"

    private func plan(in folder: String, at occurrence: LocalTime? = nil) throws -> RunFile {
        var settings = RunSettings(
            environment: .sandbox, topic: "com.example.shop", pushType: .alert,
            renderingRules: MessageCatalog.renderingRules)
        if let occurrence {
            settings.schedule = FrozenSchedule(Schedule(at: occurrence, zone: .named(.utc)), nil)
            settings.schedule?.occurrence = occurrence
        }
        let writer = try RunWriter(folder: folder, id: Self.id)
        for device in 0..<10 {
            try writer.put(
                Recipient(token: Target(normalized: String(repeating: "0", count: 63) + String(device)), fields: []),
                at: device)
        }
        return try writer.finish(
            RunPlan(
                id: Self.id, campaign: "c", app: "shop", campaignFile: "c.yaml", campaignSource: "",
                projectFile: "volley.yaml",
                seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: Self.now, planHash: "", rows: 10, audience: 10,
                skipped: [:],
                settings: .success(settings), preview: .object([])))
    }

    private func found(in folder: String) throws -> Scheduler.Finding {
        let scheduledRun = ScheduledRun(
            key: .init(campaign: "c", occurrence: "2026-12-01T09:00"), file: "c.yaml", run: Self.id, state: .sending,
            begins: .distantPast,
            ends: .distantPast, changedAt: .distantPast)
        return try ScheduledRunWork(
            catalog: RunsFolder(folder), choice: .init(),
            options: ScheduleOptions(observer: .silent, cancellation: Cancellation()),
            heartbeats: Heartbeats(), rights: { _ in nil }
        )
        .examine(scheduledRun)
    }

    @Test("a file that knows less than was sent is neither a plan that is too late nor one that has ended")
    func older() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-firing-\(UUID().uuidString)")
            .path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let run = try plan(in: folder)
        let plan = try Data(contentsOf: URL(fileURLWithPath: run.path))
        let new = NewEpoch(after: "", reached: 0, claimed: 0, in: "sandbox")
        #expect(try run.append(.epochNoted(new, at: Self.now)).beginning == .noted)
        try run.append(.epochBegan(new.epoch, at: Self.now, from: [.planned]))
        #expect(try run.append(.epochConfirmed(givenUp: [])).beginning == .noted)
        run.close()
        try Data(plan).write(to: URL(fileURLWithPath: run.path))
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: run.path + suffix) }
        let finding = try found(in: folder)
        guard case .unreadable(let reason) = finding else {
            Issue.record("found \(finding) of an older copy")
            return
        }
        #expect(reason.contains("older copy"))
        // Without the record it looks like an unsent plan.
        try Data(repeating: 7, count: 8192).write(to: URL(fileURLWithPath: "\(folder)/sent.db"))
        let other = try found(in: folder)
        guard case .unreadable(let why) = other else {
            Issue.record("found \(other) of an older copy beside a damaged record")
            return
        }
        #expect(
            why.contains(
                "cannot be checked whether this file has a record of all that was sent: this is not a record of what was sent, but is in its place"
            ), "\(why)")
    }

    @Test("what a person sends is theirs before the first push, and what the schedule sends stays its own")
    func takenOver() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-firing-\(UUID().uuidString)")
            .path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let run = try plan(in: folder, at: LocalTime("2026-12-01T09:00"))
        defer { run.close() }
        let settings = try run.plan.settings.get()
        let person = try #require(ScheduledTime(run, settings, isScheduler: false))
        let scheduler = try #require(ScheduledTime(run, settings, isScheduler: true))
        func facts(_ step: SendGate.Step) throws -> [SendGate.Facts.Time] {
            try [person, scheduler].map { try $0.inspect(step).0 }
        }
        var row = person.scheduledRun
        (row.state, row.problem) = (.sending, nil)
        let store = try run.catalog.schedule.open()
        defer { store.close() }
        try store.save([row], [])
        #expect(try facts(.goOn) == [.free, .own] && facts(.retry) == [.own, .own])
        let before = try person.claim()
        #expect(try store.isTaken(row) && facts(.goOn) == [.own, .taken])
        // Nothing was sent after all.
        try person.returnTime(before)
        #expect(try !store.isTaken(row) && facts(.goOn) == [.free, .own])
    }
}
