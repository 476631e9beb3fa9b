public import Base

/// What is not known of a run that was put back from a backup: its file says how it was then.
public struct RestoredRun: Hashable, Sendable {
    /// When the backup was made.
    public let backupAt: Timestamp
    /// Whether it is *held*: it had not ended, so it may have been sent on since, and no command begins, resumes or
    /// retries it. Any other had finished, and is not retried, as that may have been done.
    public let isHeld: Bool

    /// nil for a run that was not put back, whose newest file came back after that, or that was pruned.
    public init?(_ run: RunFile) { self.init(run, among: HistorySnapshot(of: run)) }

    /// The same for one run of many.
    public init?(_ run: RunFile, among runs: HistorySnapshot) {
        guard run.prunedAt == nil, let backupAt = runs.backup(of: run.plan.id), let state = try? run.status().state else { return nil }
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
    /// Where the file of its campaign is now: next to its folder of runs, or to the current folder, if the project was
    /// put back or moved there. The planned path may still lead to the project that a backup was made of, and a command
    /// that names it would work there.
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
                if FilePaths.exists(FilePaths.join(folder, name: project)), FilePaths.exists(campaign) { return campaign }
                let above = FilePaths.folder(of: folder)
                guard above != folder, !above.isEmpty else { break }
                folder = above
            }
        }
        return planned
    }
}
