import Base
import Testing

@testable import Runs

@Suite("runs that were put back from a backup")
struct RestoredRunsTests {
    private static let backup = noon, restored = noon.adding(seconds: 3600)

    /// Copies a folder of runs as a backup does, and puts the copy back.
    private func putBack(_ folder: TemporaryFolder, sending: Set<String> = [], nothingSentSince: Bool = false) throws
        -> (
            folder: TemporaryFolder, state: RestoredRuns
        )
    {
        let copy = try TemporaryFolder()
        let inventory = try RunsInventory(folder.path)
        for entry in inventory.entries { #expect(try inventory.copy(entry, to: copy.path) { _, _ in }) }
        let state = try RestoredRuns(
            in: copy.path,
            .init(
                backupAt: Self.backup, restoredAt: Self.restored, sending: sending, nothingSentSince: nothingSentSince))
        return (copy, state)
    }

    private func begin(_ run: RunFile) throws -> ClaimCounter {
        let new = try NewEpoch(
            after: run.status().epoch, reached: run.reached(), claimed: run.claims().made, in: "sandbox")
        #expect(try run.catalog.history.begin(run.plan, new, at: noon) == .noted)
        let marks = try ClaimCounter(run, epoch: new.epoch, claimed: run.claims().made)
        try run.append(.epochBegan(new.epoch, at: noon, from: [.planned, .stopped]))
        #expect(try run.catalog.history.confirm(run.plan.id))
        return marks
    }

    /// Whether the record lets a run begin.
    private func mayBegin(_ run: RunFile) throws -> Bool {
        let new = try NewEpoch(
            after: run.status().epoch, reached: run.reached(), claimed: run.claims().made, in: "sandbox")
        return try run.catalog.history.begin(run.plan, new, at: noon) == .noted
    }

    /// The id of a run that is called by its state.
    private static func id(_ name: String) -> String { "20261201-090000-\(name)-7f3a" }

    /// The same campaign in four states.
    private func makeFolder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try makeRun(folder, id: Self.id("planned"), audience: 4).close()
        for (id, state) in [("stopped", RunState.stopped), ("cancelled", .cancelled), ("finished", .finished)] {
            let run = try makeRun(folder, id: Self.id(id), audience: 4)
            let marks = try begin(run)
            try run.append(.claimed(0..<4, at: noon))
            try marks.note(4)
            try run.append(.settled([(0..<4).map { settled($0, state == .finished || $0 < 2 ? .accepted : .unsent) }]))
            try run.append(.state(state, at: noon))
            #expect(try run.catalog.history.end(run, epoch: run.status().epoch, made: 4))
            marks.close()
            ClaimCounter.remove(run.path)
            try run.closeIntoOneFile()
        }
        return folder
    }

