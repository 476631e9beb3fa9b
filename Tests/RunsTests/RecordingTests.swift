import Base
@testable import Runs
import Testing

/// Values that are bound directly to SQLite come back unchanged.
@Suite struct RecordingTests {
    private func outcomes(_ run: RunFile) throws -> [Settlement?] {
        var found: [Settlement?] = []
        try run.forEachResult { _, _, outcome, _ in found.append(outcome) }
        return found
    }

    @Test("every part of a settlement comes back, and nothing of the one before it")
    func roundTrip() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 6)
        try run.append(.claimed(0..<6, at: noon))
        let gone = Timestamp(epochMilliseconds: 1_700_000_000_123)
        let settlements = [
            Settlement(
                recipient: 0, outcome: .invalidToken, status: 410, reason: "Unregistered", attempts: 2,
                latencyMilliseconds: 77,
                settledAt: noon.adding(seconds: 0.123), invalidSince: gone),
            settled(1),
            settled(
                2, .failed, status: 503, reason: String(repeating: "weiß ", count: 200), attempts: 9, latency: 123_456),
            settled(3, .rejected, status: 400, reason: "é"), settled(4),
            Settlement(
                recipient: 5, outcome: .invalidToken, status: 410, reason: "", settledAt: noon, invalidSince: gone),
        ]
        try run.append(.settled([settlements]))
        #expect(try outcomes(run) == settlements)
    }

    @Test("settlements may come in any order over many claims", arguments: 0..<5 as Range<UInt64>)
    func anyOrder(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 300)
        for start in stride(from: 0, to: 300, by: 30) { try run.append(.claimed(start..<start + 30, at: noon)) }
        let settlements = (0..<300).map { settled($0, reason: "r\($0)", latency: $0) }
        let shuffled = settlements.shuffled(using: &random)
        try run.append(.settled([Array(shuffled[..<120])]))
        try run.append(.settled([Array(shuffled[120...])]))
        #expect(try outcomes(run) == settlements)
    }

    @Test("blocks of outcomes have no seams", arguments: [1, 249, 250, 251, 499, 500, 501, 1001])
    func blocks(audience: Int) throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: audience)
        try run.append(.claimed(0..<audience, at: noon))
        let settlements = (0..<audience).map {
            settled($0, $0 % 3 == 0 ? .failed : .accepted, reason: "r\($0 % 7)", latency: $0)
        }
        try run.append(.settled([settlements.filter { $0.recipient % 2 == 0 }]))
        #expect(try run.claimedWithoutOutcome().map(\.lowerBound) == Array(stride(from: 1, to: audience, by: 2)))
        try run.append(.settled([settlements.filter { $0.recipient % 2 == 1 }]))
        #expect(try run.claimedWithoutOutcome().isEmpty)
        #expect(try outcomes(run) == settlements)
    }

    @Test("a reason of its own for every push: those that are one too many share one")
    func manyReasons() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 66_000)
        try run.append(.claimed(0..<66_000, at: noon))
        try run.append(.settled([(0..<66_000).map { settled($0, .rejected, status: 400, reason: "reason \($0)") }]))
        let reasons = try run.figures().reasons
        #expect(reasons.count == 65_535)
        #expect(reasons["reason 65533"] == 1)
        #expect(reasons["reason 65534"] == nil)
        #expect(reasons["OtherReason"] == 466)
    }

    @Test("of one recipient's settlements in a group, a later one replaces unsent and nothing else")
    func orderWithinGroup() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 4)
        try run.append(.claimed(0..<4, at: noon))
        let unsent = settled(1, .unsent, status: 0, reason: "Stopped", attempts: 0, latency: 0)
        try run.append(.settled([[settled(3), unsent, settled(0), settled(1)]]))
        #expect(try outcomes(run)[1] == settled(1))
        #expect(
            diagnostic { try run.append(.settled([[settled(2), settled(2)]])) }?.message.contains(
                "recipient 2 was settled twice") == true)
        let late = settled(2, .unsent, status: 0, reason: "Stopped", attempts: 0, latency: 0)
        #expect(
            diagnostic { try run.append(.settled([[settled(2), late]])) }?.message.contains("settled twice") == true)
        #expect(try outcomes(run)[2] == nil)
    }

    @Test(
        "in a group of any size each settlement is recorded, a repeated one is named",
        arguments: [1, 19, 20, 21, 40, 41, 59, 60])
    func groupSizes(size: Int) throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 70)
        try run.append(.claimed(0..<70, at: noon))
        try run.append(.settled([[settled(0)]]))
        let group = (1...size).map {
            settled($0, .failed, status: 503, reason: $0 % 3 == 0 ? "" : "reason \($0)", latency: $0)
        }
        let again = [size / 2, 0, size].map { settled($0, .rejected, status: 400) }
        for repeated in again {
            // The recipient is already in the group, or was recorded before.
            #expect(
                diagnostic { try run.append(.settled([(group + [repeated]).reversed()])) }?.message
                    .contains("recipient \(repeated.recipient) was settled twice") == true)
        }
        #expect(try outcomes(run).dropFirst().allSatisfy { $0 == nil })
        // Unsent is replaced within the group, wherever it is.
        let unsent = (1...size).map { settled($0, .unsent, status: 0, reason: "Stopped", attempts: 0, latency: 0) }
        try run.append(.settled([unsent + group]))
        #expect(try outcomes(run)[1...size].map { $0 } == group)
    }

    @Test("after a group that was refused, the next one is recorded")
    func afterRefusal() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        try run.append(.claimed(0..<5, at: noon))
        for group in [
            [settled(0), settled(7)], [settled(0), settled(0)], [settled(0), settled(10)], [settled(-1), settled(0)],
        ] {
            #expect(diagnostic { try run.append(.settled([group])) } != nil)
            #expect(try outcomes(run).allSatisfy { $0 == nil })
        }
        try run.append(.settled([[settled(0)]]))
        #expect(try outcomes(run)[0] == settled(0))
    }

    @Test("a gap between claims is no claim, whichever claim was looked at before")
    func gapBetweenClaims() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 30)
        try run.append(.claimed(0..<10, at: noon))
        try run.append(.claimed(20..<30, at: noon))
        for id in [10, 15, 19] {
            #expect(
                diagnostic { try run.append(.settled([[settled(9), settled(20), settled(id)]])) }?.message.contains(
                    "recipient \(id) is accepted but was never") == true)
        }
        try run.append(.settled([[settled(29), settled(20), settled(9), settled(0)]]))
        #expect(try run.figures().outcomes[.accepted] == 4)
    }

    @Test(
        "a claim that is no range of recipients is damage", .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"),
        arguments: [9_223_372_036_854_775_807, -5, 10])
    func damagedClaim(last: Int) throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        try run.append(.claimed(0..<5, at: noon))
        try run.closeIntoOneFile()
        _ = query(run.path, "UPDATE claim SET last_id = \(last)")
        #expect(
            diagnostic { try run.append(.settled([[settled(3)]])) }?.message.hasPrefix("the run file is damaged")
                == true)
        #expect(
            diagnostic { try run.append(.claimed(5..<10, at: noon)) }?.message.hasPrefix("the run file is damaged")
                == true)
    }
}
