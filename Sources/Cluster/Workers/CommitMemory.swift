/// Whether the database has forgotten what it had acknowledged: a standby that took over and
/// lagged, a backup that was brought back, a crash without `synchronous_commit`.
///
/// A worker remembers which of its own entries were acknowledged, and sees with each beat which
/// entries the others have. A worker that saw more than there is now is a survivor. So a forgotten
/// entry stays unnoticed only if its writer is gone and no beat of another worker saw it: entries
/// written within the last second by workers that never come back. A value.
///
/// Two hazards. Numbers are compared with what was known when the beat *began*: what was
/// acknowledged while it was under way need not be in its answer. And each of a worker's threads
/// that write is compared by itself: in a sum, a claim whose acknowledgement was lost hides
/// outcomes that were forgotten.
struct CommitMemory {
    /// What the database has of one worker: the last number of each of its threads, which number
    /// without gaps.
    struct Row: Hashable {
        var claims: Int64 = 0
        var outcomes: Int64 = 0
        /// Declared dead, or gone in an orderly way.
        var isDead = false

        /// How many entries of this are missing in what the database has now; a death that was
        /// forgotten counts as one, and so does the row itself.
        func missing(in now: Row?) -> Int64 {
            guard let now else { return 1 + claims + outcomes }
            return max(0, claims - now.claims) + max(0, outcomes - now.outcomes) + (isDead && !now.isDead ? 1 : 0)
        }
    }

    private var known: [String: Row] = [:]
    private var changes: Int64 = 0

    /// Of a worker that has seen nothing yet.
    init() {}

    /// Of a worker that has a run's file: what the file has taken over was there.
    /// - Parameter known: by workers.
    init(known: [String: Row]) { self.known = known }

    /// A beat begins. It sends the same numbers to the database, which also compares and stops the
    /// run in the same transaction: the answer may never arrive.
    /// - Parameter row: of this worker, as acknowledged until now.
    mutating func beatBegins(of worker: String, acknowledged row: Row) {
        let seen = known[worker] ?? row
        known[worker] = Row(
            claims: max(row.claims, seen.claims), outcomes: max(row.outcomes, seen.outcomes), isDead: seen.isDead)
    }

    /// Takes what a beat's answer says.
    /// - Parameters:
    ///   - rows: of all workers, the dead ones and this one included.
    ///   - changes: of the run's own row: orders, the end of the canary, the end.
    /// - Returns: how many entries are missing, for all that this worker can know; 0 for none.
    mutating func look(at rows: [String: Row], changes: Int64) -> Int64 {
        let missing = max(0, self.changes - changes) + missing(in: rows)
        if missing == 0 { (known, self.changes) = (rows, changes) }
        return missing
    }

    /// How many entries of workers are missing.
    func missing(in rows: [String: Row]) -> Int64 { known.reduce(0) { $0 + $1.value.missing(in: rows[$1.key]) } }
}
