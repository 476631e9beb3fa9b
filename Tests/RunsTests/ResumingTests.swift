import Base
import GRDB
import Glibc
import Testing

@testable import Runs

@Suite("what is left of a run")
struct ResumingTests {
    /// 20 recipients, 0 to 11 claimed: 0 accepted, 1 unsent, 2 unknown, 3 failed, the rest without
    /// an outcome.
    private func brokenOff(_ folder: TemporaryFolder) throws -> RunFile {
        let run = try makeRun(folder, audience: 20)
        try run.append(.claimed(0..<8, at: noon))
        try run.append(.claimed(8..<12, at: noon))
        try run.append(
            .settled([
                [
                    settled(0), settled(1, .unsent, status: 0, attempts: 0),
                    settled(2, .unknown, status: 0, attempts: 3),
                    settled(3, .failed, status: 503, attempts: 6),
                ]
            ]))
        return run
    }

    private func open(_ run: RunFile, _ range: Range<Int>, resendsUnknown: Bool) throws -> [Int] {
        var ids: [Int] = []
        try run.forEachPush(in: range, PushSelection(unsettled: OpenOutcomes(resendsUnknown: resendsUnknown))) { push in
            ids.append(push.id)
            #expect(String(decoding: push.token, as: UTF8.self) == recipient(push.id).token.text)
        }
        return ids
    }

    @Test("who is settled stays so; unknown is open only when it is sent again", arguments: [true, false])
    func openRecipients(resendsUnknown: Bool) throws {
        let folder = try TemporaryFolder()
        let run = try brokenOff(folder)
        #expect(
            try open(run, 0..<12, resendsUnknown: resendsUnknown) == (resendsUnknown ? [1, 2] : [1]) + Array(4..<12))
        #expect(try open(run, 2..<5, resendsUnknown: resendsUnknown) == (resendsUnknown ? [2, 4] : [4]))
    }

    @Test("who is taken back is claimed and nothing else, and may be recorded anew")
    func takenBack() throws {
        let folder = try TemporaryFolder()
        let run = try brokenOff(folder)
        try run.append(.state(.stopped, cause: .described("x"), at: noon))
        #expect(try run.append(.reopened(Array(0..<2), resendsUnknown: true, at: .now())).attempts.isEmpty)
        #expect(try run.append(.reopened(Array(2..<12), resendsUnknown: true, at: .now())).attempts == [2: 3])
        #expect(try run.claimedWithoutOutcome() == [1..<3, 4..<12])
        #expect(try run.figures().outcomes[.unknown] == 10, "kept figures are not believed any more")
        try run.append(.settled([[settled(1), settled(2, attempts: 4)]]))
        #expect(diagnostic { try run.append(.settled([[settled(2)]])) }?.message.contains("settled twice") == true)
        #expect(try run.figures().outcomes[.accepted] == 3)
    }

    @Test("who was lost is recorded as unknown, once")
    func lost() throws {
        let folder = try TemporaryFolder()
        let run = try brokenOff(folder)
        #expect(try run.append(.lost(at: noon)).count == 8)
        #expect(try run.append(.lost(at: noon)).count == 0)
        let figures = try run.figures()
        #expect(
            figures.outcomes[.unknown] == 9 && figures.outcomes[.unsent] == 9 && figures.reasons["ProcessEnded"] == 8)
    }

    @Test("a sound file passes; one that lacks recipients or claims is damaged")
    func integrity() throws {
        let folder = try TemporaryFolder()
        let run = try brokenOff(folder)
        try run.checkIntegrity()
        try run.write { try $0.execute(sql: "DELETE FROM claim WHERE first_id = 0") }
        #expect(diagnostic { try run.checkIntegrity() }?.message.contains("a claim is missing") == true)
        try run.write { try $0.execute(sql: "UPDATE claim SET first_id = 0; DELETE FROM recipient WHERE id = 7") }
        #expect(
            diagnostic { try run.checkIntegrity() }?.message.contains("some of its 20 recipients are missing") == true)
    }

    @Test("another store asks the one that sends for a state, and nobody where none sends")
    func ask() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 2)
        let other = try RunFile(path: run.path)
        #expect(
            diagnostic { try other.append(.ordered(.pause, at: noon)) }?.message == "no process is sending this run")
        try run.append(.state(.running, at: noon))
        #expect(other.isBeingSent)
        try other.append(.ordered(.pause, at: noon))
        #expect(try run.status().state == .paused)
        #expect(
            diagnostic { try other.append(.ordered(.pause, at: noon)) }?.message.contains("the run is now paused")
                == true)
        try other.append(.ordered(.goOn, at: noon))
        #expect(try run.status().state == .running && run.status().finishedAt == nil)
        try run.append(.state(.finished, at: noon))
        try run.closeIntoOneFile()
        #expect(!other.isBeingSent)
    }

    @Test("a file that was removed or replaced is not in its place")
    func identity() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 2)
        // Open from here on, so that no other file gets its number.
        try run.append(.claimed(0..<1, at: noon))
        #expect(run.isInPlace)
        let bytes = readBytes(run.path)
        DatabaseFile.remove(run.path)
        #expect(!run.isInPlace)
        writeBytes(bytes, folder.path + "/other")
        rename(folder.path + "/other", run.path)
        #expect(!run.isInPlace)
    }
}
