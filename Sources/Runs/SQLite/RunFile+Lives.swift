public import Base
import GRDB
import Synchronization

/// Whether this file is the run that it says it is, and its lives: each start and each resumption is one.
extension RunFile {
    /// nil before the first.
    static func lastLife(_ db: Database) throws -> String? {
        guard try db.tableExists("life") else { return nil }
        return try db.first("SELECT life FROM life") { try $0.string(0) }
    }

    /// Records that the run is being sent, as a new life, in one transaction. Takes the right to send it.
    /// - Parameter expected: the states of which the run must be in one.
    /// - Throws: `Diagnostic` when it is in another one by now, or another process sends it; nothing is changed then.
    func begin(life: String, at now: Timestamp, from expected: Set<RunState>) throws {
        try lockForSending()
        ownLife.withLock { $0 = nil }
        try record(.running, cause: nil, at: now, from: expected) { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS life (life TEXT NOT NULL)  -- the same as beside the runs, in sent.db")
            try db.execute(sql: "DELETE FROM life")
            try db.execute(sql: "INSERT INTO life VALUES (?)", arguments: [life])
            try noteEvidence(db)
            try takeBackStops(db)
        }
        ownLife.withLock { $0 = life }
    }

    /// Makes sure that no other process has begun a life of the run since this store began its own.
    func checkOwner(_ db: Database) throws {
        guard let own = ownLife.withLock({ $0 }), try Self.lastLife(db) != own else { return }
        throw Diagnostic(
            "another volley has taken over this run", file: path, remedy: "`volley report \(plan.id)` shows its progress.",
            [.watch(run: plan.id)])
    }

    /// Makes sure that the life that this store began still goes on; a store that began none is not checked.
    /// - Throws: `NotSending`.
    func checkSending(_ db: Database) throws {
        guard let own = ownLife.withLock({ $0 }) else { return }
        if try RunSchema.state(db) == .cancelled { throw NotSending(isCancelled: true) }
        guard try Self.lastLife(db) == own else { throw NotSending(isCancelled: false) }
    }

    /// Makes sure that the file was not removed or replaced since it was opened, as `prune` does.
    public func checkNotReplaced() throws {
        guard isInPlace else {
            throw Diagnostic("the run file was removed or replaced in the meantime", file: path, remedy: "Nothing was sent; try again.")
        }
    }

    /// Whether the file has another name than its run. A file whose plan was changed as well is not opened at all: its id may be damaged.
    var isMisnamed: Bool { DatabaseFile.name(path) != plan.id + DatabaseFile.suffix }

    /// Whether the run's own file is next to this one, which has another name: only then is this one a copy that is not needed.
    var isCopyNextToRun: Bool {
        let own = FilePaths.join(RunDiagnostics.folder(of: givenPath), name: plan.id + DatabaseFile.suffix)
        return isMisnamed && DatabaseFile.kind(own) == .file && (try? RunFile(path: own, readOnly: true).plan.id) == plan.id
    }

    /// What is wrong with the file's name; nil when it is right.
    var misnamed: Diagnostic? {
        guard isMisnamed else { return nil }
        let name = plan.id + DatabaseFile.suffix
        guard givenPath == path else {
            return Diagnostic(
                "this is a link to \(path), which is a copy of the run \(plan.id), or was renamed", file: givenPath,
                remedy: "Only \(name) can be sent, and counts. Remove the link.")
        }
        if isCopyNextToRun {
            return Diagnostic(
                "this file is a copy of the run \(plan.id), or was renamed", file: path,
                remedy: "Only \(name) can be sent, and counts. Remove the copy.")
        }
        // Neither an older version nor `prune` leaves a digest that could show whether the id is damaged.
        guard hasDigest, prunedAt == nil else {
            return Diagnostic(
                "this file was renamed, or is damaged: the run in it is called \(plan.id)", file: path,
                remedy: "If that run's file was \(name), restore its name. Otherwise restore this file from a backup.")
        }
        return Diagnostic(
            "this file is a copy of the run \(plan.id), or was renamed", file: path,
            remedy: "Only \(name) can be sent, and counts. Put that file back, or restore this one's name.")
    }

