/// The files that a run is sent from: its own, SQLite's files next to it, its claim counter, and
/// the record of what was sent. When one of them is removed or replaced, no other process sees what
/// this one writes there, and it may be lost.
struct RequiredFiles: Sendable {
    private let files: [(path: String, identity: DatabaseFile.Identity?)]

    /// As they are now, while the run is on record as being sent, and open.
    init(_ run: RunFile) {
        let paths = [
            run.path, run.path + "-wal", run.path + "-shm", ClaimCounter.file(of: run.path), run.catalog.history.path,
        ]
        files = paths.map { ($0, DatabaseFile.identity($0)) }
    }

    /// The first one that no longer exists; nil while all exist.
    var missing: String? { files.first { DatabaseFile.identity($0.path) != $0.identity }?.path }
}
