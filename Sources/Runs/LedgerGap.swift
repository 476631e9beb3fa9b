public import Base

/// What a run file is missing compared with the record next to it: an older copy, or a file that lost its newest part,
/// reads as if less had been sent.
public struct LedgerGap {
    /// What is missing, or why that is not known, and what to do.
    public let diagnostic: Diagnostic
    /// Whether something is missing; otherwise it is not known.
    public let isKnown: Bool
    /// Whether it is not known because the record next to the runs, or the file, cannot be read.
    public let isUnreadable: Bool

    /// nil when the file is missing nothing.
    public init?(of run: RunFile) { self.init(of: run, SendingHistory.gap(of: run)) }

    /// The same for one run of many.
    public init?(of run: RunFile, among runs: HistorySnapshot) { self.init(of: run, runs.gap(of: run)) }

    private init?(of run: RunFile, _ gap: SendingHistory.Gap?) {
        guard let gap else { return nil }
        isKnown = gap.isKnown
        switch gap {
        case .certain:
            isUnreadable = false
            diagnostic = Self.isOutdated(run, moment: (try? run.catalog.history.entry(of: run.plan.id))?.begunAt)
        case .possible:
            isUnreadable = false
            diagnostic = Self.restored(run) ?? Self.marksAreMissing(run)
        case .cancelled:
            isUnreadable = false
            diagnostic = Diagnostic(
                "this plan was cancelled, and this file is an older copy", file: run.place,
                remedy: "`volley cancel \(run.plan.id)` cancels it again. For another push, plan the campaign again.",
                [.cancel(run: run.plan.id), .planAgain])
        case .unreadable(let why):
            isUnreadable = true
            diagnostic = Diagnostic(
                "it cannot be checked whether this file has a record of all that was sent: \(why.message)", file: run.place,
                remedy: "\(why.file.map { "That is about \($0). " } ?? "")\(why.remedy ?? "Check the file.")", why.remedies)
        }
    }

    /// For showing a run: figures that are certainly wrong are not shown.
    /// - Returns: what may be wrong.
    /// - Throws: what is certainly wrong.
    public static func doubt(about run: RunFile) throws -> Diagnostic? {
        guard let gap = LedgerGap(of: run) else { return nil }
        if gap.isKnown { throw gap.diagnostic }
        return gap.diagnostic
    }

    // MARK: - In words

    /// - Parameter moment: when the epoch began that the file does not record; nil when that is not known.
    public static func isOutdated(_ run: RunFile, moment: Timestamp?) -> Diagnostic {
        Diagnostic(
            "this file is an older copy of the run: more was sent\(moment.map { " (last from \($0) on)" } ?? "") than it records",
            file: run.place, remedy: "Put the newest file of the run back. From this one devices would get the push a second time.")
    }

    /// Why a run is held that was put back from a backup, or is not retried, as that may have been done; nil for any
    /// other.
    public static func restored(_ run: RunFile) -> Diagnostic? {
        RestoredRun(run).map { diagnostic(about: run, $0) }
    }

    /// The same for a held run only.
    public static func held(_ run: RunFile) -> Diagnostic? {
        RestoredRun(run).flatMap { $0.isHeld ? diagnostic(about: run, $0) : nil }
    }

    /// The remedy names no command on the run itself: all of them are refused.
    private static func diagnostic(about run: RunFile, _ restored: RestoredRun) -> Diagnostic {
        let id = run.plan.id
        guard restored.isHeld else {
            return Diagnostic(
                restored.sentence, file: run.place,
                remedy:
                    "If nothing was sent after the backup, move the folder of runs away and restore the backup again with --nothing-sent-since. "
                    + "Otherwise devices could get the push twice: `volley report \(id)` says how to plan the campaign anew.",
                [.ask(.restoreRun(id)), .readReport(run: id)])
        }
        return Diagnostic(
            restored.sentence, file: run.place,
            remedy:
                "No command begins, resumes or retries it, also after `volley cancel`: devices could get the push twice. If its newest files are "
                + "left, sent.db and those of the run, put them back. If nothing was sent after the backup, move the folder of runs away "
                + "and restore the backup again with --nothing-sent-since, which releases what was not being sent at the time. Otherwise `volley report \(id)` says how to plan "
                + "the campaign anew, and how many devices may get it twice then.",
            [.ask(.restoreRun(id)), .readReport(run: id)])
    }

    private static func marksAreMissing(_ run: RunFile) -> Diagnostic {
        Diagnostic(
            "this file may be an older copy of the run: how far the run was when its process ended is recorded in \(ClaimCounter.file(of: run.place)), which is "
                + "missing or damaged", file: run.place,
            remedy: "Restore that file and the newest file of the run. Without them, devices could get the push twice.")
    }
}