    /// Makes sure that this file is the one that was planned: under the run's own name, without a second name, in the folder where it was
    /// planned. A copy that could be sent would be sent twice.
    /// - Parameter home: the folder where it was planned, when that is known. It counts as long as it is there.
    /// - Throws: `Diagnostic` that says what it is instead.
    public func checkPlace(home: String?) throws {
        try checkNotReplaced()
        if let misnamed { throw misnamed }
        try checkIsNoCopy()
        let names = DatabaseFile.names(of: path)
        guard names == 1 else {
            throw Diagnostic(
                "the run file has \(names) names (hard links), and could be sent under each one", file: path,
                remedy: "Remove the other names; `\(DatabaseFile.searchForNames(of: path))` lists them.")
        }
        let folder = RunDiagnostics.folder(of: path)
        guard let home else { return }
        if DatabaseFile.kind(home) == .forbidden {
            throw Diagnostic(
                "this file was moved, or is a copy of a run that belongs in \(home), which you may not read", file: path,
                remedy: "Only the file there can be sent, by a user who may read that folder.")
        }
        if DatabaseFile.kind(home) == .folder, DatabaseFile.identity(home) != DatabaseFile.identity(folder) {
            throw Diagnostic(
                "this file was moved, or is a copy of a run that belongs in \(home)", file: path,
                remedy: "Only the file there can be sent. If that file is gone, move this one back.")
        }
    }
}

/// What is noted beside the file while a life of the run goes on: in the record of what was sent, and in the claim counter.
extension RunFile {
    /// What a life needs beside the file.
    struct NotedLife {
        let counter: ClaimCounter
        /// What must stay in its place; nil before the life is confirmed.
        var files: RequiredFiles?
    }

    /// Notes beside the runs that a life is about to begin, and makes its claim counter.
    func note(_ life: NewLife, at now: Timestamp) throws -> SendingHistory.Beginning {
        noted.withLock { $0 = nil }
        let beginning = try catalog.history.begin(plan, life, at: now)
        guard beginning == .noted else { return beginning }
        let counter = try ClaimCounter(self, life: life.life, claimed: life.claimed)
        noted.withLock { $0 = NotedLife(counter: counter) }
        return .noted
    }

    /// Notes beside the runs that the file has the life. From then on all that it needs must stay in its place.
    func confirm(givenUp: Set<String>) throws -> Bool {
        guard try catalog.history.confirm(plan.id, givenUp: givenUp) else { return false }
        let files = RequiredFiles(self)
        noted.withLock { $0?.files = files }
        return true
    }

    /// Notes in the claim counter how many claims were made; where no life was noted, there is none.
    func note(claimed: Int) throws {
        try noted.withLock { $0?.counter }?.note(claimed)
    }

    /// Notes beside the runs how far the run is; its claim counter is needed no more.
    func endLife() throws {
        noted.withLock { $0 = nil }
        if try catalog.history.end(self, life: ownLife.withLock { $0 }) { ClaimCounter.remove(path) }
    }

    /// Looks whether the files are in their place, and puts the lock's back where it was removed.
    public func loss(during activity: RunActivity) -> LedgerStop? {
        guard isInPlace else { return .fileLost(place, during: activity) }
        if let missing = noted.withLock({ $0?.files })?.missing { return .accountFileLost(missing, during: activity) }
        do { try keepLock() } catch { return .lockLost("\(error)", during: activity) }
        return nil
    }
}

/// What other processes ask for: a state that they record, and that the one which sends the run looks at.
extension RunFile {
    /// Records the state that is wanted.
    func give(_ order: RunOrder, at now: Timestamp) throws {
        guard isBeingSent else {
            throw Diagnostic(
                "no process is sending this run", file: path, remedy: "`volley report \(plan.id)` shows its outcome.",
                [.readReport(run: plan.id)])
        }
        try record(order.state, cause: order == .cancel ? .cancelled : nil, at: now, from: order.expected)
    }
}
