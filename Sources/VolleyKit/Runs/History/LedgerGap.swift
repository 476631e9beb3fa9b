package import Base
package import Runs

/// What a run file does not know of its own run, as the record beside it says: an older copy, or a file that lost its newest part, reads as if less had been
/// sent.
package struct LedgerGap {
    package let diagnostic: Diagnostic
    /// Whether something is missing; otherwise nobody knows.
    package let isKnown: Bool
    /// Whether nobody knows because the record beside the runs, or the file, cannot be read.
    let isUnreadable: Bool

    /// nil when the file knows all that is known.
    package init?(of run: RunStore) { self.init(of: run, SendingHistory.gap(of: run)) }

    /// The same for one of many.
    package init?(of run: RunStore, among runs: HistorySnapshot) { self.init(of: run, runs.gap(of: run)) }

    private init?(of run: RunStore, _ gap: SendingHistory.Gap?) {
        guard let gap else { return nil }
        isKnown = gap.isKnown
        switch gap {
        case .certain:
            isUnreadable = false
            diagnostic = RefusalText.isOutdated(run, (try? SendingHistory(beside: run).entry(of: run.plan.id))?.begunAt)
        case .possible:
            isUnreadable = false
            diagnostic = RefusalText.marksAreMissing(run)
        case .cancelled:
            isUnreadable = false
            diagnostic = Diagnostic(
                "this plan was cancelled, and the file is a copy from before", file: run.path,
                remedy: "`volley cancel \(run.plan.id)` cancels it again. For another push plan the campaign again.")
        case .unreadable(let why):
            isUnreadable = true
            diagnostic = Diagnostic(
                "whether this file knows all that was sent cannot be seen: \(why.message)", file: run.path,
                remedy: "\(why.file.map { "That is about \($0). " } ?? "")\(why.remedy ?? "Check the file.")")
        }
    }

    /// Where a run is shown: what is certainly untrue is not.
    /// - Returns: what may be untrue.
    /// - Throws: what is.
    package static func doubt(about run: RunStore) throws -> Diagnostic? {
        guard let gap = LedgerGap(of: run) else { return nil }
        if gap.isKnown { throw gap.diagnostic }
        return gap.diagnostic
    }
}
