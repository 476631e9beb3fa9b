import Base
import Runs

/// What a run file does not know of its own run, as the record beside it says: an older copy, or a file that lost its newest part, reads as if less had been
/// sent.
struct AccountGap {
    let inWords: Diagnostic
    /// Whether something is missing; otherwise nobody knows.
    let isCertain: Bool
    /// Whether nobody knows because the record beside the runs, or the file, cannot be read.
    let isUnreadable: Bool

    /// nil when the file knows all that is known.
    init?(of run: RunStore) { self.init(of: run, SendingRecord.gap(of: run)) }

    /// The same for one of many.
    init?(of run: RunStore, among runs: KnownRuns) { self.init(of: run, runs.gap(of: run)) }

    private init?(of run: RunStore, _ gap: SendingRecord.Gap?) {
        guard let gap else { return nil }
        isCertain = gap.isCertain
        switch gap {
        case .certain:
            isUnreadable = false
            inWords = GateRefusals.isOutdated(run, (try? SendingRecord(beside: run).entry(of: run.plan.id))?.begunAt)
        case .possible:
            isUnreadable = false
            inWords = GateRefusals.marksAreMissing(run)
        case .cancelled:
            isUnreadable = false
            inWords = Diagnostic(
                "this plan was cancelled, and the file is a copy from before", file: run.path,
                remedy: "`volley cancel \(run.plan.id)` cancels it again. For another push plan the campaign again.")
        case .unreadable(let why):
            isUnreadable = true
            inWords = Diagnostic(
                "whether this file knows all that was sent cannot be seen: \(why.message)", file: run.path,
                remedy: "\(why.file.map { "That is about \($0). " } ?? "")\(why.remedy ?? "Check the file.")")
        }
    }

    /// Where a run is shown: what is certainly untrue is not.
    /// - Throws: why.
    static func check(_ run: RunStore, _ console: Console) throws {
        guard let gap = AccountGap(of: run) else { return }
        if gap.isCertain { throw gap.inWords }
        console.warn("\(gap.inWords)")
    }
}
