@testable import PostgresRuns

/// Recipients in a row; `redo` counts how often they were given back after they had been claimed.
struct Stretch: Hashable {
    var range: Range<Int>
    var redo = 0

    /// Takes up to so many from the front.
    mutating func take(_ most: Int) -> Stretch {
        let part = range.prefix(most)
        range = part.upperBound..<range.upperBound
        return Stretch(range: part, redo: redo)
    }
}

/// The tables that members share, as transactions leave them. A standby is a copy of this.
struct SharedTables {
    enum State { case sending, paused, cancelled, stopped, ended }

    /// The row of a member: its fence, and what is derived from its leases and its journal.
    struct Row {
        /// False for one whose joining was forgotten.
        var exists = true
        var beat: Int64 = 0
        var isDead = false
        /// It can tell what is missing in the next life of the database.
        var isWitness = false
        /// It has said, after a cancel, that it has nothing in hand.
        var isDone = false
        /// Leases minus claims.
        var open: [Stretch] = []
        /// Claims without an outcome.
        var outstanding: [(id: Int, redo: Int)] = []
        var claims = WrittenNumbers(), records = WrittenNumbers()

        /// What `CommitMemory` compares.
        var entries: CommitMemory.Row { .init(claims: claims.last, outcomes: records.last, isDead: isDead) }
    }

    let audience: Int
    var next = 0
    var returned: [Stretch] = []
    var rows: [Row] = []
    var parts: PaceParts
    var state = State.sending
    /// Raised with each change of the run's own row.
    var version: Int64 = 1
    /// Entries that are missing, as a member has said.
    var missing: Int64 = 0
    /// The run was stopped as nobody could say whether entries are missing.
    var isUnwitnessed = false
    /// Claimed by members of a former life of the run, until they are settled.
    var former: Range<Int>
    var canary: Int?, conductor: Int?
    var isCanaryOver: Bool
    var ends = 0
    /// For each recipient.
    var claimed: [Int8], settled: [Int8], recordedAccepted: [Bool], unknown: [Bool]
    var settledCount = 0, answered = 0

    init(audience: Int, pace: Int, former: Int, hasCanary: Bool) {
        self.audience = audience
        parts = PaceParts(pace: pace)
        self.former = 0..<former
        next = former
        isCanaryOver = !hasCanary
        claimed = (0..<audience).map { $0 < former ? 0 : -1 }
        settled = Array(repeating: 0, count: audience)
        recordedAccepted = Array(repeating: false, count: audience)
        unknown = recordedAccepted
    }

    var hasSettledAll: Bool { settledCount >= audience && next == audience && returned.isEmpty }

    func entries(of member: Int) -> CommitMemory.Row? { member < rows.count && rows[member].exists ? rows[member].entries : nil }
    /// How many members could say what is missing.
    var livingWitnesses: Int { rows.count { $0.exists && !$0.isDead && $0.isWitness } }

    func lives(_ member: Int) -> Bool { member < rows.count && rows[member].exists && !rows[member].isDead }
}

/// The numbers under which a thread of a member has written: without gaps, unless a rule is broken.
struct WrittenNumbers {
    private(set) var last: Int64 = 0
    private var holes: Set<Int64> = []

    /// Whether the entry is new; false if it is there already.
    mutating func write(_ number: Int64) -> Bool {
        if number <= last { return holes.remove(number) != nil }
        if number > last + 1 { holes.formUnion(last + 1..<number) }
        last = number
        return true
    }

    func contains(_ number: Int64) -> Bool { number <= last && !holes.contains(number) }
}
