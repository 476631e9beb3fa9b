/// Records which workers have confirmed that a database which came up again has forgotten nothing.
/// Until all have, no worker leases, claims or hands over anything.
///
/// The database keeps this in a table that is not logged (`CREATE UNLOGGED TABLE`). The table is
/// empty after a crash, on a standby that took over and after a backup of a running server was
/// restored: exactly when acknowledged commits may be missing. A copy of a server that was shut
/// down, and a dump, also hold its rows, so a row counts only since the start of the server, in the
/// database and from the transaction that wrote it (`DatabaseEpoch`); an orderly restart also
/// begins an epoch. So an *epoch* of the database needs no timeline number, which some servers do
/// not show, and no right that an ordinary role lacks. This is that table as a value; the
/// statements that lease, claim and give back carry the same condition.
///
/// The workers that are there when a database comes up again may have nothing to compare: they may
/// have joined after a backup was restored. So an epoch also needs a **survivor**: a worker of an
/// epoch that had a survivor itself (or of the epoch in which the run was published) that has
/// compared. Without one, nothing continues; when no worker is left that could be one, the run
/// stops. A worker that joins an epoch before a survivor has confirmed it is no survivor.
///
/// A worker confirms an epoch with the beat *after* the one whose answer it has compared
/// (`CommitMemory`). A worker that never does is declared dead after half a minute. What it had
/// leased then counts as unknown, as its claims may have been forgotten. A worker whose joining was
/// itself forgotten has confirmed or fallen silent once `quietSeconds` have passed: its last beat
/// was before this epoch.
///
/// One case remains, which no rule of the database can prevent: recipients that were leased *and*
/// claimed in what was forgotten, by a worker that does not come back, or cannot say what it
/// misses, before the others continue. They are leased again if a survivor is left and no beat of
/// one has seen any of these entries. Two databases that both take commits (a former primary that
/// was not fenced) are out of scope.
struct RecoveryBarrier {
    /// From the first beat of an epoch until work continues; seconds. By then the gate of each
    /// worker without a beat is closed, and its last second of pace is over.
    static let quietSeconds = SubmissionGate.longestAgeSeconds + 1

    /// Nil until the first look.
    private(set) var epoch: Int64?
    private(set) var present: Set<String> = []
    /// Whether a survivor has confirmed the epoch.
    private(set) var isSurvivorConfirmed = false
    private var quietUntil = -Double.infinity

    /// No worker has looked since the database came up.
    init() {}

    /// The epoch in which the run was published: nothing can have been forgotten before.
    init(publishedIn epoch: Int64) { (self.epoch, isSurvivorConfirmed) = (epoch, true) }

    /// A beat looks at the epoch, and begins one if the database has none.
    /// - Parameters:
    ///   - new: the epoch that begins then; random.
    ///   - now: by the database's clock; seconds.
    mutating func look(new: Int64, at now: Double) -> Int64 {
        if let epoch { return epoch }
        (epoch, quietUntil) = (new, now + Self.quietSeconds)
        return new
    }

    /// A worker has found nothing missing in an epoch. One of another epoch says nothing about this
    /// one.
    /// - Parameter isSurvivor: whether it was a survivor of an epoch before.
    mutating func confirm(_ worker: String, epoch: Int64, isSurvivor: Bool) {
        guard epoch == self.epoch else { return }
        present.insert(worker)
        if isSurvivor { isSurvivorConfirmed = true }
    }

    /// A worker joins: it has nothing that could be missing. It is a survivor from now on if a
    /// survivor has confirmed the epoch before it.
    mutating func join(_ worker: String) { present.insert(worker) }

    /// Whether work may continue.
    /// - Parameter living: the workers that are not on record as dead.
    func isOver(living: some Sequence<String>, at now: Double) -> Bool {
        epoch != nil && isSurvivorConfirmed && now >= quietUntil && living.allSatisfy(present.contains)
    }

    /// Whether no worker is left that could confirm the epoch.
    /// - Parameter survivors: how many workers were survivors of an epoch before, and are not on
    ///   record as dead.
    func lacksSurvivors(_ survivors: Int, at now: Double) -> Bool {
        epoch != nil && !isSurvivorConfirmed && now >= quietUntil && survivors == 0
    }
}

/// Whether a `volley schedule` may find times due: only once all of them have written again, after
/// the database came up, which times they have begun.
///
/// A database that comes up again may have forgotten that a time was begun (`RecoveryBarrier`): a
/// standby that lagged, a backup that was brought back. Another service would find that time due
/// within `late`, and send the campaign a second time. But each service has a record of its own
/// (schedule.sqlite). So in a new epoch of the database, and whenever it joins, it writes again
/// what its record says of the times that schedules look back to; and no service finds a time due,
/// or begins one that the database does not have, before the epoch is old enough that services that
/// have not written yet count as silent. A value; the statement that claims a time carries the same
/// condition.
///
/// What remains: times that were begun by a service that is away for longer than that, and were
/// forgotten.
struct FiringBarrier {
    /// From the first look of an epoch until times may be found due; seconds.
    static let quietSeconds = WorkerWatch.silenceSeconds

    /// A service as it has joined, in one epoch of the database. In another one it writes
    /// everything again.
    struct JoinedService: Hashable, Sendable {
        /// The service's number, which changes whenever it joins.
        var service: Int
        var epoch: Int
    }

    private var standing: JoinedService?
    private var isQuiet = true
    private var written: JoinedService?

    /// A beat succeeded.
    /// - Parameter isQuiet: whether the database says that times may not be found due yet.
    mutating func beat(_ standing: JoinedService, isQuiet: Bool) { (self.standing, self.isQuiet) = (standing, isQuiet) }

    /// The database cannot be queried, or has declared this service dead.
    mutating func isLost() { standing = nil }

    /// As what this service has to write its record again; nil if it need not, or cannot.
    var toWrite: JoinedService? { standing == written ? nil : standing }

    /// The record is written. What was written in an earlier epoch says nothing about this one.
    mutating func wrote(as standing: JoinedService) { written = standing }

    /// Whether times may be found due.
    var mayFind: Bool { standing != nil && standing == written && !isQuiet }
}
