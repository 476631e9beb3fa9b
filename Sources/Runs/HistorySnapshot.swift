public import Base

/// What the record next to the runs says about several of them, at one moment. It is read once: if another program
/// holds the record, Volley waits only once.
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

    /// Runs whose last epoch began at a moment or later, the newest first, also those whose files are gone.
    /// - Throws: as `begun(of:)`.
    public func begun(since moment: Timestamp) throws -> [(run: String, entry: SendingHistory.Entry)] {
        try known.get().begun.filter { $0.value.begunAt >= moment }.map { (run: $0.key, entry: $0.value) }
            .sorted { ($1.entry.begunAt, $1.run) < ($0.entry.begunAt, $0.run) }
    }

    /// When the backup was made from which a run was put back; nil for a run that was not, or when nothing is known.
    func backup(of run: String) -> Timestamp? { if case .success(let known) = known { known.backups[run] } else { nil } }

    /// Runs of a campaign that were put back from a backup, by their ids.
    /// - Throws: as `begun(of:)`.
    public func restored(of campaign: String) throws -> [String] {
        try known.get().backups.keys.filter { id in RunID.campaign(of: id[...]).map { $0 == campaign } ?? false }.sorted()
    }

    /// What a record says about a run.
    public struct Mark: Hashable, Sendable {
        let begun: SendingHistory.Entry?
        let isCancelled: Bool
        let backupAt: Timestamp?
        let isKnown: Bool
    }

    /// What the record says about a run: as long as this and the run's stamp stay the same, so does `gap(of:)`.
    public func mark(of run: String) -> Mark {
        guard case .success(let known) = known else { return Mark(begun: nil, isCancelled: false, backupAt: nil, isKnown: false) }
        return Mark(begun: known.begun[run], isCancelled: known.cancelled.contains(run), backupAt: known.backups[run], isKnown: true)
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
                return isNewer ? entry.claimed != nil || !entry.names(epoch) ? SendingHistory.Gap.certain : .possible : nil
            }
            switch gap {
            case .failure(let why): return .unreadable(why)
            case .success(let gap): return gap
            }
        }
    }
}
