@testable import Cluster

/// Recipients in a row; `redo` counts how often they were given back after they had been claimed.
struct LeasedRange: Hashable {
    var range: Range<Int>
    var redo = 0

    /// Takes up to this number from the front.
    mutating func take(_ most: Int) -> LeasedRange {
        let part = range.prefix(most)
        range = part.upperBound..<range.upperBound
        return LeasedRange(range: part, redo: redo)
    }
}

/// The tables that workers share, as transactions leave them. A standby is a copy of this.
struct SharedTables {
    enum State { case sending, paused, cancelled, stopped, ended }

    /// The row of a worker: its fence, and what is derived from its leases and its journal.
    struct Row {
        /// False for one whose joining was forgotten.
        var exists = true
        var beat: Int64 = 0
        var isDead = false
        /// It can tell what is missing in the next epoch of the database.
        var isSurvivor = false
        /// It has said, after a cancel, that it has nothing in hand.
        var isDone = false
        /// Leases minus claims.
        var open: [LeasedRange] = []
        /// Claims without an outcome.
        var outstanding: [(id: Int, redo: Int)] = []
        var claims = WrittenNumbers(), records = WrittenNumbers()

        /// What `CommitMemory` compares.
        var entries: CommitMemory.Row { .init(claims: claims.last, outcomes: records.last, isDead: isDead) }
    }

    let audience: Int
    var next = 0
    var returned: [LeasedRange] = []
    var rows: [Row] = []
    var parts: PaceParts
    var state = State.sending
    /// Raised with each change of the run's own row.
    var version: Int64 = 1
    /// Entries that are missing, as a worker has said.
    var missing: Int64 = 0
    /// The run was stopped because no worker could say whether entries are missing.
    var isUnwitnessed = false
    /// Claimed by workers of a former epoch of the run, until they are settled.
    var former: Range<Int>
    var canary: Int?, coordinator: Int?
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

    func entries(of worker: Int) -> CommitMemory.Row? {
        worker < rows.count && rows[worker].exists ? rows[worker].entries : nil
    }
    /// How many workers could say what is missing.
    var livingSurvivors: Int { rows.count { $0.exists && !$0.isDead && $0.isSurvivor } }

    func isAlive(_ worker: Int) -> Bool { worker < rows.count && rows[worker].exists && !rows[worker].isDead }
}

/// The numbers under which a thread of a worker has written: without gaps, unless a rule is broken.
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
