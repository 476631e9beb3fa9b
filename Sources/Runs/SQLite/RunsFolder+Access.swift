public import Base

/// What was found when obstacles were looked for before, so that files are not read again each minute.
public struct KnownObstacles: Sendable {
    /// Runs that have ended, by the names of their files.
    var ended: Set<String> = []
    /// What is wrong with records and runs that were read.
    var damage = KnownDamage()
    /// What reading all pages of runs found.
    public let pages = RunPages()

    /// Nothing was looked for before.
    /// - Parameter schedule: the record of the schedule, if this process has it open: it was found whole then.
    public init(schedule: ScheduleStore? = nil) {
        if let schedule { damage.noteWhole(schedule.path) }
    }
}

/// Which files of the folder this user may not use although sending needs them: a command that root ran leaves files
/// that only root may write to. Nothing is opened for writing, so a process that uses them is not disturbed; a record
/// or a run is read once, and again when another file is in its place. Only `RunPages` reads whole files.
extension RunsFolder {
    /// What keeps runs from being planned and sent, and runs that are damaged; empty if nothing does. A run that has
    /// ended counts only if it cannot be read.
    /// - Parameter known: what the call before found; filled by each call. Once a record was read, its stamp says what
    ///   is to be said of it.
    public func obstacles(_ known: inout KnownObstacles) -> [Diagnostic] {
        guard isThere else { return [folderObstacle].compactMap(\.self) }
        if let obstacle = Self.problem(place, purpose: "the folder of runs") { return [obstacle] }
        do throws(FileError) {
            var found: [Diagnostic] = []
            for name in try Folder.names(in: place) {
                if let purpose = Self.purpose(ofRecord: name) {
                    let problem = Self.problem(FilePaths.join(place, name: name), purpose: purpose)
                    found += [problem ?? damage(ofRecord: name, &known)].compactMap(\.self)
                } else if DatabaseFile.isRun(name) {
                    found += [obstacle(ofRun: name, &known.ended) ?? damage(ofRun: name, &known)].compactMap(\.self)
                }
            }
            return found
        } catch { return [error.diagnostic("the folder of runs cannot be listed", file: place)] }
    }

    /// Why a file of the folder, or the folder, cannot be read and written; a link that leads nowhere is not the same
    /// as none.
    private static func problem(_ path: String, purpose: String) -> Diagnostic? {
        FileKind.deadLink(path) ?? FileAccess.problem(path, .writing, purpose: purpose)
    }

    /// Why a folder that does not exist cannot be made.
    private var folderObstacle: Diagnostic? {
        var above = FilePaths.folder(of: place)
        while !FilePaths.exists(above), above != "/", above != "." { above = FilePaths.folder(of: above) }
        return FileAccess.problem(above, .writing, purpose: "in which the folder of runs has to be made")
    }

    /// What a file is that all runs share, with the files that SQLite keeps next to it; nil for other files.
    private static func purpose(ofRecord name: String) -> String? {
        let database = ["-wal", "-shm", "-journal"].first(where: name.hasSuffix).map { String(name.dropLast($0.count)) } ?? name
        switch database {
        case "sent.db": return "the record of what was sent"
        case ScheduleStore.fileName, "schedule.lock": return "the record of the schedule"
        case OrderStore.fileName: return "the record of orders"
        default:
            return database.hasPrefix(SuppressionList.prefix) && database.hasSuffix(DatabaseFile.suffix)
                ? "a list of suppressed devices" : nil
        }
    }

    /// What is wrong with a list or a record: planning and sending need them, so that is said before a time comes.
    private func damage(ofRecord name: String, _ known: inout KnownObstacles) -> Diagnostic? {
        let path = FilePaths.join(place, name: name)
        return known.damage.damage(of: path) {
            switch name {
            case SendingHistory.fileName: HistorySnapshot(of: self).failure
            case ScheduleStore.fileName: Self.failure { _ = try schedule.read() }
            case OrderStore.fileName: Self.failure { _ = try orders.read() }
            default: SuppressionList.isNamed(name) ? SuppressionFile.damage(path) : nil
            }
        }
    }

    private static func failure(_ body: () throws -> Void) -> Diagnostic? {
        do { try body() } catch { return Diagnostic(explaining: error) }
        return nil
    }

    /// What is wrong with a run, which `volley runs` also says: it may be one that has not ended.
    private func damage(ofRun name: String, _ known: inout KnownObstacles) -> Diagnostic? {
        let path = FilePaths.join(place, name: name)
        if FileKind.isLink(path), FileKind(path: path) == nil { return RunFile.damage(path) }
        return known.damage.damage(of: path) { RunFile.damage(path) } ?? known.pages.damage(ofFile: path)
    }

    private func obstacle(ofRun name: String, _ ended: inout Set<String>) -> Diagnostic? {
        guard !ended.contains(name) else { return nil }
        let path = FilePaths.join(place, name: name)
        let problems = ["", "-wal", "-shm", "-journal", ".lock", ".claimed"].compactMap {
            Self.problem(path + $0, purpose: "a run that has not ended")
        }
        guard let problem = problems.first else { return nil }
        // A copy, or a file of another program, is said by `volley runs`.
        guard let run = try? RunFile(path: path, readOnly: true), let state = try? run.status().state else {
            return FileKind.deadLink(path) ?? FileAccess.problem(path, .reading, purpose: "a run") ?? problem
        }
        run.close()
        guard state == .finished || state == .cancelled else { return problem }
        ended.insert(name)
        return nil
    }
}
