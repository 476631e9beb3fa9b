public import Base

/// What a run file is missing compared with the record next to it: an older copy, or a file that
/// lost its newest part, reads as if less had been sent.
///
/// ```swift
/// if LedgerGap(of: run) != nil { print("more was sent than this file says") }
/// ```
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
                "it cannot be checked whether this file has a record of all that was sent: \(why.message)",
                file: run.place,
                remedy: "\(why.file.map { "That is about \($0). " } ?? "")\(why.remedy ?? "Check the file.")",
                why.remedies)
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

    /// - Parameter moment: when the epoch began that the file does not record; nil when that is not
    ///   known.
    public static func isOutdated(_ run: RunFile, moment: Timestamp?) -> Diagnostic {
        Diagnostic(
            "this file is an older copy of the run: more was sent\(moment.map { " (last from \($0) on)" } ?? "") than it records",
            file: run.place,
            remedy: "Put the newest file of the run back. From this one devices would get the push a second time.")
    }

    /// Why a run is held that was put back from a backup, or is not retried, as that may have been
    /// done; nil for any other.
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

/// What is not known of a run that was put back from a backup: its file says how it was then.
public struct RestoredRun: Hashable, Sendable {
    /// When the backup was made.
    public let backupAt: Timestamp
    /// Whether it is *held*: it had not ended, so it may have been sent on since, and no command
    /// begins, resumes or retries it. Any other had finished, and is not retried, as that may have
    /// been done.
    public let isHeld: Bool

    /// nil for a run that was not put back, whose newest file came back after that, or that was
    /// pruned.
    public init?(_ run: RunFile) { self.init(run, among: HistorySnapshot(of: run)) }

    /// The same for one run of many.
    public init?(_ run: RunFile, among runs: HistorySnapshot) {
        guard run.prunedAt == nil, let backupAt = runs.backup(of: run.plan.id), let state = try? run.status().state
        else { return nil }
        // What can be retried may have been, and the record that came back with it would not know.
        guard state == .finished || state == .cancelled || runs.gap(of: run) == .possible else { return nil }
        (self.backupAt, isHeld) = (backupAt, state != .finished)
    }

    /// Why no command continues it: a clause without a capital and a full stop.
    public var sentence: String {
        isHeld
            ? "this run was put back from a backup of \(backupAt) before it had ended, and what was sent of it since then is not known"
            : "this run was put back from a backup of \(backupAt), and it is not known whether it has been retried since then"
    }
}

extension RunFile {
    /// Where the file of its campaign is now: next to its folder of runs, or to the current folder,
    /// if the project was put back or moved there. The planned path may still lead to the project
    /// that a backup was made of, and a command that names it would work there.
    /// - Parameter isRestored: whether it was put back from a backup; nil finds out.
    public func presentCampaignFile(isRestored: Bool? = nil) -> String {
        let (planned, former) = (plan.campaignFile, FilePaths.folder(of: plan.projectFile) + "/")
        guard planned.hasPrefix(former), plan.projectFile.hasPrefix(former),
            (isRestored ?? (RestoredRun(self) != nil)) || !FilePaths.exists(planned)
        else { return planned }
        let place = String(planned.dropFirst(former.count)), project = String(plan.projectFile.dropFirst(former.count))
        for start in [catalog.place, "."] {
            var folder = FilePaths.absolute(start)
            while true {
                let campaign = FilePaths.join(folder, name: place)
                if FilePaths.exists(FilePaths.join(folder, name: project)), FilePaths.exists(campaign) {
                    return campaign
                }
                let above = FilePaths.folder(of: folder)
                guard above != folder, !above.isEmpty else { break }
                folder = above
            }
        }
        return planned
    }
}

/// What the record next to the runs says about several of them, at one moment. It is read once: if
/// another program holds the record, Volley waits only once.
public struct HistorySnapshot: Sendable {
    private let known: Result<SendingHistory.Entries, Diagnostic>

    /// Of all runs of a folder.
    public init(of catalog: RunsFolder) { known = Self.reading { try catalog.history.entries() } }

    /// Of one run.
    init(of run: RunFile) {
        let (id, record) = (run.plan.id, run.catalog.history)
        known = Self.reading { try record.entries(of: id) }
    }

    /// Why the record could not be read; nil when it could.
    public var failure: Diagnostic? { if case .failure(let why) = known { why } else { nil } }

    /// Runs of a campaign that were begun, also those whose files are gone.
    /// - Throws: `Diagnostic`: the record could not be read. That does not mean "none".
    public func begun(of campaign: String) throws -> [String: SendingHistory.Entry] {
        try known.get().begun.filter { id, _ in RunID.campaign(of: id[...]).map { $0 == campaign } ?? false }
    }

    /// Runs whose last epoch began at a moment or later, the newest first, also those whose files
    /// are gone.
    /// - Throws: as `begun(of:)`.
    public func begun(since moment: Timestamp) throws -> [(run: String, entry: SendingHistory.Entry)] {
        try known.get().begun.filter { $0.value.begunAt >= moment }.map { (run: $0.key, entry: $0.value) }
            .sorted { ($1.entry.begunAt, $1.run) < ($0.entry.begunAt, $0.run) }
    }

    /// When the backup was made from which a run was put back; nil for a run that was not, or when
    /// nothing is known.
    func backup(of run: String) -> Timestamp? {
        if case .success(let known) = known { known.backups[run] } else { nil }
    }

    /// Runs of a campaign that were put back from a backup, by their ids.
    /// - Throws: as `begun(of:)`.
    public func restored(of campaign: String) throws -> [String] {
        try known.get().backups.keys.filter { id in RunID.campaign(of: id[...]).map { $0 == campaign } ?? false }
            .sorted()
    }

    /// What a record says about a run.
    public struct Mark: Hashable, Sendable {
        let begun: SendingHistory.Entry?
        let isCancelled: Bool
        let backupAt: Timestamp?
        let isKnown: Bool
    }

    /// What the record says about a run: as long as this and the run's stamp stay the same, so does
    /// `gap(of:)`.
    public func mark(of run: String) -> Mark {
        guard case .success(let known) = known else {
            return Mark(begun: nil, isCancelled: false, backupAt: nil, isKnown: false)
        }
        return Mark(
            begun: known.begun[run], isCancelled: known.cancelled.contains(run), backupAt: known.backups[run],
            isKnown: true)
    }

    private static func reading<Value>(_ body: () throws -> Value) -> Result<Value, Diagnostic> {
        do { return .success(try body()) } catch { return .failure(Diagnostic(explaining: error)) }
    }

    /// What a run's file is missing; nil when it misses nothing that was known, or was pruned.
    public func gap(of run: RunFile) -> SendingHistory.Gap? {
        guard run.prunedAt == nil else { return nil }
        // In this order: a process that sends the run claims first and notes the claim afterwards.
        switch known {
        case .failure(let why): return .unreadable(why)
        case .success(let known):
            if known.cancelled.contains(run.plan.id) {
                switch Self.reading({ try run.status().state }) {
                case .failure(let why): return .unreadable(why)
                case .success(let state): return state == .planned ? .cancelled : nil
                }
            }
            guard let entry = known.begun[run.plan.id] else { return nil }
            let gap = Self.reading {
                let epoch = try run.status().epoch
                let isNewer = try entry.isNewer(than: run, epoch: epoch, reached: .max, claimed: run.claims().made)
                return isNewer
                    ? entry.claimed != nil || !entry.names(epoch) ? SendingHistory.Gap.certain : .possible : nil
            }
            switch gap {
            case .failure(let why): return .unreadable(why)
            case .success(let gap): return gap
            }
        }
    }
}
