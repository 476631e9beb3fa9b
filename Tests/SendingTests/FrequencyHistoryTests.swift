import Audience
import Base
import Campaigns
import Foundation
import Runs
import Testing

@testable import Workspace

@Suite("whom other runs pushed to when a run is sent")
struct FrequencyHistoryTests {
    private func settled(_ device: Int, _ outcome: Outcome, reason: String = "") -> Settlement {
        Settlement(
            recipient: device, outcome: outcome, status: outcome == .accepted ? 200 : 0, reason: reason, attempts: 1,
            settledAt: .now())
    }

    @Test("of two that go on, one comes first: also when it was stopped, and goes on after the other began")
    func order() throws {
        let folder = try PlannedFolder()
        let (first, second) = (try folder.plan("b"), try folder.plan("a"))
        #expect(try folder.capped(first) == nil)
        try folder.begin(first)
        try folder.begin(second)
        #expect(try folder.capped(first) == [])
        #expect(try folder.capped(second) == Array(0..<10))
        try first.append(.claimed(0..<2, at: .now()))
        try first.append(.settled([[settled(0, .accepted)]]))
        try second.append(
            .claimed(0..<10, unsent: (0..<8).map { settled($0, .unsent, reason: "FrequencyCap") }, at: .now()))
        try second.append(.settled([[settled(8, .accepted), settled(9, .accepted)]]))
        #expect(try folder.capped(first) == [8, 9])
        try first.append(.state(.stopped, at: .now()))
        first.close()
        // Pushes that it accepted, and those that it may have sent.
        #expect(try folder.capped(second) == [0, 1])
        let again = try RunFile(path: first.path)
        try folder.begin(again)
        #expect(try folder.capped(again) == [8, 9])
        #expect(try folder.capped(second) == [0, 1])
        for run in [again, second] { run.close() }
    }

    @Test(
        "whom a run leaves out for good waits for nothing of it; whom it has still to send to does, also while it is paused"
    )
    func leftOut() throws {
        let folder = try PlannedFolder()
        let (first, second) = (try folder.plan("a"), try folder.plan("b"))
        try folder.begin(first)
        try first.append(.claimed(0..<4, at: .now()))
        try first.append(
            .settled([
                [
                    settled(0, .unsent, reason: "FrequencyCap"), settled(1, .unsent, reason: "TooLate"),
                    settled(2, .unsent, reason: "Paused"),
                    settled(3, .invalidToken, reason: "Unregistered"),
                ]
            ]))
        try folder.begin(second)
        #expect(try folder.capped(second) == [2] + Array(4..<10))
        try first.append(.state(.paused, at: .now()))
        first.close()
        #expect(try folder.capped(second) == [2] + Array(4..<10))
        second.close()
    }

    @Test("a run that was killed counts, however long ago it claimed those whom it reached just now")
    func killed() throws {
        let folder = try PlannedFolder()
        let first = try folder.plan("a", at: .now().adding(seconds: -3000))
        try folder.begin(first)
        try first.append(.claimed(0..<10, at: .now().adding(seconds: -2000)))
        let second = try folder.plan("b", at: .now().adding(seconds: -100))
        try first.append(.settled([[settled(3, .accepted)]]))
        first.close()
        #expect(try folder.capped(second)?.contains(3) == true)
        second.close()
    }

    @Test("what was sent since it was planned counts, also when the clock was set back meanwhile")
    func clockSetBack() throws {
        let folder = try PlannedFolder()
        let plan = try folder.plan("20261101-090000-two-b000"), other = try folder.plan("20261101-090000-one-a000")
        try folder.send(other, to: 10, from: .now().adding(seconds: -1200), to: .now().adding(seconds: -1199))
        #expect(try folder.capped(plan) == Array(0..<10))
        for run in [plan, other] { run.close() }
    }

    @Test("what ended before it was planned was counted then")
    func before() throws {
        let folder = try PlannedFolder()
        let first = try folder.plan("a", at: .now().adding(seconds: -100))
        try folder.begin(first)
        try first.append(.claimed(0..<10, at: .now()))
        try first.append(.settled([(0..<10).map { settled($0, .accepted) }]))
        try first.append(.state(.finished, at: .now().adding(seconds: -50)))
        first.close()
        let (later, earlier) = (try folder.plan("b"), try folder.plan("c", at: .now().adding(seconds: -80)))
        #expect(try folder.capped(later) == nil)
        #expect(try folder.capped(earlier) == Array(0..<10))
        for run in [later, earlier] { run.close() }
    }
}

extension PlannedFolder {
    /// Devices of a run that may get no more.
    fileprivate func capped(_ run: RunFile) throws -> [Int]? {
        let history = FrequencyHistory(app: "shop", lists: ["sandbox"], caps: settings.frequencyCaps, now: .now())
        guard let capped = try history.cappedDevices(for: run, in: run.catalog) else { return nil }
        return (0..<10).filter { device in
            Array(PlannedFolder.token(device).utf8).withUnsafeBufferPointer { capped.contains(token: $0) }
        }
    }
}
