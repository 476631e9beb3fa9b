/// Who has confirmed that a database which came up again has forgotten nothing. Until all have, nobody leases, claims or hands over anything.
///
/// The database keeps this in a table that is not logged (`CREATE UNLOGGED TABLE`): it is empty after a crash, on a standby that took over and after a backup of
/// a running server was brought back, and that is exactly when acknowledged commits may be missing. A copy of a server that was shut down, and a dump, hold its
/// rows as well, so a row counts only on the start of the server, in the database and from the transaction that wrote it (`DatabaseEpoch`); an orderly restart
/// begins an epoch, too. So a *epoch* of the database needs no number of a timeline, which not every server tells, and no right that an ordinary role lacks. This is
/// that table as a value; the statements that lease, claim and give back carry the same condition.
///
/// Those who are there when a database comes up again need not know anything: who joins after a backup was brought back has nothing to compare. So an epoch also
/// needs a **survivor**: a worker of an epoch that had a survivor itself (or of the epoch in which the run was published) that has compared. While there is none,
/// nothing goes on; when nobody is left who could be one, the run stops. Who joins in an epoch that no survivor has confirmed is no survivor, before one has.
///
/// A worker confirms an epoch with the beat *after* the one whose answer it has compared (`CommitMemory`). Who never does is declared dead after half a minute.
/// What it had leased counts as unknown then, as its claims may have been forgotten. Who is not even known, because it joined in what was forgotten, has
/// confirmed or fallen silent once `quietSeconds` have passed: its last beat was before this epoch.
///
/// What remains, and no rule of the database's can prevent: recipients that were leased *and* claimed in what was forgotten, by a worker that does not come
/// back, or cannot say what it misses, before the others go on, are leased again if a survivor is left and no beat of one has seen any of these entries. Two
/// databases that both take commits (a former primary that nobody has fenced) are beyond this.
struct RecoveryBarrier {
    /// From the first beat of an epoch until anybody goes on, seconds: by then the gate of everybody who was not heard of is closed, and its last second of pace is
    /// over.
    static let quietSeconds = SubmissionGate.longestAgeSeconds + 1

    /// Nil until anybody has looked.
    private(set) var epoch: Int64?
    private(set) var present: Set<String> = []
    /// Whether a survivor has confirmed the epoch.
    private(set) var isSurvivorConfirmed = false
    private var quietUntil = -Double.infinity

    /// Nobody has looked since the database came up.
    init() {}

    /// The epoch in which the run was published: nothing can have been forgotten before.
    init(publishedIn epoch: Int64) { (self.epoch, isSurvivorConfirmed) = (epoch, true) }

    /// A beat looks at the epoch, and begins one if there is none.
    /// - Parameters:
    ///   - new: the epoch that begins then; random.
    ///   - now: by the database's clock; seconds.
    mutating func look(new: Int64, at now: Double) -> Int64 {
        if let epoch { return epoch }
        (epoch, quietUntil) = (new, now + Self.quietSeconds)
        return new
    }

    /// A worker has found nothing missing in an epoch. One of another epoch says nothing about this one.
    /// - Parameter isSurvivor: whether it was a survivor of an epoch before.
    mutating func confirm(_ worker: String, epoch: Int64, isSurvivor: Bool) {
        guard epoch == self.epoch else { return }
        present.insert(worker)
        if isSurvivor { isSurvivorConfirmed = true }
    }

    /// A worker joins: it has nothing that could be missing. It is a survivor from now on if a survivor has confirmed the epoch before it.
    mutating func join(_ worker: String) { present.insert(worker) }

    /// Whether work may go on.
    /// - Parameter living: the workers that are not on record as dead.
    func isOver(living: some Sequence<String>, at now: Double) -> Bool {
        epoch != nil && isSurvivorConfirmed && now >= quietUntil && living.allSatisfy(present.contains)
    }

    /// Whether nobody is left who could confirm the epoch.
    /// - Parameter survivors: how many workers were survivors of an epoch before, and are not on record as dead.
    func lacksSurvivors(_ survivors: Int, at now: Double) -> Bool {
        epoch != nil && !isSurvivorConfirmed && now >= quietUntil && survivors == 0
    }
}
