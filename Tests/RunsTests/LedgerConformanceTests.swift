import Base
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
            let services = plan.serviceCount
            let writer = try RunWriter(folder: folder.path, id: plan.id, sorter: services > 1 ? sorter(of: plan) : nil)
            for (id, recipient) in recipients.enumerated() {
                try writer.put(recipient, at: id, service: UInt8(plan.service(of: id)))
            }
            if services > 1 { try writer.drop(BitSet(), of: recipients.count) }
            try writer.finish(plan).close()
            return { try RunsFolder(folder.path).open(plan.id, readOnly: false) }
        }
        try conformance.check(behaviour)
    }

    /// Sorts recipients that come in the order of ids.
    private func sorter(of plan: RunPlan) -> SegmentSorter {
        var id = -1
        return SegmentSorter(waves: max(1, plan.waves.count), services: plan.serviceCount) { _ in
            id += 1
            return plan.waves.firstIndex { $0.ids.contains(id) } ?? 0
        }
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
