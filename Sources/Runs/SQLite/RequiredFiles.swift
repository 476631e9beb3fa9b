/// The files that a run is sent from: its own, what SQLite lays beside it, its claim counter, and the record of what was sent. When one of them is removed or
/// replaced, what this process writes there is seen by no other, and may be gone with it.
struct RequiredFiles: Sendable {
    private let files: [(path: String, identity: RunFile.Identity?)]

    /// As they are now, while the run is on record as being sent, and open.
    init(_ run: SQLiteRun) {
        let paths = [run.path, run.path + "-wal", run.path + "-shm", ClaimCounter.file(of: run.path), run.catalog.history.path]
        files = paths.map { ($0, RunFile.identity($0)) }
    }

    /// The first one that is not there any more; nil while all are.
    var missing: String? { files.first { RunFile.identity($0.path) != $0.identity }?.path }
}
