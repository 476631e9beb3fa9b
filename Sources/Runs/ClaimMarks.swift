import GRDB
import Synchronization

/// Keeps in the sending record how many recipients of a run are claimed, while it is sent: after a kill it shows whether the run file has lost its newest
/// part, because what SQLite laid beside it was removed or an older copy was put back. A mark survives the process at once, and the machine's power a
/// moment later: the file itself is synchronised with every claim, a mark that is lost only shows less.
public final class ClaimMarks: Sendable {
    private let run: String
    private let path: String
    private let database: Mutex<DatabaseQueue?>

    /// - Throws: `Diagnostic`: the record cannot be written.
    public init(_ record: SendingRecord, of run: RunStore) throws {
        (self.run, path) = (run.plan.id, record.path)
        database = Mutex(
            try record.translating {
                var configuration = Configuration()
                configuration.busyMode = .timeout(30)
                configuration.journalMode = .wal
                let database = try DatabaseQueue(path: record.path, configuration: configuration)
                try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
                return database
            })
    }

    deinit { close() }

    /// Notes that recipients up to this id are claimed. Must return before any of them goes onto the wire.
    /// - Throws: when the record cannot be written.
    public func note(_ claimed: Int) throws {
        try database.withLock { database in
            try database?.write {
                try $0.cachedStatement(sql: "UPDATE beginning SET claimed = max(claimed, ?) WHERE run = ?").execute(arguments: [
                    claimed, run,
                ])
            }
        }
    }

    /// Leaves one file behind, unless others have it open.
    public func close() {
        database.withLock { database in
            guard let open = database else { return }
            database = nil
            try? open.close()
            try? RunStore.leaveWAL(path)
        }
    }
}
