import Base
import GRDB
import Synchronization

/// Everything about accounts: `accounts.sqlite`, with people, roles, passwords, sessions, invitations and activities. The console and the
/// sender use it at the same time; each process needs one store, which any number of threads may share. Every change is on the disk when
/// its call returns, with its activity, in one transaction; whether it is allowed is decided in the same transaction.
///
/// Calls throw `AccountError`, and a `Diagnostic` when the file is damaged, of a newer version, something else or not permitted, when the
/// disk is full, or another process holds it for more than ten seconds. No error holds a secret.
public final class AccountStore: Sendable {
    /// The name of the file in its folder.
    public static let fileName = "accounts.sqlite"

    /// Where the file is, for messages.
    public let path: String
    private let database: DatabasePool
    /// Hashes of sessions that were ended while nothing could be written, as they are stored: the next change removes them.
    private let ended = Mutex<Set<String>>([])

    /// Opens the file, and creates it if it is missing.
    /// - Parameter folder: exists.
    public init(folder: String) throws {
        let path = FilePaths.join(folder, name: Self.fileName)
        self.path = path
        try AccountFile.prepare(path)
        database = try Self.translating(path) { try AccountFile.open(path) }
    }

    /// The accounts of a folder of runs, in a folder below it that only its owner may enter.
    /// - Parameter runs: the folder of runs; it need not exist yet.
    public convenience init(beside runs: String) throws {
        let folder = Self.folder(beside: runs)
        try FilePaths.makeFolder(folder, mode: 0o700)
        try self.init(folder: folder)
    }

    /// Whether a folder of runs has accounts, or a link that should lead to them.
    public static func isThere(beside runs: String) -> Bool {
        FilePaths.exists(path(beside: runs)) || FileKind.deadLink(path(beside: runs)) != nil
    }

    static func folder(beside runs: String) -> String { FilePaths.join(runs, name: "console") }

    /// Closes the file; unless another process has it open, everything is in it alone. The store cannot be used afterwards.
    public func close() {
        // GRDB leaves SQLite's files beside it. What stays in them is no loss: the next to open the file finds it.
        try? database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try? database.close()
    }

    /// Reads, all at one moment.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try Self.translating(path) { try database.read(body) }
    }

    /// Changes something, as a whole or not at all.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let value = try Self.translating(path) { try database.write(body) }
        if case let hashes = ended.withLock({ $0 }), !hashes.isEmpty, (try? database.write { try SessionRecords.end(hashes, $0) }) != nil {
            ended.withLock { $0.subtract(hashes) }
        }
        return value
    }

    /// Ends a session in this process, and in the file as soon as it can be written.
    func end(unwritten token: SecretToken) { _ = ended.withLock { $0.insert(SecretToken.stored(token)) } }

    /// Whether a session was ended and may still be in the file.
    func isEnded(_ token: SecretToken) -> Bool {
        ended.withLock { !$0.isEmpty && $0.contains(SecretToken.stored(token)) }
    }

    static func translating<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DatabaseError {
            throw AccountDiagnostics.diagnostic(for: error, path: path)
        } catch let mistake as Diagnostic where mistake == AccountDiagnostics.unreadable {
            throw AccountDiagnostics.damaged(path, what: "a value in it cannot be read")
        }
    }
}
