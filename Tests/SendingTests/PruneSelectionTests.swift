import Base
import Campaigns
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
        let selection = try PruneSelection(
            runs, endedBefore: .now().adding(seconds: 3600), includesStopped: false, nil,
            at: .now().adding(seconds: 86_400))
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

    @Test(
        "a run stays as long as a cap counts its pushes, its own or that of volley.yaml, and while a new plan warns about its devices"
    )
    func counted() throws {
        let folder = try PlannedFolder()
        let sent = try folder.plan(Self.first), end = Timestamp.now()
        try folder.send(sent, to: 10, from: end, to: end)
        let project = folder.path + "/volley.yaml"
        let app = "topic: com.example.shop, environment: sandbox, key: {file: k.p8, id: ABC123DEFG, team: DEF123GHIJ}"
        try "apps: {shop: {\(app), frequency: at most 2 per 2 days}}".write(
            toFile: project, atomically: true, encoding: .utf8)
        func kept(_ hours: Double, isCapped: Bool = false, includesStopped: Bool = false) throws -> (
            PruneSelection.PruneObstacle, Double
        )? {
            let now = end.adding(seconds: hours * 3600)
            let selection = try PruneSelection(
                RunsFolder(folder.path).list().runs, endedBefore: now, includesStopped: includesStopped,
                isCapped ? Project.read(file: project).0 : nil, at: now)
            #expect(selection.left.count + selection.chosen.count == 1)
            return selection.left.first.map {
                ($0.why, Double(($0.until ?? end).epochSeconds - end.epochSeconds) / 3600)
            }
        }
        for includesStopped in [false, true] {
            // The run's own cap is of an hour.
            #expect(try kept(0.9, includesStopped: includesStopped).map { $0 == (.counted, 1) } == true)
            #expect(try kept(47, isCapped: true, includesStopped: includesStopped).map { $0 == (.counted, 48) } == true)
        }
        #expect(try kept(1.1).map { $0 == (.reachedLately, 12) } == true)
        #expect(try kept(1.1, includesStopped: true) == nil && kept(12.1) == nil && kept(48.1, isCapped: true) == nil)
        sent.close()
    }

    @Test("a run whose pages are damaged is left, also with --include-stopped", arguments: [true, false])
    func damaged(includesStopped: Bool) throws {
        let folder = try PlannedFolder()
        let run = try folder.plan(Self.first)
        try folder.send(run, to: 10)
        try run.closeIntoOneFile()
        let url = URL(fileURLWithPath: run.path)
        var bytes = [UInt8](try Data(contentsOf: url))
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        let page = try #require(bytes.firstRange(of: Array(PlannedFolder.token(3).utf8))?.lowerBound) / size * size
        for index in page..<page + size { bytes[index] = UInt8(truncatingIfNeeded: index * 167 + 14) }
        try Data(bytes).write(to: url)
        let runs = try RunsFolder(folder.path).list().runs
        // No cap counts its pushes any more.
        let later = Timestamp.now().adding(seconds: 40 * 86400)
        let selection = try PruneSelection(runs, endedBefore: later, includesStopped: includesStopped, nil, at: later)
        #expect(selection.chosen.isEmpty && selection.left.map(\.why) == [.damaged])
    }

    @Test("a run that took weeks is as old as its end")
    func long() throws {
        let folder = try PlannedFolder(), now = Timestamp.now()
        let run = try folder.plan(Self.first)
        try folder.send(run, to: 10, from: now.adding(seconds: -30 * 86_400), to: now)
        run.close()
        let runs = try RunsFolder(folder.path).list().runs
        let selection = try PruneSelection(
            runs, endedBefore: now.adding(seconds: -86_400), includesStopped: false, nil,
            at: now.adding(seconds: 3 * 86_400))
        #expect(selection.recent == 1)
    }

    @Test("a plan that was removed since it was listed ends nothing")
    func removed() throws {
        let folder = try PlannedFolder()
        let plans = try [Self.first, Self.second].map { try folder.plan($0) }
        let listed = try RunsFolder(folder.path).list().runs
        for plan in plans { plan.close() }
        try plans[0].remove()
        let selection = try PruneSelection(
            listed, endedBefore: .now().adding(seconds: 3600), includesStopped: false, nil,
            at: .now().adding(seconds: 86_400))
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

    @Test(
        "a plan that was made before another was begun that had been planned earlier asks for that one",
        arguments: [true, false])
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
