import Base
import Runs

/// What a run file does not know of its own run, as the record beside it says: an older copy, or a file that lost its newest part, reads as if less had been
/// sent.
struct AccountGap {
    let inWords: Diagnostic
    /// Whether something is missing; otherwise nobody knows.
    let isCertain: Bool

    /// nil when the file knows all that is known, and when the record cannot be read: the gate says so where it matters.
    init?(of run: RunStore) {
        guard let gap = SendingRecord.gap(of: run) else { return nil }
        isCertain = gap == .certain
        inWords =
            isCertain
            ? GateRefusals.isOutdated(run, (try? SendingRecord(beside: run).entry(of: run.plan.id))?.begunAt)
            : GateRefusals.marksAreMissing(run)
    }

    /// Where a run is shown: what is certainly untrue is not.
    /// - Throws: why.
    static func check(_ run: RunStore, _ console: Console) throws {
        guard let gap = AccountGap(of: run) else { return }
        if gap.isCertain { throw gap.inWords }
        console.warn("\(gap.inWords)")
    }
}
