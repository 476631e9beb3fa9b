public import Base

/// What a run file does not know of its own run, as the record beside it says: an older copy, or a file that lost its newest part, reads as if less had been
/// sent.
public struct LedgerGap {
    /// What is missing, or why nobody knows, and what to do.
    public let diagnostic: Diagnostic
    /// Whether something is missing; otherwise nobody knows.
    public let isKnown: Bool
    /// Whether nobody knows because the record beside the runs, or the file, cannot be read.
    public let isUnreadable: Bool

    /// nil when the file knows all that is known.
    public init?(of run: any RecordedRun) { self.init(of: run, SendingHistory.gap(of: run)) }

    /// The same for one of many.
    public init?(of run: any RecordedRun, among runs: HistorySnapshot) { self.init(of: run, runs.gap(of: run)) }

    private init?(of run: any RecordedRun, _ gap: SendingHistory.Gap?) {
        guard let gap else { return nil }
        isKnown = gap.isKnown
        switch gap {
        case .certain:
            isUnreadable = false
            diagnostic = Self.isOutdated(run, (try? run.catalog.history.entry(of: run.plan.id))?.begunAt)
        case .possible:
            isUnreadable = false
            diagnostic = Self.marksAreMissing(run)
        case .cancelled:
            isUnreadable = false
            diagnostic = Diagnostic(
                "this plan was cancelled, and the file is a copy from before", file: run.place,
                remedy: "`volley cancel \(run.plan.id)` cancels it again. For another push plan the campaign again.")
        case .unreadable(let why):
            isUnreadable = true
            diagnostic = Diagnostic(
                "whether this file knows all that was sent cannot be seen: \(why.message)", file: run.place,
                remedy: "\(why.file.map { "That is about \($0). " } ?? "")\(why.remedy ?? "Check the file.")")
        }
    }

    /// Where a run is shown: what is certainly untrue is not.
    /// - Returns: what may be untrue.
    /// - Throws: what is.
    public static func doubt(about run: any RecordedRun) throws -> Diagnostic? {
        guard let gap = LedgerGap(of: run) else { return nil }
        if gap.isKnown { throw gap.diagnostic }
        return gap.diagnostic
    }

    // MARK: - In words

    /// - Parameter moment: when the life began of which the file knows nothing; nil when that is not known.
    public static func isOutdated(_ run: any RecordedRun, _ moment: Timestamp?) -> Diagnostic {
        Diagnostic(
            "this file is an older copy of the run: more was sent\(moment.map { " (last from \($0) on)" } ?? "") than it knows of",
            file: run.place, remedy: "Put the newest file of the run back. From this one devices would get the push a second time.")
    }

    private static func marksAreMissing(_ run: any RecordedRun) -> Diagnostic {
        Diagnostic(
            "this file may be an older copy of the run: how far that was when its process ended stands in \(ClaimCounter.file(of: run.place)), which is "
                + "missing or damaged", file: run.place,
            remedy: "Put that file back, and the newest file of the run. Without them devices could get the push a second time.")
    }
}
