import Base
import Runs
import Testing

@testable import volley_console

@Suite("What the console remembers")
struct ArchiveTests {
    private static let id = "20261201-090000-spring-sale-7f3a"

    @Test("runs are listed with their figures, newest first")
    func listing() throws {
        let folder = try TestFolder()
        try folder.run("20261201-090000-b-7f3a", campaign: "b", .planned)
        try folder.run("20261201-090000-c-7f3b", campaign: "c")
        let site = try folder.site()
        let runs = try site.archive.listing().runs
        #expect(runs.map(\.campaign) == ["c", "b"])
        #expect(runs.map(\.state) == [.finished, .planned])
        #expect(runs[0].count(.accepted) == 2)
        #expect(runs[0].count(.invalidToken) == 1)
        #expect(runs[0].settled == 3)
    }

    @Test("a run that was written to, removed or added since shows as it is")
    func changes() throws {
        let folder = try TestFolder()
        try folder.run(Self.id, .planned)
        let catalog = try folder.site().catalog
        let archive = RunArchive(catalog, timeToLive: .zero)
        #expect(try archive.listing().runs.map(\.state) == [.planned])
        let run = try catalog.open(Self.id, readOnly: false)
        try run.approve(RunApproval(name: "Anna", approvedAt: TestFolder.start))
        try run.closeIntoOneFile()
        #expect(try archive.listing().runs.map(\.isApproved) == [true])
        try folder.run("20261201-090000-c-7f3b", campaign: "c")
        #expect(try archive.listing().runs.map(\.campaign) == ["spring-sale", "c"])
        try catalog.open(Self.id, readOnly: false).remove()
        #expect(try archive.listing().runs.map(\.campaign) == ["c"])
    }

    @Test("equal stamps mean that nothing was written, and different ones that something was")
    func stamps() throws {
        let folder = try TestFolder()
        try folder.run(Self.id)
        let catalog = try folder.site().catalog
        let before = try catalog.stamps()
        #expect(Array(before.keys) == [Self.id])
        _ = try catalog.open(Self.id).figures(withGroups: true)
        #expect(try catalog.stamps() == before)
        let run = try catalog.open(Self.id, readOnly: false)
        try run.append(.state(.cancelled, at: TestFolder.start))
        #expect(try catalog.stamps() != before)
        try run.closeIntoOneFile()
        #expect(try catalog.stamps() != before)
    }

    @Test("a file that is no run is told of, and the others are listed")
    func broken() throws {
        let folder = try TestFolder()
        try folder.run(Self.id)
        try folder.write("runs/20261201-090000-c-7f3b.sqlite", "nonsense")
        let listing = try folder.site().archive.listing()
        #expect(listing.runs.map(\.id) == [Self.id])
        #expect(listing.broken.count == 1)
    }

    @Test("the rate is what was settled between two looks, over the time in between")
    func rate() throws {
        let folder = try TestFolder()
        let run = try folder.run(Self.id, .running)
        defer { run.close() }
        var summary = try #require(try folder.site().archive.summary(of: Self.id))
        #expect(summary.state == .running)
        let (rate, begin) = (LiveRate(), ContinuousClock.now)
        #expect(rate.perSecond(of: summary, at: begin) == nil)
        summary.outcomes?[.accepted] = 4
        summary.outcomes?[.unsent] = 0
        #expect(rate.perSecond(of: summary, at: begin + .seconds(2)) == 1)
        #expect(rate.perSecond(of: summary, at: begin + .seconds(3)) == 1)
        #expect(rate.perSecond(of: summary, at: begin + .seconds(20)) == 0)
        summary.state = .finished
        #expect(rate.perSecond(of: summary, at: begin + .seconds(21)) == nil)
    }
}