    @Test("approvals ahead, which may have been withdrawn since, are forgotten; unless nothing was done since")
    func approvals() throws {
        let folder = try TemporaryFolder(), store = try ScheduleStore(folder: folder.path)
        let key = ScheduledRun.Key(campaign: "c", occurrence: "2026-12-01T09:00")
        try store.save(AdvanceApproval(key: key, digest: "d", mostDevices: 10, name: "anna", approvedAt: noon))
        store.close()
        for isKept in [false, true] {
            let copy = try putBack(folder, nothingSentSince: isKept).folder
            #expect(
                try ScheduleStore.read(folder: copy.path, since: noon).approvals.map(\.key) == (isKept ? [key] : []))
        }
    }

    @Test("what had not ended is held, with the moment of the backup in the reason; what had ended is as it was")
    func held() throws {
        let folder = try makeFolder()
        let (copy, state) = try putBack(folder)
        #expect(state.held.sorted() == ["cancelled", "planned", "stopped"].map(Self.id))
        for id in ["cancelled", "planned", "stopped"].map(Self.id) {
            let run = try RunFile(path: "\(copy.path)/\(id).sqlite")
            let gap = try #require(LedgerGap(of: run))
            #expect(
                !gap.isKnown && gap.diagnostic.message.contains("put back from a backup of \(Self.backup)"),
                "\(gap.diagnostic)")
            #expect(try !mayBegin(run))
        }
        // Its figures are right, but a retry of it may be unknown.
        let finished = try RunFile(path: copy.path + "/\(Self.id("finished")).sqlite")
        #expect(LedgerGap(of: finished) == nil)
        #expect(LedgerGap.restored(finished)?.message.contains("whether it has been retried since then") ?? false)
        // The folder that it was copied from is not concerned.
        #expect(LedgerGap(of: try RunFile(path: folder.path + "/\(Self.id("stopped")).sqlite")) == nil)
        #expect(try mayBegin(RunFile(path: folder.path + "/\(Self.id("planned")).sqlite")))
    }

    @Test("where nothing was sent after the backup, runs go on; what was being sent then is held all the same")
    func last() throws {
        let (copy, state) = try putBack(makeFolder(), nothingSentSince: true)
        #expect(state.held.isEmpty)
        for id in ["planned", "stopped", "cancelled", "finished"].map(Self.id) {
            let run = try RunFile(path: "\(copy.path)/\(id).sqlite")
            #expect(LedgerGap(of: run) == nil && LedgerGap.restored(run) == nil)
            #expect(try mayBegin(run))
        }
        let sending = try putBack(
            makeFolder(), sending: [Self.id("stopped"), Self.id("finished")], nothingSentSince: true)
        #expect(sending.state.held == [Self.id("stopped")])
        #expect(try !mayBegin(RunFile(path: sending.folder.path + "/\(Self.id("stopped")).sqlite")))
    }

    @Test("a run that is being sent is copied without its last part, and says that it is not known what was sent")
    func beingSent() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, id: runID, audience: 20)
        let marks = try begin(run)
        try run.append(.claimed(0..<8, at: noon))
        try marks.note(8)
        let inventory = try RunsInventory(folder.path)
        #expect(inventory.entries.map(\.kind) == [.mark, .run, .history])
        let (copy, state) = try putBack(folder)
        try run.append(.claimed(8..<20, at: noon))
        try marks.note(20)
        #expect(state.held == [runID] && !copy.names.contains("\(runID).sqlite.claimed"), "\(copy.names)")
        let restored = try RunFile(path: copy.path + "/\(runID).sqlite")
        #expect(try restored.claims().made == 8)
        #expect(LedgerGap(of: restored)?.isKnown == false)
        #expect(try !mayBegin(restored))
    }

    @Test("a record that knows of a later epoch than the file keeps that: an older file still is certainly too old")
    func laterEpoch() throws {
        let folder = try makeFolder()
        let file = folder.path + "/\(Self.id("stopped")).sqlite", old = folder.path + "/old"
        #expect(shell("cp '\(file)' '\(old)'").isEmpty)
        let run = try RunFile(path: file)
        let marks = try begin(run)
        marks.close()
        run.close()
        #expect(shell("mv '\(old)' '\(file)'").isEmpty)
        let (copy, _) = try putBack(folder, sending: [Self.id("stopped")])
        #expect(try LedgerGap(of: RunFile(path: copy.path + "/\(Self.id("stopped")).sqlite"))?.isKnown == true)
    }

    @Test("times that were open are closed, with the reason, and times up to the restoring are not to fire")
    func times() throws {
        let folder = try makeFolder()
        let store = try ScheduleStore(folder: folder.path)
        func time(_ occurrence: String, _ state: ScheduledRun.State, run: String?) -> ScheduledRun {
            ScheduledRun(
                key: .init(campaign: "a", occurrence: "2026-12-0\(occurrence)T09:00"), file: "/a.yaml",
                run: run.map(Self.id), state: state,
                begins: noon, ends: noon,
                changedAt: noon)
        }
        try store.save(
            [
                time("1", .planning, run: "not-there"), time("2", .waiting, run: "planned"),
                time("3", .sending, run: "stopped"),
                time("4", .finished, run: "finished"),
            ], [])
        #expect(try store.restoredAt() == nil)
        store.close()
        let (copy, _) = try putBack(folder)
        let restored = try ScheduleStore(folder: copy.path)
        let runs = try restored.scheduledRuns(since: Timestamp(epochSeconds: 0))
        let states = Dictionary(uniqueKeysWithValues: runs.map { ($0.key.occurrence.dropFirst(9).prefix(1), $0.state) })
        #expect(states == ["1": .skipped, "2": .skipped, "3": .stopped, "4": .finished])
        #expect(runs.filter { $0.problem == .restored }.count == 3)
        #expect(try restored.restoredAt() == Self.restored)
        restored.close()
    }

    @Test("orders that waited lapse, and orders that a sender had taken are left")
    func orders() throws {
        let folder = try TemporaryFolder()
        let store = try OrderStore(folder: folder.path)
        let asked = OrderMoment(time: noon, uptime: Uptime(start: "s", milliseconds: 1_000_000))
        for nonce in ["waits", "taken"] {
            _ = try store.place(Order(nonce: nonce, kind: .send(run: runID, digest: "d"), by: "anna", at: asked))
        }
        #expect(try store.take("taken", epoch: "l", at: noon))
        store.close()
        let (copy, state) = try putBack(folder)
        #expect(state.lapsedOrders == 2)
        let restored = try OrderStore(folder: copy.path)
        #expect(try restored.order("waits")?.state == .lapsed)
        #expect(try restored.order("taken")?.state == .left(.unknown(run: nil, "")))
        restored.close()
    }

    @Test("a run that was damaged before does not keep the others from being put back", .enabled(if: hasSQLiteTool))
    func damaged() throws {
        let folder = try makeFolder()
        #expect(query(folder.path + "/\(Self.id("finished")).sqlite", "DROP TABLE claim; DELETE FROM run").isEmpty)
        let (copy, state) = try putBack(folder)
        // It may be readable another time, and is also held.
        #expect(
            state.held.sorted() == ["cancelled", "finished", "planned", "stopped"].map(Self.id)
                && copy.names.contains("\(Self.id("finished")).sqlite"))
    }

    @Test(
        "a run or a list of a newer version is refused", .enabled(if: hasSQLiteTool),
        arguments: ["20261201-090000-planned-7f3a.sqlite", "suppressed-x.sqlite"])
    func newer(name: String) throws {
        let folder = try makeFolder()
        #expect(shell("cp '\(folder.path)/\(Self.id("planned")).sqlite' '\(folder.path)/suppressed-x.sqlite'").isEmpty)
        #expect(query(folder.path + "/suppressed-x.sqlite", "PRAGMA application_id = \(0x5673_7570)").isEmpty)
        if name != "suppressed-x.sqlite" { _ = shell("rm '\(folder.path)/suppressed-x.sqlite'") }
        #expect(query(folder.path + "/" + name, "PRAGMA user_version = 99").isEmpty)
        let found = diagnostic { _ = try putBack(folder) }
        #expect(found?.message.contains("newer Volley") == true, "\(String(describing: found))")
    }
}
