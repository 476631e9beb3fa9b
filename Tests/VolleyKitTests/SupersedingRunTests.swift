import Base
import Runs
import Testing

@testable import VolleyKit

@Suite("a run that another one of its campaign takes the place of")
struct SupersedingRunTests {
    private func superseding(_ run: RunStore, _ folder: PlannedFolder) throws -> (id: String, shared: Int?)? {
        try SupersedingRun.first(of: run, folder.settings).map { ($0.run.plan.id, $0.shared) }
    }

    @Test("of two plans that are about to be sent only the one whose lock was taken later gives way")
    func sameMoment() throws {
        let folder = try PlannedFolder()
        let first = try folder.plan("20261101-090000-c-b000"), second = try folder.plan("20261101-090000-c-a000")
        try first.lockForSending()
        #expect(try #require(superseding(second, folder)) == (first.plan.id, 10))
        try second.lockForSending()
        #expect(try superseding(first, folder) == nil)
        #expect(try #require(superseding(second, folder)) == (first.plan.id, 10))
        try folder.begin(second)
        #expect(try #require(superseding(first, folder)) == (second.plan.id, 10))
        for run in [first, second] { run.close() }
    }

    @Test("what goes on after a plan of its campaign was locked counts with those whom it has reached")
    func goesOnAfterwards() throws {
        let folder = try PlannedFolder()
        let interrupted = try folder.plan("20261101-090000-c-b000"), plan = try folder.plan("20261101-090000-c-a000")
        try folder.begin(interrupted)
        try interrupted.claim(0..<3, at: .now())
        try interrupted.setState(.stopped, reason: "interrupted", at: .now())
        try plan.lockForSending()
        try interrupted.lockForSending()
        #expect(try #require(superseding(plan, folder)) == (interrupted.plan.id, 3))
        #expect(try #require(superseding(interrupted, folder)) == (plan.plan.id, 10))
        for run in [interrupted, plan] { run.close() }
    }
}
