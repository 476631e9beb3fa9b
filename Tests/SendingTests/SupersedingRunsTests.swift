import Base
import Campaigns
import Delivery
import Foundation
import Runs
import Testing

@testable import Sending

@Suite("runs that have taken the place of another one of their campaign")
struct SupersedingRunsTests {
    private struct Found: Hashable {
        var runs: [String] = []
        var reached = 0, toCome = 0
        var unknown: [String] = []
    }

    private func found(_ run: RunFile, _ folder: PlannedFolder, _ settings: RunSettings? = nil) throws -> Found {
        guard let found = try SupersedingRuns(of: run, settings ?? folder.settings) else { return Found() }
        return Found(
            runs: found.runs.map(\.plan.id), reached: found.reached, toCome: found.toCome,
            unknown: found.unknown.map(\.id))
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

    @Test(
        "who is recorded as unsent for a reason that passes is left, and who is recorded as unknown when those are sent to again"
    )
    func unsent() throws {
        let folder = try PlannedFolder()
        let stopped = try folder.plan(Self.first)
        try folder.begin(stopped)
        try stopped.append(.claimed(0..<10, at: .now()))
        try stopped.append(
            .settled([
                (0..<10).map {
                    Settlement(
                        recipient: $0, outcome: $0 < 4 ? .unsent : .unknown, status: 0, reason: "Stopped", attempts: 0,
                        settledAt: .now())
                }
            ]))
        try stopped.append(.state(.stopped, at: .now()))
        stopped.close()
        let other = try folder.plan(Self.second)
        try folder.send(other, to: 10)
        let again = try RunFile(path: stopped.path)
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
        try folder.send(others[0], to: 3)
        try folder.send(others[1], to: 5)
        #expect(try found(plan, folder) == Found(runs: others.map(\.plan.id), reached: 5))
        for run in others + [plan] { run.close() }
    }

    @Test("a run that is paused and that no process sends counts with those whom it has reached", arguments: [0, 3])
    func paused(count: Int) throws {
        let folder = try PlannedFolder()
        let paused = try folder.plan(Self.first), plan = try folder.plan(Self.second)
        if count > 0 { try folder.send(paused, to: count) }
        try paused.append(.state(.paused, at: .now()))
        #expect(try found(plan, folder) == (count > 0 ? Found(runs: [Self.first], reached: count) : Found()))
        for run in [paused, plan] { run.close() }
    }

    @Test("what another APNs was sent, a rehearsal for one, reached nobody")
    func rehearsal() throws {
        let folder = try PlannedFolder()
        let plan = try folder.plan(Self.first), other = try folder.plan(Self.second)
        try folder.send(other, to: 10)
        var settings = folder.settings
        #expect(try found(plan, folder, settings) == Found(runs: [Self.second], reached: 10))
        settings.firstService.environment = .production
        #expect(try found(plan, folder, settings) == Found())
        for run in [plan, other] { run.close() }
    }

    @Test("the order of beginnings decides what came later, whatever the clock says")
    func clock() throws {
        let folder = try PlannedFolder()
        // The clock is set back by an hour between a plan and a run that is planned and begun
        // later.
        let plan = try folder.plan(Self.first, at: .now().adding(seconds: 3600)), later = try folder.plan(Self.second)
        var settings = folder.settings
        settings.place = try plan.catalog.history.order().last
        try folder.send(later, to: 10)
        #expect(try found(plan, folder, settings) == Found(runs: [Self.second], reached: 10))
        // It was set back after the end of a run that a new plan takes into account.
        let ahead = try folder.plan("20261101-090000-c-c000")
        try folder.send(ahead, to: 10, from: .now().adding(seconds: 1800), to: .now().adding(seconds: 1900))
        let next = try folder.plan("20261101-090000-c-d000")
        settings.place = try plan.catalog.history.order().last
        #expect(try found(next, folder, settings) == Found())
        for run in [plan, later, ahead, next] { run.close() }
    }

    @Test(
        "of a run that was begun since and whose file is gone or renamed nobody knows whom it reached; of one from before, nobody asks"
    )
    func gone() throws {
        let folder = try PlannedFolder()
        let plan = try folder.plan(Self.first), other = try folder.plan(Self.second)
        try folder.send(other, to: 10)
        other.close()
        try FileManager.default.moveItem(atPath: other.path, toPath: folder.path + "/elsewhere")
        var settings = folder.settings
        #expect(try found(plan, folder, settings) == Found(unknown: [Self.second]))
        settings.place = try plan.catalog.history.order().last
        #expect(try found(plan, folder, settings) == Found())
        plan.close()
    }

    @Test(
        "a test, a run of another app or to another APNs reached nobody, also when its file is gone",
        arguments: ["test", "app", "rehearsal"])
    func goneElsewhere(kind: String) throws {
        let folder = try PlannedFolder()
        let plan = try folder.plan(Self.first)
        let other = try folder.plan(Self.second, app: kind == "app" ? "other" : "shop", isTest: kind == "test")
        try folder.send(other, to: 10, in: kind == "rehearsal" ? "localhost:2197" : "sandbox")
        other.close()
        try FileManager.default.removeItem(atPath: other.path)
        #expect(try found(plan, folder) == Found())
        plan.close()
    }

    @Test(
        "a run that the record does not know, as it was put back from a backup or removed, counts by its own file",
        arguments: [true, false])
    func recordPutBack(isRemoved: Bool) throws {
        let folder = try PlannedFolder()
        let earlier = try folder.plan("20261101-090000-c-9000")
        try folder.send(earlier, to: 10)
        let plan = try folder.plan(Self.first),
            backup = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/sent.db"))
        let later = try folder.plan(Self.second)
        try folder.send(later, to: 4)
        if isRemoved {
            try FileManager.default.removeItem(atPath: folder.path + "/sent.db")
        } else {
            try backup.write(to: URL(fileURLWithPath: folder.path + "/sent.db"))
        }
        let settings = try plan.plan.settings.get()
        #expect(try found(plan, folder, settings).runs.contains(Self.second))
        for run in [earlier, plan, later] { run.close() }
    }

    @Test("what a run was sent in an epoch that the record does not know, as it was put back, counts by the clock")
    func epochPutBack() throws {
        let folder = try PlannedFolder()
        let stopped = try folder.plan(Self.first)
        try folder.send(stopped, to: 4)
        let plan = try folder.plan(Self.second),
            backup = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/sent.db"))
        let settings = try plan.plan.settings.get()
        #expect(try found(plan, folder, settings) == Found())
        try folder.send(stopped, to: 10)
        try backup.write(to: URL(fileURLWithPath: folder.path + "/sent.db"))
        #expect(try found(plan, folder, settings) == Found(runs: [Self.first], reached: 6))
        for run in [stopped, plan] { run.close() }
    }

    @Test("where the clock was set back while a run that had been cut off went on, all that it has reached counts")
    func clockSetBackMeanwhile() throws {
        let folder = try PlannedFolder()
        let cut = try folder.plan(Self.first)
        try folder.send(cut, to: 4, isCutOff: true)
        let ahead = Timestamp.now().adding(seconds: 1800)
        let plan = try folder.plan(Self.second, at: ahead)
        let settings = try plan.plan.settings.get()
        #expect(try found(plan, folder, settings) == Found())
        try cut.append(.state(.stopped, at: .now()))
        try folder.send(cut, to: 10, from: ahead.adding(seconds: 1))
        #expect(try found(plan, folder, settings) == Found(runs: [Self.first], reached: 10))
        for run in [cut, plan] { run.close() }
    }

    @Test(
        "what it says beside what a campaign excludes, in whatever form that stands",
        arguments: [
            ("tags: [a]", "`exclude: {devices: LIST}`"),
            ("tags: [a]\n  \"exclude\": {tags: [b]}", "`devices: LIST` under `exclude`, in addition to what is there"),
            (
                "tags: [a]\n  exclude :\n    aliases: [b]",
                "`devices: LIST` under `exclude`, in addition to what is there"
            ),
            (
                "tags: [a]\n  exclude: {devices: 'my list.csv'}",
                "`devices: ['my list.csv', LIST]` under `exclude`, in place of the 'devices' there"
            ),
            (
                "tags: [a]\n  exclude:\n    devices:\n    - a.csv\n    - b.csv",
                "`devices: ['a.csv', 'b.csv', LIST]` under `exclude`, in place of"
            ),
        ])
    func excluded(audience: String, words: String) throws {
        let source = "name: c\napp: shop\naudience:\n  devices: devices.csv\n  \(audience)\ncontent: {body: Hi}\n"
        for source in [source, source.replacing("\n", with: "\r\n")] {
            let folder = try PlannedFolder()
            let plan = try folder.plan(Self.first, source: source), other = try folder.plan(Self.second)
            try folder.send(other, to: 3)
            let others = try #require(try SupersedingRuns(of: plan, folder.settings))
            let refusal = try RefusalText.isSuperseded(plan, folder.settings, others, isKept: false)
            let list = FilePaths.inYAML(FilePaths.absolute(folder.path) + "/reached-\(Self.second).csv")
            #expect(refusal.remedy?.contains(words.replacing("LIST", with: list)) ?? false, "\(refusal)")
            #expect(refusal.remedy?.contains("volley cancel") == false, "\(refusal)")
            for run in [plan, other] { run.close() }
        }
    }
}
