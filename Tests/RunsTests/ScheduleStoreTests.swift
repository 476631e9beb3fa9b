import Base
import Foundation
import GRDB
import Testing

@testable import Runs

@Suite("The schedule's record")
final class ScheduleStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-schedule-\(UUID().uuidString)"
    ).path
    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static func occurrence(_ day: String) -> String { "2026-12-0\(day)T09:00" }
    private static func run(_ day: String) -> String { "20261201-090000-a-000\(day)" }

    private func scheduledRun(_ day: String, _ state: ScheduledRun.State, ends: Int64 = 1_000) -> ScheduledRun {
        ScheduledRun(
            key: .init(campaign: "a", occurrence: Self.occurrence(day)), file: "/a.yaml", run: Self.run(day),
            state: state,
            problem: .fileChanging("/devices.csv", seconds: 5),
            begins: Timestamp(epochSeconds: 500), ends: Timestamp(epochSeconds: ends),
            changedAt: Timestamp(epochMilliseconds: 1_001))
    }

    @Test(
        "a value of another type is damage, said in a sentence", .enabled(if: hasSQLiteTool),
        arguments: [
            "firing SET occurrence = '2026-12-01T23:x0'", "firing SET occurrence = '2026-02-30T09:00'",
            "firing SET run = 'run-1'",
            "firing SET changed_at = '[]'", "firing SET ends_at = 'x'", "firing SET file = x'ff'",
            "campaign SET decided_through = 'x'",
        ])
    func damaged(edit: String) throws {
        let campaign = ScheduledCampaign(
            name: "a", file: "/a.yaml", times: "x", decidedThrough: Timestamp(epochMilliseconds: 123))
        let store = try ScheduleStore(folder: folder)
        try store.save([scheduledRun("1", .planning)], [campaign])
        store.close()
        let path = folder + "/schedule.sqlite"
        #expect(query(path, "UPDATE \(edit)").isEmpty)
        #expect(
            diagnostic { _ = try ScheduleStore.read(folder: folder, since: noon) }?.message.contains("is damaged")
                == true)
        let again = try ScheduleStore(folder: folder)
        let isFiring = edit.hasPrefix("firing")
        let found = diagnostic {
            if isFiring { _ = try again.scheduledRuns(since: noon) } else { _ = try again.campaigns() }
        }
        #expect(found?.message.contains("is damaged") == true)
    }

    @Test(
        "a change in whose middle a process was killed is taken back, and the schedule can be read",
        .enabled(if: hasSQLiteTool))
    func interruptedChange() throws {
        let store = try ScheduleStore(folder: folder)
        try store.save([scheduledRun("1", .finished)], [])
        store.close()
        let path = folder + "/schedule.sqlite"
        let rows =
            "WITH RECURSIVE n (x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 2000) SELECT x, hex(randomblob(50)), 0, 1 FROM n"
        let change = "PRAGMA cache_size = 1; BEGIN; INSERT INTO campaign (name, file, times, decided_through) \(rows);"
        // The shell below kills sqlite3, its parent.
        _ = shell("printf '%s\\n.shell kill -9 $PPID\\n' '\(change)' | sqlite3 '\(path)'")
        #expect(access(path + "-journal", F_OK) == 0)
        let seen = try ScheduleStore.read(folder: folder, since: Timestamp(epochSeconds: 0))
        #expect(seen.scheduledRuns == [scheduledRun("1", .finished)] && seen.campaigns.isEmpty)
        #expect(access(path + "-journal", F_OK) != 0)
    }

    @Test(
        "a record that this process has open is not read again to look for damage; one that takes its place is",
        .enabled(if: hasSQLiteTool))
    func openRecord() throws {
        let store = try ScheduleStore(folder: folder), catalog = RunsFolder(folder), path = folder + "/schedule.sqlite"
        defer { store.close() }
        var opened = KnownObstacles(schedule: store), others = KnownObstacles()
        #expect(query(path, "PRAGMA user_version = 99").isEmpty)
        #expect(catalog.obstacles(&opened).isEmpty)
        #expect(catalog.obstacles(&others).map(\.file) == [path])
        _ = shell("echo 'no record' > '\(path).new' && mv '\(path).new' '\(path)'")
        #expect(catalog.obstacles(&opened).map(\.file) == [path])
    }

    @Test("keeps what it was given, through closing and a kill, and is no run")
    func keeps() throws {
        let campaign = ScheduledCampaign(
            name: "a", file: "/a.yaml", times: "x", decidedThrough: Timestamp(epochMilliseconds: 123))
        var store: ScheduleStore? = try ScheduleStore(folder: folder)
        try store?.save([scheduledRun("1", .planning), scheduledRun("2", .finished)], [campaign])
        // As another process sees it in the meantime.
        let seen = try ScheduleStore.read(folder: folder, since: Timestamp(epochSeconds: 0))
        #expect(
            seen.scheduledRuns == [scheduledRun("1", .planning), scheduledRun("2", .finished)]
                && seen.campaigns == [campaign])
        var sending = scheduledRun("1", .sending)
        sending.file = "/renamed.yaml"
        try store?.save([sending], [])
        store = nil
        let again = try ScheduleStore(folder: folder)
        #expect(try again.scheduledRuns(since: Timestamp(epochSeconds: 0)).first == sending)
        #expect(try again.scheduledRuns(since: Timestamp(epochSeconds: 0)).map(\.state) == [.sending, .finished])
        // Open ones are never left out.
        #expect(
            try again.scheduledRuns(since: Timestamp(epochSeconds: 2_000)).map(\.key.occurrence) == [
                Self.occurrence("1")
            ])
        #expect(try again.campaigns() == [campaign])
        #expect(try again.lastEnded(at: Timestamp(epochSeconds: 500)).map(\.key.occurrence) == [Self.occurrence("2")])
        #expect(try again.lastEnded(at: Timestamp(epochSeconds: 499)).isEmpty, "left out, and still to come")
        again.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["schedule.sqlite"])
        #expect(try RunsFolder(folder).list().broken.isEmpty)
        #expect(try RunsFolder(folder).list().runs.isEmpty)
    }

    @Test("an emptied one is damage, whatever was on record; without it there is a new one")
    func emptied() throws {
        let store = try ScheduleStore(folder: folder)
        try store.save([scheduledRun("1", .skipped)], [])
        store.close()
        let path = folder + "/schedule.sqlite"
        #expect(truncate(path, 0) == 0)
        let words = "the record of a schedule is damaged: it is empty"
        #expect(diagnostic { try ScheduleStore(folder: self.folder).close() }?.message == words)
        #expect(diagnostic { _ = try ScheduleStore.read(folder: self.folder, since: noon) }?.message == words)
        var known = KnownObstacles()
        #expect(RunsFolder(folder).obstacles(&known).map(\.message) == [words])
        #expect(readBytes(path).isEmpty)
        #expect(unlink(path) == 0)
        try ScheduleStore(folder: folder).close()
    }

    @Test("is nothing where there is none, and refuses what it is not")
    func others() throws {
        #expect(try ScheduleStore.read(folder: folder, since: Timestamp(epochSeconds: 0)).scheduledRuns.isEmpty)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/" + ScheduleStore.fileName
        try Data("this is no database at all, but it is long enough to be looked at as one\n".utf8).write(
            to: URL(fileURLWithPath: path))
        let mistake = #expect(throws: Diagnostic.self) { try ScheduleStore(folder: folder) }
        #expect(mistake?.message.contains("not a record of a schedule") == true)
        #expect(throws: Diagnostic.self) { try ScheduleStore.read(folder: folder, since: Timestamp(epochSeconds: 0)) }
    }

    @Test("what a person has taken over is not opened again, and only what is being planned is cancelled as such")
    func takenOver() throws {
        let store = try ScheduleStore(folder: folder)
        defer { store.close() }
        let sending = scheduledRun("1", .sending), planning = scheduledRun("2", .planning)
        try store.save([sending, planning], [])
        #expect(try !store.isTaken(sending) && !store.isTaken(planning))
        var byHand = sending
        (byHand.state, byHand.problem) = (.stopped, .sentByHand)
        #expect(try store.claim(byHand) == .init(holder: nil, before: sending))
        #expect(
            try store.cancelPlanning(of: Self.run("1"), at: noon) == nil
                && store.cancelPlanning(of: Self.run("3"), at: noon) == nil)
        #expect(try store.cancelPlanning(of: Self.run("2"), at: noon)?.state == .cancelled)
        for (time, state) in [(sending, ScheduledRun.State.stopped), (planning, .cancelled)] {
            var waiting = time
            waiting.state = .waiting
            #expect(try store.isTaken(time) && store.save([time, waiting], []) == [time.key])
            #expect(try store.scheduledRun(time.key)?.state == state)
        }
        byHand.state = .finished
        #expect(try store.save([byHand], []).isEmpty && store.scheduledRun(byHand.key) == byHand)
    }

    @Test("one process at a time")
    func lock() throws {
        #expect(!ScheduleLock.isHeld(folder: folder))
        var lock: ScheduleLock? = try ScheduleLock(folder: folder)
        #expect(ScheduleLock.isHeld(folder: folder))
        let mistake = #expect(throws: Diagnostic.self) { try ScheduleLock(folder: folder) }
        #expect(mistake?.message.contains("process \(getpid())") == true)
        // Another folder has another record: each time would go out twice.
        #expect(mistake?.remedy?.contains("--runs") == false)
        withExtendedLifetime(lock) {}
        lock = nil
        // A process that another test starts has the file open, too, until it becomes its program.
        for _ in 0..<200 where ScheduleLock.isHeld(folder: folder) { usleep(10_000) }
        #expect(!ScheduleLock.isHeld(folder: folder))
        _ = try ScheduleLock(folder: folder)
    }

    @Test("a record of format 1, which kept sentences, says the same, read as it is and converted")
    func older() throws {
        let (path, sentences) = (
            folder + "/schedule.sqlite", ["", "it could not be begun in time", "cancelled", "there is no file x.csv"]
        )
        let store = try ScheduleStore(folder: folder)
        try store.save(sentences.indices.map { scheduledRun("\($0 + 1)", .sending) }, [])
        store.close()
        try DatabaseQueue(path: path).write { db in
            try db.execute(
                sql: "ALTER TABLE firing RENAME COLUMN problem TO reason; DROP TABLE approval; PRAGMA user_version = 1")
            for (number, sentence) in sentences.enumerated() {
                try db.execute(
                    sql: "UPDATE firing SET reason = ? WHERE occurrence = ?",
                    arguments: [sentence, Self.occurrence("\(number + 1)")])
            }
        }
        let expected: [ScheduleProblem?] = [
            nil, .begunTooLate, .stopped(.cancelled), .described("there is no file x.csv"),
        ]
        func problems(_ runs: [ScheduledRun]) -> [ScheduleProblem?] {
            runs.sorted { $0.key.occurrence < $1.key.occurrence }.map(\.problem)
        }
        for _ in 0..<2 {
            #expect(try problems(ScheduleStore.read(folder: folder, since: noon).scheduledRuns) == expected)
        }
        let converted = try ScheduleStore(folder: folder)
        #expect(try problems(converted.scheduledRuns(since: noon)) == expected)
        converted.close()
        #expect(try problems(ScheduleStore.read(folder: folder, since: noon).scheduledRuns) == expected)
    }

    @Test(
        "approvals of times are kept, replaced and taken back; a record of format 2 has none, and gets them when it is opened for writing"
    )
    func approvals() throws {
        let key = ScheduledRun.Key(campaign: "c", occurrence: "2026-12-01T09:00")
        let approval = AdvanceApproval(key: key, digest: "d", mostDevices: 10, name: "anna", approvedAt: noon)
        var other = approval
        (other.name, other.mostDevices) = ("ben", 20)
        var store = try ScheduleStore(folder: folder)
        try store.save(approval)
        #expect(try store.approvals() == [approval])
        try store.save(other)
        #expect(try ScheduleStore.read(folder: folder, since: noon).approvals == [other])
        try store.removeApproval(of: key)
        #expect(try store.approvals().isEmpty)
        store.close()
        try DatabaseQueue(path: folder + "/schedule.sqlite").write { db in
            try db.execute(sql: "DROP TABLE approval; PRAGMA user_version = 2")
        }
        #expect(try ScheduleStore.read(folder: folder, since: noon).approvals.isEmpty)
        store = try ScheduleStore(folder: folder)
        try store.save(approval)
        #expect(try store.approvals() == [approval])
        store.close()
    }

    @Test(
        "every problem is kept with its values",
        arguments: [
            .noticedLate(seconds: 7200), .brokenTooLong(seconds: 1), .sentUnderAnotherName,
            .nextHadCome("2026-12-01T09:00"),
            .superseded(by: "2026-12-01T09:00", .unapproved), .superseded(by: "2026-12-01T09:00", nil),
            .andBefore(times: 12, .nextHadCome("2026-12-01T09:00")), .unapproved, .approvedTooLate, .plannedTooLate,
            .planningEnded,
            .campaignChanged, .zoneChanged, .campaignBroken, .fileChanging("/x \"y\".csv", seconds: 10), .begunTooLate,
            .runGone,
            .stopped(.ledger(.processGone)), .missed(MissedPushes(count: 3, audience: 9, expired: 2, tooLate: 1)),
            .sentByHand,
            .notAccepted(3, unanswered: 2, audience: 9),
            .elsewhere(machine: "mail-2", run: "r2"), .described("no file"), .approvalVoid(by: "anna", .sourceDiffers),
            .approvalVoid(by: "anna", .tooManyDevices(12, most: 10)),
            .approvalVoid(by: "anna", .notPermitted(.wroteIt)),
            .approvalVoid(by: "anna", .notPermitted(.described("no accounts"))),
        ] as [ScheduleProblem])
    func problems(problem: ScheduleProblem) throws {
        #expect(ScheduleProblem(json: problem.json) == problem)
        var run = scheduledRun("1", .skipped)
        run.problem = problem
        let store = try ScheduleStore(folder: folder)
        try store.save([run], [])
        #expect(try store.scheduledRuns(since: Timestamp(epochSeconds: 0)) == [run])
        store.close()
    }
}
