public import Base

/// Which files of the folder this user may not use although sending needs them: a command that root ran leaves files that only root may write to.
/// Nothing is opened for writing, so a process that uses them is not disturbed.
extension RunFolder {
    /// What keeps runs from being planned and sent; empty if nothing does. A run that has ended counts only if it cannot be read.
    /// - Parameter ended: runs that were found to have ended, by the names of their files: they are not read again.
    public func obstacles(ended: inout Set<String>) -> [Diagnostic] {
        guard isThere else { return [folderObstacle].compactMap(\.self) }
        if let obstacle = FileAccess.problem(place, .writing, purpose: "the folder of runs") { return [obstacle] }
        do throws(FileError) {
            var found: [Diagnostic] = []
            for name in try Folder.names(in: place) {
                if let purpose = Self.purpose(ofRecord: name) {
                    let problem = FileAccess.problem(RunFile.join(place, name: name), .writing, purpose: purpose)
                    found += [problem ?? damage(ofRecord: name)].compactMap(\.self)
                } else if RunFile.isRun(name) {
                    found += [obstacle(ofRun: name, &ended)].compactMap(\.self)
                }
            }
            return found
        } catch { return [error.diagnostic("the folder of runs cannot be listed", file: place)] }
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
        // Of the room `Accounts`.
        case "accounts.sqlite": return "the accounts of the console"
        default:
            return database.hasPrefix(SuppressionList.prefix) && database.hasSuffix(RunFile.suffix) ? "a list of suppressed devices" : nil
        }
    }

    /// What is wrong with the record of what was sent, or with a list: planning needs them, so that is said before a time comes.
    private func damage(ofRecord name: String) -> Diagnostic? {
        if name == "sent.db" { return HistorySnapshot(of: self).failure }
        guard name.hasPrefix(SuppressionList.prefix), name.hasSuffix(RunFile.suffix) else { return nil }
        do {
            _ = try SuppressionFile.read(RunFile.join(place, name: name)) { _ in true }
            return nil
        } catch { return Diagnostic(explaining: error) }
    }

    private func obstacle(ofRun name: String, _ ended: inout Set<String>) -> Diagnostic? {
        guard !ended.contains(name) else { return nil }
        let path = RunFile.join(place, name: name)
        let problems = ["", "-wal", "-shm", "-journal", ".lock", ".claimed"].compactMap {
            FileAccess.problem(path + $0, .writing, purpose: "a run that has not ended")
        }
        guard let problem = problems.first else { return nil }
        // A copy, or a file of another program, is said by `volley runs`.
        guard let run = try? SQLiteRun(path: path, readOnly: true), let state = try? run.status().state else {
            return FileAccess.problem(path, .reading, purpose: "a run") ?? problem
        }
        run.close()
        guard state == .finished || state == .cancelled else { return problem }
        ended.insert(name)
        return nil
    }
}
