import Accounts
import Base
import Glibc
import Runs

/// Copies a folder of runs for a backup, in the order that `Backup` describes.
struct RunsCopying {
    /// Runs that processes were sending when they were copied.
    private(set) var sending: Set<String> = []
    /// Names in the folder that are left out.
    private(set) var others: [String] = []
    /// Problems with files that could not be copied.
    private(set) var problems: [Diagnostic] = []

    private let folder: String
    private let copyFolder: String
    private let cancellation: Cancellation
    private let observer: Observer<Backup.Progress>
    private var done = 0, total = 0
    /// The stamps that runs had before they were copied.
    private var copied: [RunsInventory.Entry: [FileStamp?]] = [:]

    init(_ folder: String, into copyFolder: String, _ cancellation: Cancellation, _ observer: Observer<Backup.Progress>)
    {
        self.folder = folder
        self.copyFolder = copyFolder
        self.cancellation = cancellation
        self.observer = observer
    }

    mutating func copy() throws {
        try FilePaths.makeFolder(copyFolder, mode: 0o700)
        let before = try listing()
        let accounts = AccountStore.path(beside: folder)
        total = before.entries.reduce(FileStamp(path: accounts)?.size ?? 0) { $0 + before.bytes(of: $1) }
        for entry in before.entries { try copy(entry, of: before) }
        try copyAccounts(accounts)
        let after = try listing()
        others = after.others
        for entry in after.entries where entry.kind == .run {
            if after.isBeingSent(entry) { sending.insert(after.id(of: entry)) }
            guard copied[entry] != after.stamp(of: entry), copied[entry] == nil || !after.isBeingSent(entry) else {
                continue
            }
            sending.remove(after.id(of: entry))
            total += after.bytes(of: entry)
            try copy(entry, of: after)
        }
    }

    /// Looks again before the list is written: runs that were sent while checksums were computed
    /// are also only partly copied.
    mutating func lookAgain() throws {
        let now = try listing()
        for entry in now.entries where entry.kind == .run {
            if now.isBeingSent(entry) || copied[entry] != now.stamp(of: entry) { sending.insert(now.id(of: entry)) }
        }
    }

    private func listing() throws -> RunsInventory { try RunsInventory(folder) }

    private mutating func copy(_ entry: RunsInventory.Entry, of listing: RunsInventory) throws {
        if listing.isBeingSent(entry) { sending.insert(listing.id(of: entry)) }
        copied[entry] = listing.stamp(of: entry)
        let begun = done
        let found = try problem(with: entry.name) { step in
            _ = try listing.copy(entry, to: copyFolder) { now, of in try step(begun + now) }
        }
        // Without the record of what was sent, and of times, a restored project would send again
        // what it has sent.
        if let first = found.first, entry.kind == .history || entry.kind == .schedule { throw first }
        problems += found
        done = begun + listing.bytes(of: entry)
    }

    private mutating func copyAccounts(_ path: String) throws {
        guard AccountStore.isThere(beside: folder) else { return }
        let folder = FilePaths.join(copyFolder, name: "console")
        try FilePaths.makeFolder(folder, mode: 0o700)
        let copy = FilePaths.join(folder, name: AccountStore.fileName)
        let begun = done
        problems += try problem(with: "console/\(AccountStore.fileName)") { step in
            try DatabaseCopy.make(of: path, at: copy) { now, of in try step(begun + now) }
            try AccountStore.removeSessions(fromCopy: copy, of: path)
        }
    }

    /// Runs `body`, which copies a file.
    /// - Returns: why that cannot be done; empty if it was.
    /// - Throws: an error that keeps all files from being copied.
    private func problem(with name: String, _ body: ((Int) throws -> Void) throws -> Void) throws -> [Diagnostic] {
        do {
            try body { now in
                if cancellation.isRequested { throw CancellationError() }
                observer(.init(step: .copying, name: name, done: min(now, total), total: total))
            }
            return []
        } catch let problem as Diagnostic where problem.file.map({ !$0.hasPrefix(copyFolder) }) ?? false {
            // A file that is damaged must not keep all others from being copied.
            let copy = FilePaths.join(copyFolder, name: name)
            for ending in ["", "-journal", "-wal", "-shm"] { unlink(copy + ending) }
            return [problem]
        }
    }
}
