import Base
import LedgerConformance
import Runs
import TestServers
import TestSupport
import Testing

@testable import Cluster

/// A run that several machines send does what every ledger must do.
@Suite("runs in the store")
struct SharedLedgerTests {
    @Test(
        "a run in the store does what every ledger must do, also for workers that have only the store",
        arguments: LedgerConformance.behaviours)
    func conformance(behaviour: LedgerConformance.Behaviour) throws {
        let conformance = LedgerConformance { plan, recipients in
            let bench = try StoreBench(PostgresServer.shared.get())
            let folder = try TemporaryFolder()
            _ = try bench.store.publish(StoreBench.file(plan, recipients, in: folder.path))
            return { try bench.store.open(plan.id, in: RunsFolder(folder.path)) }
        }
        try conformance.check(behaviour)
    }
}
