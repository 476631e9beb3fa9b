import Base
import Synchronization

extension RunFolder {
    /// Cheap: no file is opened. Files that are no runs after all have a stamp, too.
    public func stamps() throws -> [String: RunStamp] {
        var stamps: [String: RunStamp] = [:]
        for name in try RunFile.names(in: place) where RunFile.isRun(name) {
            let path = RunFile.join(place, name: name)
            // One that was removed in between is no longer a run.
            guard let file = FileStamp(path: path) else { continue }
            stamps[String(name.dropLast(RunFile.suffix.count))] = RunStamp(file: file, log: FileStamp(path: path + "-wal"))
        }
        return stamps
    }
}

/// What tells, without opening a run's file again, whether a run may concern another one. A plan never changes it.
public struct RunMark: Hashable, Sendable {
    /// The run's id.
    public var id: String
    /// The run that it retries; nil for a run that is not a retry.
    public var retryOf: String?
    /// The time of the schedule that it was planned for; nil for none.
    public var occurrence: String?

    /// nil if the settings cannot be read.
    init?(_ plan: RunPlan) {
        guard let settings = try? plan.settings.get() else { return nil }
        (id, retryOf, occurrence) = (plan.id, plan.retryOf, settings.schedule?.occurrence.map { "\($0)" })
    }
}

extension RunFolder {
    /// The marks of the files that this process has opened, by path.
    private static let marks = Mutex<[String: (file: FileStamp, mark: RunMark)]>([:])

    /// Opens only files that this process has not opened before, that were changed since, or whose marks are wanted: `volley schedule` looks through all
    /// runs whenever it sends one, for months.
    public func runs(of campaign: String?, where isWanted: (RunMark) -> Bool) throws -> [any RecordedRun] {
        let names = try campaign.map(names(ofRunsOf:)) ?? RunFile.names(in: place).filter(RunFile.isRun)
        var found: [any RecordedRun] = []
        for name in names {
            let path = RunFile.join(place, name: name), stamp = FileStamp(path: path)
            if let known = Self.marks.withLock({ $0[path] }), known.file == stamp, !isWanted(known.mark) { continue }
            guard let run = try? SQLiteRun(path: path, readOnly: true), run.misnamed == nil else { continue }
            if let stamp, let mark = RunMark(run.plan) {
                // Runs that were pruned away are forgotten with all others.
                Self.marks.withLock { marks in
                    if marks.count > 100_000 { marks = [:] }
                    marks[path] = (stamp, mark)
                }
                if !isWanted(mark) { continue }
            }
            found.append(run)
        }
        return found.sorted { ($0.plan.plannedAt, $0.plan.id) < ($1.plan.plannedAt, $1.plan.id) }
    }
}
