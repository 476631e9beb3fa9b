import LedgerConformance
import Runs
import Testing

/// Run files, and runs in memory, do what every ledger must do.
@Suite("what every ledger must do")
struct LedgerConformanceTests {
    @Test("a run file", arguments: LedgerConformance.behaviours)
    func file(behaviour: LedgerConformance.Behaviour) throws {
        let conformance = LedgerConformance { plan, recipients in
            let folder = try TemporaryFolder()
            let writer = try RunWriter(folder: folder.path, id: plan.id)
            for (id, recipient) in recipients.enumerated() { try writer.put(recipient, at: id) }
            try writer.finish(plan).close()
            return { try RunFolder(folder.path).open(plan.id, readOnly: false) }
        }
        try conformance.check(behaviour)
    }

    @Test("a run in memory", arguments: LedgerConformance.behaviours)
    func memory(behaviour: LedgerConformance.Behaviour) throws {
        try LedgerConformance { MemoryRun($0, $1).open }.check(behaviour)
    }

    @Test("a ledger that does something wrong is noticed", arguments: MemoryRun.Fault.allCases)
    func faults(fault: MemoryRun.Fault) {
        let broken = LedgerConformance { MemoryRun($0, $1, fault: fault).open }
        let noticed = LedgerConformance.behaviours.filter { behaviour in
            do { try broken.check(behaviour) } catch { return true }
            return false
        }
        #expect(!noticed.isEmpty)
    }

    @Test("there are forty behaviours and more, each with a sentence of its own")
    func behaviours() {
        let names = LedgerConformance.behaviours.map(\.description)
        #expect(names.count >= 40 && Set(names).count == names.count)
    }
}
