import Base
import Campaigns
import Delivery
import Foundation
import Runs
import Testing

@testable import VolleyKit

@Suite("runs that have taken the place of another one of their campaign")
struct SupersedingRunsTests {
    private struct Found: Hashable {
        var runs: [String] = []
        var reached = 0, toCome = 0
        var unknown: [String] = []
    }

    private func found(_ run: RunStore, _ folder: PlannedFolder, _ settings: RunSettings? = nil) throws -> Found {
        guard let found = try SupersedingRuns(of: run, settings ?? folder.settings) else { return Found() }
        return Found(runs: found.runs.map(\.plan.id), reached: found.reached, toCome: found.toCome, unknown: found.unknown.map(\.id))
    }

    /// Sends a run to its first devices, and ends it.
    private func send(_ run: RunStore, to count: Int, from start: Timestamp = .now(), to end: Timestamp = .now()) throws {
        let record = SendingRecord(beside: run)
        let life = SendingRecord.life(after: try run.life())
        try run.lockForSending()
        _ = try record.begin(run, as: life, seen: run.life(), reached: run.reached(), claimed: run.claimCount(), for: nil, at: start)
        try run.begin(life: life, at: start, from: [.planned])
        #expect(try record.confirm(run))
        try run.claim(0..<count, at: start)
        try run.record(
            (0..<count).map { Settlement(recipient: $0, outcome: .accepted, status: 200, reason: "", attempts: 1, settledAt: end) })
        try run.setState(count == run.plan.audience ? .finished : .stopped, reason: "", at: end)
        try record.end(run)
        run.unlock()
    }

    private static let first = "20261101-090000-c-b000", second = "20261101-090000-c-a000"

    @Test("of two plans that are about to be sent only the one whose lock was taken later gives way")
    func sameMoment() throws {
        let folder = try PlannedFolder()
        let first = try folder.plan(Self.first), second = try folder.plan(Self.second)
        try first.lockForSending()
        #expect(try found(second, folder) == Found(runs: [Self.first], toCome: 10))
        try second.lockForSending()
        #expect(try found(first, folder) == Found())
        #expect(try found(second, folder) == Found(runs: [Self.first], toCome: 10))
        try folder.begin(second)
        #expect(try found(first, folder) == Found(runs: [Self.second], toCome: 10))
        for run in [first, second] { run.close() }
    }

    @Test("who is recorded as unsent for a reason that passes is left, and who is recorded as unknown when those are sent to again")
    func unsent() throws {
        let folder = try PlannedFolder()
        let stopped = try folder.plan(Self.first)
        try folder.begin(stopped)
        try stopped.claim(0..<10, at: .now())
        try stopped.record(
            (0..<10).map {
                Settlement(
                    recipient: $0, outcome: $0 < 4 ? .unsent : .unknown, status: 0, reason: "Stopped", attempts: 0, settledAt: .now())
            })
        try stopped.setState(.stopped, reason: "", at: .now())
        stopped.close()
        let other = try folder.plan(Self.second)
        try send(other, to: 10)
        let again = try RunStore(path: stopped.path)
        #expect(try found(again, folder) == Found(runs: [Self.second], reached: 10))
        var settings = folder.settings
        settings.unknownPolicy = .skip
        #expect(try found(again, folder, settings) == Found(runs: [Self.second], reached: 4))
        for run in [again, other] { run.close() }
    }

    @Test("all that reached some of them count, and nobody is counted twice")
    func several() throws {
        let folder = try PlannedFolder()
        let plan = try folder.plan(Self.first)
        let others = try ["20261101-090000-c-0001", "20261101-090000-c-0002"].map { try folder.plan($0) }
        try send(others[0], to: 3)
        try send(others[1], to: 5)
        #expect(try found(plan, folder) == Found(runs: others.map(\.plan.id), reached: 5))
        for run in others + [plan] { run.close() }
    }

    @Test("a run that is paused and that no process sends counts with those whom it has reached", arguments: [0, 3])
    func paused(count: Int) throws {
        let folder = try PlannedFolder()
        let paused = try folder.plan(Self.first), plan = try folder.plan(Self.second)
        if count > 0 { try send(paused, to: count) }
        try paused.setState(.paused, reason: "", at: .now())
        #expect(try found(plan, folder) == (count > 0 ? Found(runs: [Self.first], reached: count) : Found()))
        for run in [paused, plan] { run.close() }
    }

    @Test("what another APNs was sent, a rehearsal for one, reached nobody")
    func rehearsal() throws {
        let folder = try PlannedFolder()
        let plan = try folder.plan(Self.first), other = try folder.plan(Self.second)
        try send(other, to: 10)
        var settings = folder.settings
        #expect(try found(plan, folder, settings) == Found(runs: [Self.second], reached: 10))
        settings.environment = .production
        #expect(try found(plan, folder, settings) == Found())
        for run in [plan, other] { run.close() }
    }

    @Test("the order of beginnings decides what came later, whatever the clock says")
    func clock() throws {
        let folder = try PlannedFolder()
        // The clock is set back by an hour between a plan and a run that is planned later, and begun.
        let plan = try folder.plan(Self.first, at: .now().adding(seconds: 3600)), later = try folder.plan(Self.second)
        var settings = folder.settings
        settings.place = try SendingRecord(beside: plan).order().last
        try send(later, to: 10)
        #expect(try found(plan, folder, settings) == Found(runs: [Self.second], reached: 10))
        // It was set back after a run had ended, which a plan that is made now knows of.
        let ahead = try folder.plan("20261101-090000-c-c000")
        try send(ahead, to: 10, from: .now().adding(seconds: 1800), to: .now().adding(seconds: 1900))
        let next = try folder.plan("20261101-090000-c-d000")
        settings.place = try SendingRecord(beside: plan).order().last
        #expect(try found(next, folder, settings) == Found())
        for run in [plan, later, ahead, next] { run.close() }
    }

    @Test("of a run that was begun since and whose file is gone or renamed nobody knows whom it reached; of one from before, nobody asks")
    func gone() throws {
        let folder = try PlannedFolder()
        let plan = try folder.plan(Self.first), other = try folder.plan(Self.second)
        try send(other, to: 10)
        other.close()
        try FileManager.default.moveItem(atPath: other.path, toPath: folder.path + "/elsewhere")
        var settings = folder.settings
        #expect(try found(plan, folder, settings) == Found(unknown: [Self.second]))
        settings.place = try SendingRecord(beside: plan).order().last
        #expect(try found(plan, folder, settings) == Found())
        plan.close()
    }
}
