import Base
import Delivery
import Foundation
import Runs
import Testing

@testable import Sending

@Suite("which runs are pruned")
struct PruneSelectionTests {
    private static let first = "20261101-090000-c-1000", second = "20261101-090001-c-2000"

    /// Why each run is kept.
    private func left(_ folder: PlannedFolder) throws -> [String: PruneSelection.PruneObstacle] {
        let runs = try RunsFolder(folder.path).list().runs
        let selection = try PruneSelection(runs, endedBefore: .now().adding(seconds: 3600), includesStopped: false)
        return Dictionary(uniqueKeysWithValues: selection.left.map { ($0.run.plan.id, $0.why) })
    }

    @Test("what was sent since a run that can be retried is left, as its retry asks whom that has reached")
    func retriable() throws {
        let folder = try PlannedFolder()
        let older = try folder.plan(Self.first)
        try folder.send(older, to: 10, last: .unknown)
        let newer = try folder.plan(Self.second, devices: 10..<13)
        try folder.send(newer, to: 3)
        #expect(try left(folder) == [Self.first: .retriable, Self.second: .neededBeside])
        for run in [older, newer] { run.close() }
    }

    @Test("a plan that was removed since it was listed ends nothing")
    func removed() throws {
        let folder = try PlannedFolder()
        let plans = try [Self.first, Self.second].map { try folder.plan($0) }
        let listed = try RunsFolder(folder.path).list().runs
        for plan in plans { plan.close() }
        try plans[0].remove()
        let selection = try PruneSelection(listed, endedBefore: .now().adding(seconds: 3600), includesStopped: false)
        #expect(selection.left.map(\.run.plan.id) == [Self.second])
    }

    @Test("what was sent before a run was planned is pruned, whatever the clock said then")
    func before() throws {
        let folder = try PlannedFolder()
        let sent = try folder.plan(Self.second, at: .now().adding(seconds: 1800))
        try folder.send(sent, to: 10)
        let plan = try folder.plan(Self.first)
        #expect(try left(folder) == [Self.first: .unsent])
        for run in [sent, plan] { run.close() }
    }

    @Test("a plan that was made before another was begun that had been planned earlier asks for that one", arguments: [true, false])
    func plannedEarlier(isBegun: Bool) throws {
        let folder = try PlannedFolder()
        let sent = try folder.plan(Self.first), plan = try folder.plan(Self.second, devices: 10..<13)
        if isBegun { try folder.send(sent, to: 10) }
        #expect(try left(folder) == [Self.first: isBegun ? .neededBeside : .unsent, Self.second: .unsent])
        for run in [sent, plan] { run.close() }
    }

    @Test(
        "what another app, another APNs or test devices were sent, no run of the campaign asks for",
        arguments: ["test", "app", "rehearsal"])
    func elsewhere(kind: String) throws {
        let folder = try PlannedFolder()
        let plan = try folder.plan(Self.first)
        var settings = folder.settings
        if kind == "rehearsal" { settings.firstService.environment = .production }
        let sent = try folder.plan(Self.second, app: kind == "app" ? "other" : "shop", isTest: kind == "test", settings)
        try folder.send(sent, to: 10, in: settings.listName)
        #expect(try left(folder) == [Self.first: .unsent])
        for run in [plan, sent] { run.close() }
    }
}
