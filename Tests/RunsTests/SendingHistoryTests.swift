import Base
import GRDB
import Glibc
import Synchronization
import Testing

@testable import Runs

/// What a record of what was sent says about the files next to it.
@Suite("the record of what was sent")
struct SendingHistoryTests {
    /// Begins an epoch of a run, as the gate does.
    private func begin(_ run: RunFile, _ record: SendingHistory, after former: String = "") throws -> ClaimCounter {
        let new = try NewEpoch(after: former, reached: run.reached(), claimed: run.claims().made, in: "sandbox")
        #expect(try record.begin(run.plan, new, at: noon) == .noted)
        let marks = try ClaimCounter(run, epoch: new.epoch, claimed: run.claims().made)
        try run.append(.epochBegan(new.epoch, at: noon, from: [.planned, .stopped]))
        #expect(try record.confirm(run.plan.id))
        return marks
    }

    private func copy(_ run: RunFile) -> [UInt8] {
        try? run.closeIntoOneFile()
        return readBytes(run.path)
    }

    @Test("who is taken back to be sent to again counts as one more claim: a file from before is an older one")
    func takenBack() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, id: runID, audience: 20)
        let record = run.catalog.history
        let marks = try begin(run, record)
        try run.append(.claimed(0..<12, at: noon))
        try marks.note(run.claims().made)
        try run.append(.settled([(0..<12).map { settled($0, .unsent, status: 0, attempts: 0) }]))
        #expect(try run.claims().made == 12)
        let before = copy(run)
        #expect(SendingHistory.gap(of: try RunFile(path: run.path)) == nil)
        // All are already claimed; only this count shows that they may have been pushed.
        try run.append(.reopened(Array(0..<7), resendsUnknown: false, at: .now()))
        try marks.note(run.claims().made)
        try run.append(.reopened(Array(7..<12), resendsUnknown: false, at: .now()))
        #expect(try run.claims().made == 24)
        let after = copy(run)
        run.close()
        writeBytes(before, run.path)
        #expect(SendingHistory.gap(of: try RunFile(path: run.path)) == .certain)
        writeBytes(after, run.path)
        #expect(SendingHistory.gap(of: try RunFile(path: run.path)) == nil)
        unlink(ClaimCounter.file(of: run.path))
        #expect(SendingHistory.gap(of: try RunFile(path: run.path)) == .possible)
    }

    @Test(
        "a run that gets older content in its place while it is sent does not finish, and its sender's end does not make that its own",
        arguments: [false, true])
    func olderContentWhileSent(alsoNextToIt: Bool) throws {
        let folder = try TemporaryFolder(), run = try makeRun(folder, id: runID, audience: 20)
        let new = NewEpoch(after: "", reached: 0, claimed: 0, in: "sandbox")
        #expect(try run.append(.epochNoted(new, at: noon)).beginning == .noted)
        try run.append(.epochBegan(new.epoch, at: noon, from: [.planned]))
        #expect(try run.append(.epochConfirmed(givenUp: [])).beginning == .noted)
        let counter = ClaimCounter.file(of: run.path), record = folder.path + "/sent.db"
        func claim(_ ids: Range<Int>) throws {
            try run.append(.claimed(ids, at: noon))
            try run.append(.claimsNoted(ids.upperBound))
            try run.append(.settled([ids.map { settled($0) }]))
        }
        try claim(0..<4)
        let older = (readBytes(counter), readBytes(record))
        try claim(4..<9)
        // The file stays, and what was recorded in it last is gone, as after `cat copy > file`.
        try run.write { try $0.execute(sql: "DELETE FROM claim WHERE first_id >= 4") }
        if alsoNextToIt {
            writeBytes(older.0, counter)
            writeBytes(older.1, record)
        }
        try claim(9..<20)
        #expect(
            diagnostic { try run.append(.finished(unless: { _ in nil }, at: noon)) }?.message.contains("has lost")
                == true)
        try run.append(.state(.stopped, cause: .interrupted, at: noon))
        try run.append(.epochEnded)
        run.close()
        #expect(SendingHistory.gap(of: try RunFile(path: run.path)) == .certain)
    }

    @Test(
        "what a damaged run file calls itself, or its epoch, does not get into the record, which stays readable for all others"
    )
    func names() throws {
        let folder = try TemporaryFolder(), record = SendingHistory(folder: folder.path)
        let run = try makeRun(folder, id: runID, audience: 2),
            odd = try makeRun(folder, id: "20261201-090000-sale-a27m", audience: 2)
        let new = NewEpoch(after: "1-x", reached: 0, claimed: 0, in: "sandbox")
        #expect(diagnostic { _ = try record.begin(run.plan, new, at: noon) }?.file == run.path)
        #expect(
            diagnostic {
                _ = try record.begin(odd.plan, NewEpoch(after: "", reached: 0, claimed: 0, in: "sandbox"), at: noon)
            }?.file
                == odd.path)
        #expect(throws: Diagnostic.self) { try record.noteCancelled(odd.plan.id, having: nil) }
        _ = try begin(run, record)
        #expect(try record.entries().begun.keys.sorted() == [runID])
    }

    @Test("an emptied record is damage, also where no run next to it was started, and nothing begins")
    func emptied() throws {
        let folder = try TemporaryFolder(), record = SendingHistory(folder: folder.path)
        let run = try makeRun(folder, id: runID, audience: 2)
        writeBytes([], record.path)
        let words = "the record of what was sent is damaged: it is empty"
        #expect(diagnostic { _ = try record.entries() }?.message == words)
        #expect(diagnostic { _ = try begin(run, record) }?.message == words)
        #expect(readBytes(record.path).isEmpty)
    }

    @Test("a record that cannot be read says nothing of any run, and that is no word that nothing is missing")
    func unreadable() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, id: runID, audience: 20)
        _ = try begin(run, run.catalog.history)
        run.close()
        writeBytes(Array(repeating: 7, count: 8192), folder.path + "/sent.db")
        let known = HistorySnapshot(of: RunsFolder(folder.path))
        guard case .unreadable(let why)? = known.gap(of: run) else {
            Issue.record("\(String(describing: known.gap(of: run)))")
            return
        }
        #expect(known.failure == why && SendingHistory.gap(of: run) == .unreadable(why))
    }

    @Test(
        "the claims of an epoch are in the record itself now and then, so that marks that were put back with the file do not hide what is missing"
    )
    func noted() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, id: runID, audience: 20)
        let record = run.catalog.history
        let marks = try begin(run, record)
        try run.append(.claimed(0..<5, at: noon))
        try marks.note(5)
        run.close()
        let (file, marked) = (readBytes(run.path), readBytes(ClaimCounter.file(of: run.path)))
        try run.append(.claimed(5..<9, at: noon))
        try marks.note(9)
        try record.note(claimed: 9, of: run.plan.id, in: run.status().epoch)
        #expect(SendingHistory.gap(of: run) == nil)
        run.close()
        writeBytes(file, run.path)
        writeBytes(marked, ClaimCounter.file(of: run.path))
        #expect(SendingHistory.gap(of: try RunFile(path: run.path)) == .certain)
    }

    @Test(
        "the end of an epoch that the record does not know any more is said to be damage; one that another epoch has followed is nobody's"
    )
    func replaced() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, id: runID, audience: 20)
        let record = run.catalog.history
        _ = try begin(run, record)
        try run.append(.state(.stopped, cause: .described("x"), at: noon))
        try run.append(.epochEnded)
        let older = readBytes(record.path)
        _ = try begin(run, record, after: run.status().epoch)
        let present = readBytes(record.path)
        writeBytes(older, record.path)
        #expect(
            diagnostic { try run.append(.epochEnded) }?.message.contains("that has just ended is no longer in it")
                == true)
        writeBytes(present, record.path)
        try run.append(.state(.stopped, cause: .described("x"), at: noon))
        try run.append(.epochEnded)
        let former = try RunFile(path: run.path)
        former.ownEpoch.withLock { $0 = "1-0" }
        try former.append(.epochEnded)
        #expect(try record.entry(of: run.plan.id)?.claimed == 0)
    }
}
