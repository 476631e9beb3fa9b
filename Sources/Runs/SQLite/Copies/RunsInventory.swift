public import Base
import Glibc

/// What a folder of runs holds that a backup must have, and what it leaves out.
public struct RunsInventory: Sendable {
    /// One file.
    public struct Entry: Hashable, Sendable {
        /// What it is, in the order in which a backup copies them. What names a run is copied before the runs: then no
        /// copy names a run for a time that another copy does not have. The record of what was sent is copied after
        /// them: then it holds no less than they do.
        public enum Kind: Int, CaseIterable, Hashable, Sendable {
            /// Which time became which run.
            case schedule
            /// What was ordered in the console.
            case orders
            /// Devices that get no more pushes.
            case suppression
            /// How many devices of a run were claimed: `RUN.sqlite.claimed`.
            case mark
            case run
            /// Which runs were begun: `sent.db`.
            case history
        }

        /// Its name in the folder.
        public var name: String
        /// What it is.
        public var kind: Kind
    }

    /// The folder of runs.
    public let folder: String
    /// What a backup holds, in the order in which it is copied.
    public let entries: [Entry]
    /// Names that a backup leaves out: unfinished plans, and files that are not Volley's.
    public let others: [String]

    /// Lists a folder. One that does not exist yet holds nothing.
    /// - Throws: `Diagnostic`: it cannot be listed.
    public init(_ folder: String) throws {
        self.folder = folder
        var entries: [Entry] = [], others: [String] = []
        for name in try DatabaseFile.names(in: folder) {
            if let kind = Self.kind(of: name) { entries.append(Entry(name: name, kind: kind)) }
            if Self.isLeftOut(name) { others.append(name) }
        }
        self.entries = entries.sorted { ($0.kind.rawValue, $0.name) < ($1.kind.rawValue, $1.name) }
        self.others = others
    }

    private static func kind(of name: String) -> Entry.Kind? {
        switch name {
        case ScheduleStore.fileName: .schedule
        case OrderStore.fileName: .orders
        case SendingHistory.fileName: .history
        case _ where name.hasSuffix(ClaimCounter.file(of: DatabaseFile.suffix)): .mark
        case _ where SuppressionList.isNamed(name): .suppression
        case _ where DatabaseFile.isRun(name): .run
        default: nil
        }
    }

    /// Locks, SQLite's own files and folders for temporary files mean nothing in a copy, and the accounts of the
    /// console are copied apart.
    package static func isLeftOut(_ name: String) -> Bool {
        guard kind(of: name) == nil, name != "console", !name.hasPrefix(".") else { return false }
        return !["-wal", "-shm", "-journal", ".lock"].contains { name.hasSuffix($0) }
    }

    /// Where it is.
    public func path(of entry: Entry) -> String { FilePaths.join(folder, name: entry.name) }

    /// Bytes, including SQLite's files next to it; 0 if it is gone.
    public func bytes(of entry: Entry) -> Int { DatabaseFile.size(path(of: entry)) + DatabaseFile.size(path(of: entry) + "-wal") }

    /// Equal stamps mean that it was not written to in between.
    public func stamp(of entry: Entry) -> [FileStamp?] { ["", "-wal"].map { FileStamp(path: path(of: entry) + $0) } }

    /// Whether a process sends the run, or has it paused.
    public func isBeingSent(_ entry: Entry) -> Bool { entry.kind == .run && SendingLock.isSending(run: path(of: entry)) }

    /// The id of a run, from its file's name.
    public func id(of entry: Entry) -> String { String(entry.name.dropLast(DatabaseFile.suffix.count)) }

    /// Copies a file as it is at one moment into another folder, for its owner only.
    /// - Parameter step: as with `DatabaseCopy`.
    /// - Returns: false if it is gone: a mark is removed when its run's sending ends, an unwanted plan when a person
    ///   answers "no".
    /// - Throws: `Diagnostic`: as with `DatabaseCopy`.
    public func copy(_ entry: Entry, to folder: String, step: (_ copied: Int, _ total: Int) throws -> Void) throws -> Bool {
        let path = path(of: entry), copy = FilePaths.join(folder, name: entry.name)
        switch DatabaseFile.kind(path) {
        case .missing:
            if let misencoded = FilePaths.misencoded(path) { throw misencoded }
            return false
        case .deadLink(let mistake): throw mistake
        case .file, .folder, .forbidden, .other: break
        }
        guard entry.kind == .mark else {
            do {
                try DatabaseCopy.make(of: path, at: copy, isDecision: entry.kind != .run, step: step)
            } catch let error as Diagnostic {
                guard DatabaseFile.kind(path) == .missing else { throw error }
                DatabaseFile.remove(copy)
                return false
            }
            return true
        }
        guard let bytes = try? RegularFile.bytes(of: path, atMost: 200) else { return false }
        try FilePaths.replace(copy, bytes: bytes, mode: 0o600)
        try DatabaseFile.synchronize(copy)
        return true
    }
}
