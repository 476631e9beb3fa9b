import Base
import Foundation
import Glibc
import LedgerConformance
@testable import Runs
import Testing

@Suite struct RunFileTests {
    @Test("a run goes from planned to running to its end, and back when resumed")
    func states() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 1)
        #expect(try run.status().end == RunStatus(state: .planned, cause: nil, startedAt: nil, finishedAt: nil))
        try run.append(.state(.running, at: noon))
        #expect(try run.status().end == RunStatus(state: .running, cause: nil, startedAt: noon, finishedAt: nil))
        try run.append(.state(.stopped, cause: .described("no key"), at: noon.adding(seconds: 5)))
        #expect(
            try run.status().end
                == RunStatus(
                    state: .stopped, cause: .described("no key"), startedAt: noon, finishedAt: noon.adding(seconds: 5)))
        try run.append(.state(.running, at: noon.adding(seconds: 9)))
        #expect(try run.status().end == RunStatus(state: .running, cause: nil, startedAt: noon, finishedAt: nil))
        try run.append(.state(.finished, at: noon.adding(seconds: 12)))
        #expect(
            try run.status().end
                == RunStatus(state: .finished, cause: nil, startedAt: noon, finishedAt: noon.adding(seconds: 12)))
    }

    @Test("claims move the first unclaimed id, a gap holds it back")
    func claims() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 100)
        #expect(try run.claims().claimed.isEmpty)
        try run.append(.claimed(0..<10, at: noon))
        try run.append(.claimed(20..<30, at: noon))
        #expect(try run.claims().claimed == ClaimSet([0..<10, 20..<30]))
        try run.append(.claimed(10..<20, at: noon))
        #expect(try run.claims().claimed == ClaimSet([0..<30]))
        try run.append(.claimed(30..<100, at: noon))
        try run.append(.claimed(5..<5, at: noon))
        #expect(try run.claims().claimed == ClaimSet([0..<100]))
    }

    @Test(
        "a claim that overlaps an earlier one is refused whole",
        arguments: [10..<20, 15..<16, 5..<11, 19..<40, 0..<100, 8..<25])
    func overlap(range: Range<Int>) throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 100)
        try run.append(.claimed(10..<20, at: noon))
        try run.append(.claimed(50..<60, at: noon))
        #expect(diagnostic { try run.append(.claimed(range, at: noon)) }?.message.contains("claimed already") == true)
        #expect(try run.claimedWithoutOutcome() == [10..<20, 50..<60])
    }

    @Test("neighbours of a claim can be claimed, recipients that are not there cannot")
    func claimBounds() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 30)
        try run.append(.claimed(10..<20, at: noon))
        try run.append(.claimed(0..<10, at: noon))
        try run.append(.claimed(20..<30, at: noon))
        #expect(diagnostic { try run.append(.claimed(30..<31, at: noon)) } != nil)
        #expect(diagnostic { try run.append(.claimed(-1..<0, at: noon)) } != nil)
    }

    @Test("a recipient settles once, and the group that tries again is not recorded")
    func settlesOnce() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        try run.append(.claimed(0..<10, at: noon))
        try run.append(.settled([[settled(0), settled(1)]]))
        #expect(
            diagnostic { try run.append(.settled([[settled(2), settled(1, .failed, status: 503)]])) }?.message.contains(
                "recipient 1 was settled twice")
                == true)
        #expect(try run.claimedWithoutOutcome() == [2..<10])
        #expect(try run.figures().outcomes[.accepted] == 2)
    }

    @Test("unsent may be replaced, by anything")
    func unsentIsReplaced() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 3)
        try run.append(.claimed(0..<3, at: noon))
        try run.append(
            .settled([(0..<3).map { settled($0, .unsent, status: 0, reason: "Stopped", attempts: 0, latency: 0) }]))
        try run.append(
            .settled([[settled(0), settled(1, .unsent, status: 0, reason: "Expired", attempts: 0, latency: 0)]]))
        let figures = try run.figures()
        #expect(
            figures.outcomes == [.accepted: 1, .invalidToken: 0, .rejected: 0, .failed: 0, .unknown: 0, .unsent: 2])
        #expect(figures.reasons == ["Expired": 1, "Stopped": 1])
    }

    @Test("an outcome needs a claim, unless it is unsent")
    func outcomeNeedsClaim() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        try run.append(.claimed(0..<5, at: noon))
        #expect(
            diagnostic { try run.append(.settled([[settled(4), settled(5)]])) }?.message.contains("never claimed")
                == true)
        #expect(diagnostic { try run.append(.settled([[settled(10)]])) }?.message.contains("of 10") == true)
        try run.append(.settled([[settled(9, .unsent, status: 0, attempts: 0)]]))
        #expect(try run.figures().outcomes[.unsent] == 5)
        #expect(try run.figures().outcomes[.unknown] == 5)
    }

    @Test("claimed without an outcome is unknown, unclaimed is unsent")
    func missingOutcomes() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        try run.append(.claimed(0..<4, at: noon))
        try run.append(.settled([[settled(1)]]))
        #expect(
            try run.figures().outcomes == [
                .accepted: 1, .invalidToken: 0, .rejected: 0, .failed: 0, .unknown: 3, .unsent: 6,
            ])
        #expect(try run.claimedWithoutOutcome() == [0..<1, 2..<4])
        var seen: [String] = []
        try run.forEachResult { id, recipient, outcome, isClaimed in
            #expect(recipient.token.text == token(id))
            seen.append(outcome?.outcome.name ?? (isClaimed ? "claimed" : "free"))
        }
        #expect(seen == ["claimed", "accepted", "claimed", "claimed"] + [String](repeating: "free", count: 6))
    }

    @Test("unsettled ranges are the claimed ids without outcome", arguments: 0..<20)
    func unsettledProperty(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 60)
        var claimed: Set<Int> = []
        var at = 0
        while at < 60 {
            let end = min(60, at + Int.random(in: 1...9, using: &random))
            if Bool.random(using: &random) {
                try run.append(.claimed(at..<end, at: noon))
                claimed.formUnion(at..<end)
            }
            at = end
        }
        let answered = claimed.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
        try run.append(.settled([answered.shuffled(using: &random).map { settled($0) }]))
        try run.append(
            .settled([Set(0..<60).subtracting(claimed).prefix(4).map { settled($0, .unsent, status: 0, attempts: 0) }]))
        let ranges = try run.claimedWithoutOutcome()
        #expect(Set(ranges.joined()) == claimed.subtracting(answered))
        #expect(ranges.allSatisfy { !$0.isEmpty })
        #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
        let figures = try run.figures()
        #expect(figures.outcomes.values.reduce(0, +) == 60)
        #expect(figures.outcomes[.unknown] == claimed.count - answered.count)
        #expect(figures.outcomes[.unsent] == 60 - claimed.count)
        #expect(try run.claims().claimed == ClaimSet(claimed.map { $0..<$0 + 1 }))
    }

    @Test("figures are kept at the end and counted anew after any change")
    func keptFigures() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        try run.append(.state(.running, at: noon))
        try run.append(.claimed(0..<5, at: noon))
        try run.append(
            .settled([
                [settled(0), settled(1, .failed, status: 503, reason: "ServiceUnavailable", attempts: 4, latency: 9)]
            ]))
        let counted = try run.figures(withGroups: true)
        try run.append(.state(.stopped, cause: .described("x"), at: noon))
        #expect(try run.figures() == counted)
        try run.append(.claimed(5..<10, at: noon))
        #expect(try run.figures().outcomes[.unknown] == 8)
        try run.append(.state(.stopped, cause: .described("x"), at: noon))
        try run.append(.settled([[settled(9)]]))
        #expect(try run.figures().outcomes[.accepted] == 2)
    }

    @Test("percentiles are by nearest rank over answers, the peak by the clock second in which pushes were sent")
    func percentilesAndPeak() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 205)
        try run.append(.claimed(0..<205, at: noon))
        // Latencies 1…100 in disorder; sent in two seconds, of which the second is busier.
        let latencies = (1...100).map { $0 * 37 % 101 }
        try run.append(
            .settled([
                latencies.enumerated().map { id, latency in
                    settled(
                        id, latency: latency,
                        at: Timestamp(
                            epochMilliseconds: noon.epochMilliseconds + (id < 30 ? 999 : 1000) + Int64(latency))
                    )
                }
            ]))
        // No answers: lost, or never sent.
        try run.append(
            .settled([(100..<200).map { settled($0, .unsent, status: 0, reason: "Expired", attempts: 0, latency: 0) }]))
        try run.append(
            .settled([
                (200..<205).map { settled($0, .unknown, status: 0, reason: "ConnectionLost", attempts: 2, latency: 0) }
            ]))
        let figures = try run.figures()
        #expect(figures.latency == LatencyFigures(p50: 50, p90: 90, p99: 99, max: 100))
        #expect(figures.peakPerSecond == 70)
        #expect(figures.attempts == 110)
        #expect(figures.attempted == 105)
        #expect(figures.reasons == ["Expired": 100, "ConnectionLost": 5])
    }

    @Test("a single answer is every percentile, and no answer is none")
    func fewAnswers() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 2)
        #expect(try run.figures().latency == nil)
        try run.append(.claimed(0..<2, at: noon))
        try run.append(.settled([[settled(0, latency: 7)]]))
        #expect(try run.figures().latency == LatencyFigures(p50: 7, p90: 7, p99: 7, max: 7))
    }

    @Test("a rank between two answers is rounded up")
    func rankRoundsUp() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 7)
        try run.append(.claimed(0..<7, at: noon))
        try run.append(.settled([(0..<7).map { settled($0, latency: 10 * ($0 + 1)) }]))
        #expect(try run.figures().latency == LatencyFigures(p50: 40, p90: 70, p99: 70, max: 70))
    }

    @Test("devices that the frequency cap leaves out are not missed, and are no problem of the run")
    func missed() {
        var figures = RunFigures()
        (figures.outcomes, figures.reasons) = ([.accepted: 7, .unsent: 3], [OwnReason.frequencyCap.rawValue: 2])
        #expect(figures.missedPushes(of: 10) == MissedPushes(count: 1, audience: 10, expired: 0, tooLate: 0))
        figures.outcomes = [.accepted: 8, .unsent: 2]
        #expect(figures.problem(of: 10) == nil)
    }

    @Test("a run that was cut off may have reached devices at any later moment, one that ended only until its end")
    func mayHaveReached() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 2)
        #expect(try !run.mayHaveReached(since: noon))
        try run.append(.state(.running, at: noon))
        run.unlock()
        #expect(try run.mayHaveReached(since: noon.adding(seconds: 86_400)))
        try run.append(.state(.finished, at: noon.adding(seconds: 60)))
        #expect(try run.mayHaveReached(since: noon.adding(seconds: 60)))
        #expect(try !run.mayHaveReached(since: noon.adding(seconds: 61)))
    }

    @Test("a reader sees a consistent moment while another store writes")
    func concurrentReader() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 300)
        try run.append(.state(.running, at: noon))
        try run.append(.claimed(0..<100, at: noon))
        let reader = try RunFile(path: run.path, readOnly: true)
        var seen = 0
        try reader.forEachResult { id, _, outcome, isClaimed in
            if id % 50 == 0, id < 300 { try run.append(.settled([(id / 5..<id / 5 + 10).map { settled($0) }])) }
            if outcome != nil { seen += 1 }
            #expect(isClaimed == (id < 100))
        }
        #expect(seen == 0)
        #expect(try reader.figures().outcomes[.accepted] == 60)
        #expect(
            diagnostic { try reader.append(.claimed(100..<101, at: noon)) }?.message.contains("reading only") == true)
    }

    @Test("one store may be used from several threads")
    func threads() async throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 400)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<4 {
                group.addTask {
                    for start in stride(from: part * 100, to: part * 100 + 100, by: 20) {
                        try run.append(.claimed(start..<start + 20, at: noon))
                        #expect(try run.recipients(start..<start + 20).count == 20)
                        try run.append(.settled([(start..<start + 20).map { settled($0) }]))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try run.figures().outcomes[.accepted] == 400)
    }

    @Test(
        "a store that sends has all its files open: threads that read at once open no more, as the process might not be allowed to"
    )
    func opensNothingLater() async throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 2000)
        try run.append(.state(.running, at: noon))
        let open = try openDescriptors(under: folder.path)
        #expect(open > 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<20 { try run.forEachPush(in: 0..<2000) { _ in } }
                }
            }
            try await group.waitForAll()
        }
        #expect(try openDescriptors(under: folder.path) == open)
    }

    /// How many descriptors of this process belong to files of a folder.
    private func openDescriptors(under folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(folder)
                == true
        }.count
    }

    @Test("claims and outcomes survive a loss of power: every commit is synchronous")
    func synchronous() throws {
        let folder = try TemporaryFolder()
        #expect(try makeRun(folder, audience: 1).synchronousLevel == 2)
    }

    @Test("a run that settled down is one file again, also after it was read once more")
    func settlesDown() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        try run.append(.state(.running, at: noon))
        try run.append(.claimed(0..<10, at: noon))
        #expect(folder.names.contains("run.sqlite-wal"))
        try run.closeIntoOneFile()
        #expect(folder.names == ["run.sqlite"])
        #expect(try run.figures().outcomes[.unknown] == 10)
        #expect(folder.names == ["run.sqlite"])
    }

    @Test("a dropped store leaves one file")
    func dropped() throws {
        let folder = try TemporaryFolder()
        do {
            let run = try makeRun(folder, audience: 10)
            try run.append(.state(.running, at: noon))
        }
        #expect(folder.names == ["run.sqlite"])
        let status = try RunFile(path: folder.path + "/run.sqlite").status()
        #expect(status.state == .stopped, "nobody sends it any more")
        #expect(status.cause == .ledger(.processGone))
        #expect(status.finishedAt == nil)
    }

    @Test("what was recorded is there after a crash")
    func crash() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        try run.append(.claimed(0..<4, at: noon))
        try run.append(.settled([[settled(0)]]))
        // A copy of the files on the disk is what a crash leaves.
        let copy = try TemporaryFolder()
        _ = shell("cp '\(folder.path)'/run.sqlite* '\(copy.path)'/")
        let survivor = try RunFile(path: copy.path + "/run.sqlite")
        #expect(try survivor.figures().outcomes[.accepted] == 1)
        #expect(try survivor.claimedWithoutOutcome() == [1..<4])
        #expect(try survivor.claims().claimed == ClaimSet([0..<4]))
    }

    @Test("a run is sent by one store at a time")
    func oneSender() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        try run.append(.state(.running, at: noon))
        try run.append(.state(.running, at: noon))
        let other = try RunFile(path: run.path)
        #expect(
            diagnostic { try other.append(.state(.running, at: noon)) }?.message.contains(
                "another volley process is sending this run")
                == true)
        try run.closeIntoOneFile()
        try other.append(.state(.running, at: noon))
        try other.closeIntoOneFile()
        #expect(folder.names == ["run.sqlite"])
    }

    @Test("a plan that nobody wants can be removed, a run that began cannot")
    func remove() throws {
        let folder = try TemporaryFolder()
        let wanted = try makeRun(folder, id: "wanted", audience: 1)
        try wanted.append(.state(.running, at: noon))
        #expect(diagnostic { try wanted.remove() } != nil)
        try wanted.closeIntoOneFile()
        try makeRun(folder, id: "unwanted", audience: 1).remove()
        #expect(folder.names == ["wanted.sqlite"])
    }

    @Test("a run can be read in a folder that may not be written", .enabled(if: isRoot, "a read-only mount needs root"))
    func readOnlyFolder() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        try run.append(.state(.running, at: noon))
        try run.append(.claimed(0..<10, at: noon))
        try run.closeIntoOneFile()
        let mounted = shell(
            "mount --bind '\(folder.path)' '\(folder.path)' && mount -o remount,ro,bind '\(folder.path)' && echo yes")
        try #require(mounted == "yes\n", "cannot mount here")
        defer { _ = shell("umount -l '\(folder.path)'") }
        let reader = try RunFile(path: run.path, readOnly: true)
        #expect(try reader.figures().outcomes[.unknown] == 10)
        #expect(try reader.recipients(0..<10).count == 10)
        let writer = try RunFile(path: run.path)
        #expect(
            diagnostic { try writer.append(.state(.cancelled, at: noon)) }?.message == "you may not write the run file")
    }

    @Test(
        "a disk that fills up while sending says so and loses nothing",
        .enabled(if: isRoot, "mounting a small disk needs root"))
    func diskFullWhileSending() throws {
        let folder = try TemporaryFolder()
        let disk = folder.path + "/disk"
        let mounted = shell("mkdir '\(disk)' && mount -t tmpfs -o size=1m tmpfs '\(disk)' && echo yes")
        try #require(mounted == "yes\n", "cannot mount a small disk here")
        defer { _ = shell("umount -l '\(disk)'") }
        let writer = try RunWriter(folder: disk, id: "run")
        for number in 0..<2000 { try writer.put(recipient(number), at: number) }
        let run = try writer.finish(plan("run", audience: 2000))
        try run.append(.claimed(0..<2000, at: noon))
        try run.append(.settled([[settled(0)]]))
        _ = shell("head -c 2000000 /dev/zero > '\(disk)/filler'")
        let long = String(repeating: "x", count: 500)
        let problem = diagnostic {
            try run.append(.settled([(1..<2000).map { settled($0, .failed, status: 503, reason: long) }]))
        }
        #expect(problem?.message == "the disk is full under \(disk)")
        #expect(problem?.remedy?.contains("safe") == true)
        _ = shell("rm '\(disk)/filler'")
        try run.append(.settled([[settled(1)]]))
        #expect(try run.figures().outcomes[.accepted] == 2)
        try run.closeIntoOneFile()
    }
}
