/// Who has confirmed that a database which came up again has forgotten nothing. Until all have, nobody leases, claims or hands over anything.
///
/// The database keeps this in a table that is not logged (`CREATE UNLOGGED TABLE`): it is empty after a crash, on a standby that took over and after a backup of
/// a running server was brought back, and that is exactly when acknowledged commits may be missing. A copy of a server that was shut down, and a dump, hold its
/// rows as well, so a row counts only on the start of the server, in the database and from the transaction that wrote it (`DatabaseLife`); an orderly restart
/// begins a life, too. So a *life* of the database needs no number of a timeline, which not every server tells, and no right that an ordinary role lacks. This is
/// that table as a value; the statements that lease, claim and give back carry the same condition.
///
/// Those who are there when a database comes up again need not know anything: who joins after a backup was brought back has nothing to compare. So a life also
/// needs a **witness**: a member of a life that had a witness itself (or of the life in which the run was published) that has compared. While there is none,
/// nothing goes on; when nobody is left who could be one, the run stops. Who joins in a life that nobody has witnessed is no witness, before one has.
///
/// A member confirms a life with the beat *after* the one whose answer it has compared (`CommitMemory`). Who never does is declared dead after half a minute.
/// What it had leased counts as unknown then, as its claims may have been forgotten. Who is not even known, because it joined in what was forgotten, has
/// confirmed or fallen silent once `quietSeconds` have passed: its last beat was before this life.
///
/// What remains, and no rule of the database's can prevent: recipients that were leased *and* claimed in what was forgotten, by a member that does not come
/// back, or cannot say what it misses, before the others go on, are leased again if a witness is left and no beat of one has seen any of these entries. Two
/// databases that both take commits (a former primary that nobody has fenced) are beyond this.
struct RollCall {
    /// From the first beat of a life until anybody goes on, seconds: by then the gate of everybody who was not heard of is closed, and its last second of pace is
    /// over.
    static let quietSeconds = SubmissionGate.longestAgeSeconds + 1

    /// Nil until anybody has looked.
    private(set) var life: Int64?
    private(set) var present: Set<String> = []
    /// Whether a witness has confirmed the life.
    private(set) var isWitnessed = false
    private var quietUntil = -Double.infinity

    /// Nobody has looked since the database came up.
    init() {}

    /// The life in which the run was published: nothing can have been forgotten before.
    init(publishedIn life: Int64) { (self.life, isWitnessed) = (life, true) }

    /// A beat looks at the life, and begins one if there is none.
    /// - Parameters:
    ///   - new: the life that begins then; random.
    ///   - now: by the database's clock; seconds.
    mutating func look(new: Int64, at now: Double) -> Int64 {
        if let life { return life }
        (life, quietUntil) = (new, now + Self.quietSeconds)
        return new
    }

    /// A member has found nothing missing in a life. One of another life says nothing about this one.
    /// - Parameter isWitness: whether it was a witness of a life before.
    mutating func confirm(_ member: String, life: Int64, isWitness: Bool) {
        guard life == self.life else { return }
        present.insert(member)
        if isWitness { isWitnessed = true }
    }

    /// A member joins: it has nothing that could be missing. It is a witness from now on if somebody has witnessed the life before it.
    mutating func join(_ member: String) { present.insert(member) }

    /// Whether work may go on.
    /// - Parameter living: the members that are not on record as dead.
    func isOver(living: some Sequence<String>, at now: Double) -> Bool {
        life != nil && isWitnessed && now >= quietUntil && living.allSatisfy(present.contains)
    }

    /// Whether nobody is left who could witness the life.
    /// - Parameter witnesses: how many members were witnesses of a life before, and are not on record as dead.
    func lacksWitnesses(_ witnesses: Int, at now: Double) -> Bool { life != nil && !isWitnessed && now >= quietUntil && witnesses == 0 }
}
