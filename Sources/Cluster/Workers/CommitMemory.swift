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

/// The numbers of what a worker writes into the journal: each entry has one, and is written under
/// it as often as it takes until the database has confirmed it.
///
/// When a connection is lost before the answer, it is unknown whether the entry is there, and it
/// may still arrive later. Under the same number it is there once, whichever attempt arrives. A
/// value.
struct JournalNumbers {
    /// What is known of the entry in hand.
    enum State: Hashable {
        /// None is in hand.
        case idle
        /// It was sent.
        case sent(Int64)
        /// It was sent, and its connection was lost.
        case unsure(Int64)
    }

    private(set) var state = State.idle
    /// The last number that the database has confirmed; 0 before the first.
    private(set) var confirmed: Int64 = 0

    /// Takes the number of the next entry, or of the one to write again.
    mutating func take() -> Int64 {
        switch state {
        case .idle: state = .sent(confirmed + 1)
        case .sent: preconditionFailure("an entry is in hand")
        case .unsure(let number): state = .sent(number)
        }
        return confirmed + 1
    }

    /// The database has the entry, by this attempt or by an earlier one.
    mutating func acknowledged() {
        guard case .sent(let number) = state else { preconditionFailure("no entry is in hand") }
        (state, confirmed) = (.idle, number)
    }

    /// The database did not take the entry, by this attempt or an earlier one.
    mutating func refused() { state = .idle }

    /// The connection was lost before the answer, or the answer was that the entry cannot be taken
    /// now. What follows has the same number.
    mutating func lost() {
        guard case .sent(let number) = state else { return }
        state = .unsure(number)
    }
}
