import Base
import LedgerConformance
import Runs
import Testing

@Suite("Waves in run files")
struct WaveTests {
    /// Recipients with the number of their wave as the only cell, stored in this order.
    private func run(_ folder: TemporaryFolder, _ waves: [Int], dropping: [Int] = []) throws -> RunFile {
        let sorter = SegmentSorter(waves: 3) { Int($0.fields[2] - UInt8(ascii: "0")) }
        let writer = try RunWriter(folder: folder.path, id: "run", sorter: sorter)
        // A slot may come twice, with another wave.
        try writer.put(recipient(0, fields: ["2"]), at: 0)
        for (slot, wave) in waves.enumerated() { try writer.put(recipient(slot, fields: [String(wave)]), at: slot) }
        var dropped = BitSet()
        for slot in dropping { dropped.insert(slot) }
        try writer.drop(dropped, of: waves.count)
        let kept = waves.enumerated().filter { !dropping.contains($0.offset) }.map(\.element)
        var planned = plan("run", audience: kept.count)
        planned.fields = ["timezone"]
        for wave in 0..<3 {
            let first = planned.waves.last?.ids.upperBound ?? 0
            let count = kept.count { $0 == wave }
            guard count > 0 else { continue }
            planned.waves.append(
                RunWave(
                    ids: first..<first + count, zone: "Etc/GMT-\(wave)", due: noon.adding(seconds: Double(wave) * 3600))
            )
        }
        return try writer.finish(planned)
    }

    @Test("recipients come in the order of their waves, in each as they were found, and the dropped are gone")
    func order() throws {
        let folder = try TemporaryFolder()
        let run = try run(folder, [1, 0, 2, 1, 0, 0, 2], dropping: [4, 6])
        let tokens = try run.recipients(0..<5).map(\.token.text)
        #expect(tokens == [1, 5, 0, 3, 2].map(token))
        #expect(run.plan.waves.map(\.ids) == [0..<2, 2..<4, 4..<5])
        #expect(try RunFile(path: run.path).plan.waves == run.plan.waves)
        try run.checkUnchanged()
        try run.checkIntegrity()
        #expect(folder.names == ["run.sqlite"])
    }

    @Test("a run with waves that is pruned can be read, and keeps them")
    func pruned() throws {
        let folder = try TemporaryFolder()
        let run = try run(folder, [1, 0, 2])
        try run.append(.epochBegan("a1", at: noon, from: [.planned]))
        try run.append(.claimed(0..<3, at: noon))
        try run.append(.settled([(0..<3).map { settled($0, .accepted, status: 200) }]))
        try run.append(.state(.finished, at: noon))
        try run.closeIntoOneFile()
        try run.prune(at: noon)
        let pruned = try RunFile(path: run.path, readOnly: true)
        #expect(pruned.plan.waves == run.plan.waves && pruned.prunedAt == noon)
        #expect(try pruned.status().epoch == "a1")
        #expect(try pruned.status().state == .finished)
    }

    @Test("thousands of them, some renewed and dropped, are those that a sort would give")
    func many() throws {
        let folder = try TemporaryFolder()
        var random = Seeded(state: 7)
        let waves = (0..<25_000).map { _ in Int.random(in: 0..<3, using: &random) }
        let dropping = (0..<500).map { $0 * 41 }
        let run = try run(folder, waves, dropping: dropping)
        let expected = (0..<3).flatMap { wave in waves.indices.filter { waves[$0] == wave && !dropping.contains($0) } }
        #expect(try run.recipients(0..<run.plan.audience).map(\.token.text) == expected.map(token))
        try run.checkUnchanged()
    }

    @Test("a time that was changed afterwards is noticed", .enabled(if: hasSQLiteTool, "sqlite3 is not installed"))
    func digest() throws {
        for change in [
            "UPDATE wave SET due_at = due_at + 1 WHERE first_id = 0",
            "UPDATE wave SET zone = 'Etc/UTC' WHERE first_id = 0",
        ] {
            let folder = try TemporaryFolder()
            let run = try run(folder, [0, 1, 1])
            run.close()
            _ = query(run.path, change)
            #expect(
                diagnostic { try RunFile(path: run.path).checkUnchanged() }?.message.contains(
                    "changed after it was planned") == true)
        }
        let folder = try TemporaryFolder()
        let gap = try run(folder, [0, 1, 1])
        gap.close()
        _ = query(gap.path, "DELETE FROM wave WHERE first_id = 1")
        #expect(diagnostic { _ = try RunFile(path: gap.path) }?.message.contains("damaged") == true)
    }

    @Test("who gets nothing for a reason that stays leaves nothing to be done")
    func closed() throws {
        let folder = try TemporaryFolder()
        let run = try run(folder, [0, 0, 0])
        try run.append(.state(.running, at: noon))
        try run.append(.claimed(0..<3, unsent: [settled(1, .unsent, reason: "FrequencyCap")], at: noon))
        try run.append(.settled([[settled(0), settled(2)]]))
        #expect(try run.isSettled(0..<3, OpenOutcomes(resendsUnknown: true, closing: [.frequencyCap, .other])))
        #expect(try !run.isSettled(0..<3, OpenOutcomes(resendsUnknown: true)))
        #expect(try !run.isSettled(0..<3, OpenOutcomes(resendsUnknown: true, closing: [.other])))
    }

    @Test(
        "whoever is put off is unsent and can be claimed later, and nobody knows more from then on; too late is too late for good"
    )
    func puttingOff() throws {
        let folder = try TemporaryFolder()
        let run = try run(folder, [0, 0, 0, 1, 1, 2])
        try run.append(.state(.running, at: noon))
        try run.append(.claimed(0..<2, at: noon))
        try run.append(.settled([[settled(0)]]))
        // Recipient 1 is under way, so its result is unknown; 2 was never claimed.
        #expect(
            try run.append(.deferred(0..<3, .quietHours, isTooLate: false, at: noon.adding(seconds: 60))).count == 1)
        #expect(try run.claims().claimed == ClaimSet([0..<2]) && run.claims().last == noon)
        #expect(try run.figures().reasons == ["QuietHours": 1])
        #expect(try run.figures().outcomes.filter { $0.value > 0 } == [.accepted: 1, .unknown: 1, .unsent: 4])
        #expect(try !run.isSettled(0..<3, OpenOutcomes(resendsUnknown: false)))
        #expect(
            try run.append(.deferred(2..<3, .quietHours, isTooLate: false, at: noon.adding(seconds: 65))).count == 1)
        #expect(try run.figures().outcomes.filter { $0.value > 0 } == [.accepted: 1, .unknown: 1, .unsent: 4])
        try run.append(.claimed(2..<3, at: noon.adding(seconds: 70)))
        #expect(try run.claimedWithoutOutcome() == [1..<3])
        #expect(try run.figures().reasons.isEmpty)
        try run.append(.settled([[settled(1), settled(2)]]))
        #expect(try run.isSettled(0..<3, OpenOutcomes(resendsUnknown: true)))
        #expect(try run.append(.deferred(3..<5, .tooLate, isTooLate: true, at: noon.adding(seconds: 90))).count == 2)
        #expect(try run.claims().skippedWaves == [3])
        #expect(try run.claims().first(of: 3..<5) == noon.adding(seconds: 90))
        try run.append(.claimed(5..<6, at: noon))
        try run.append(.settled([[settled(5)]]))
        try run.checkIntegrity()
        #expect(try run.figures().outcomes.filter { $0.value > 0 } == [.accepted: 4, .unsent: 2])
    }
}
