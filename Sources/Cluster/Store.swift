public import Base
public import Postgres
package import Runs
import Synchronization

/// The database through which several machines send runs. Any thread may use it; each purpose has a
/// connection of its own (`StoreConnection`).
public final class Store: Sendable {
    let address: PostgresAddress
    let retryDeadline: StoreRetryDeadline
    /// For looks at what is in it.
    let looking: StoreConnection

    /// The store at an address, whose tables are there.
    /// - Parameters:
    ///   - asked: a person's request to end, after which the database is waited for some seconds
    ///     more; nil if no person can ask.
    ///   - isPatient: whether it is waited for already if it is away now.
    ///   - tell: told why the store does not answer, now and then, and nil once it does. Without it
    ///     that is not shown, and the store is waited for ten seconds only.
    /// - Throws: a `Diagnostic`: it cannot be reached, or its tables are missing or of another
    ///   version.
    public static func open(
        _ address: PostgresAddress, asked: Cancellation?, isPatient: Bool = false,
        tell: (@Sendable (Diagnostic?) -> Void)? = nil
    ) throws -> Store {
        let store = try Store(address, StoreRetryDeadline(asked, tell: tell))
        let storeConnection = store.storeConnection()
        try StoreError.explaining {
            if isPatient {
                try storeConnection.retrying { try StoreSchema.check($0) }
            } else {
                try storeConnection.once { try StoreSchema.check($0) }
            }
        }
        return store
    }

    init(_ address: PostgresAddress, _ retryDeadline: StoreRetryDeadline) {
        (self.address, self.retryDeadline) = (address, retryDeadline)
        looking = StoreConnection(address, retryDeadline)
    }

    /// Whether the store was away for so long, after a person had requested the end, that it was
    /// waited for no longer: what it does not know then is not known there.
    package var isGivenUp: Bool { retryDeadline.isOver() }

    /// A connection that is opened when it is first needed.
    func storeConnection(answerSeconds: Double = StoreConnection.usualAnswerSeconds) -> StoreConnection {
        StoreConnection(address, retryDeadline, answerSeconds: answerSeconds)
    }
}

/// What the store does not give, though it answers.
package enum StoreRefusal: ExplainedError, Hashable {
    /// Some of these recipients are claimed already: the database holds claims apart.
    case claimedAlready(Range<Int>)
    /// A run was to begin, and another one of its campaign has begun or continued since its gate
    /// looked.
    case isOvertaken(BegunAtOnce)
    /// It has just come up, and may have forgotten which run has a time (`FiringBarrier`).
    case quiet

    package var diagnostics: [Diagnostic] {
        switch self {
        case .claimedAlready(let ids):
            return [
                Diagnostic(
                    "the account of this run does not add up: some of the recipients \(ids.lowerBound) to \(ids.upperBound - 1) are claimed already",
                    remedy: "Nothing more is sent. Please report this.")
            ]
        case .isOvertaken(let runs):
            return [
                Diagnostic(
                    "another machine began or continued \(TextFormat.foreign(runs.other)), a run of '\(runs.campaign)', at the same moment; "
                        + "nothing was sent",
                    remedy: "`volley resume \(runs.run)` sends this one, if it may still be sent then.",
                    [.resume(run: runs.run)])
            ]
        case .quiet:
            let seconds = Int(FiringBarrier.quietSeconds)
            return [
                Diagnostic(
                    "the store has just come up: in its first \(seconds) seconds machines write there again which times they have sent; "
                        + "nothing was sent", remedy: "Try again in \(seconds) seconds.")
            ]
        }
    }
}

/// Of two runs of a campaign that were to begin at the same moment, the one that did not, and the
/// other.
package struct BegunAtOnce: Hashable, Sendable { let run: String, campaign: String, other: String }

extension Store {
    /// Runs of some apps that are being sent, or are paused, the oldest first, by their ids. To be
    /// called again and again, also while the store is away.
    /// - Throws: `Diagnostic`: the store cannot be queried.
    package func runsToSend(ofApps apps: [String]) throws -> [String] {
        var runs: [String] = []
        try StoreError.explaining {
            try looking.once(isRepeated: true) { connection in
                try connection.run(
                    "SELECT id, app FROM volley_run WHERE is_published AND state IN ('running', 'paused') ORDER BY number",
                    within: looking.answerSeconds
                ) { cells in if apps.contains(cells.text(1)) { runs.append(cells.text(0)) } }
            }
        }
        return runs
    }

    /// Gives an order to the workers that send a run, from a machine that need not have its file.
    /// - Parameter now: of the store's clock.
    /// - Returns: false if the store has no such run.
    /// - Throws: `Diagnostic`: no process sends it, or its state does not allow the order; the
    ///   store cannot be queried.
    package func give(_ order: RunOrder, toRun id: String, in catalog: RunsFolder, at now: Timestamp) throws -> Bool {
        let isThere = try StoreError.explaining { try looking.once { try Self.find(id, $0)?.isPublished ?? false } }
        guard isThere else { return false }
        try open(id, in: catalog).append(.ordered(order, at: now))
        return true
    }

    /// Whether workers send a run, or have paused it.
    /// - Throws: `Diagnostic`: the store cannot be queried.
    package func isBeingSent(_ id: String) throws -> Bool {
        var isBeingSent = false
        try StoreError.explaining {
            try looking.once { connection in
                try connection.run(
                    """
                    SELECT 1 FROM volley_run r WHERE r.id = $1 AND r.state IN ('running', 'paused')
                        AND EXISTS (SELECT 1 FROM volley_sender s WHERE s.run = r.number AND s.dead_at IS NULL)
                    """, [.text(id)], within: looking.answerSeconds
                ) { _ in isBeingSent = true }
            }
        }
        return isBeingSent
    }

    /// The database's clock minus this machine's, in seconds.
    /// - Throws: `Diagnostic`: the store cannot be queried.
    package func clockOffsetSeconds() throws -> Double {
        try StoreError.explaining {
            try looking.once { try Self.clockOffsetSeconds($0, within: looking.answerSeconds) }
        }
    }

    static func clockOffsetSeconds(_ connection: PostgresConnection, within answerSeconds: Double) throws -> Double {
        var milliseconds = 0
        let before = Timestamp.now()
        try connection.run("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint", within: answerSeconds) {
            milliseconds = $0.int(0)
        }
        let middle = (before.epochMilliseconds + Timestamp.now().epochMilliseconds) / 2
        return Double(Int64(milliseconds) - middle) / 1000
    }

    /// Whether it has a run, published or not.
    package func holds(_ id: String) throws -> Bool {
        try StoreError.explaining { try looking.retrying { try Self.find(id, $0) != nil } }
    }
}

/// What people read when the store cannot be used.
enum StoreError {
    /// Explains errors of the connection.
    @discardableResult
    static func explaining<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as PostgresError { throw explained(error) }
    }

    static func explained(_ error: PostgresError) -> Diagnostic {
        let what =
            switch error.cause {
            case .address: error.message
            case .unreachable: "the store cannot be reached: \(TextFormat.foreign(error.message, maximumBytes: 500))"
            case .lost, .late: "the store gave no answer: \(TextFormat.foreign(error.message, maximumBytes: 500))"
            case .refused:
                "the store refuses what Volley asks of it: \(TextFormat.foreign(error.message, maximumBytes: 500))"
            }
        return Diagnostic(what, remedy: remedy(error.sqlState) ?? error.remedy ?? usualRemedy)
    }

    private static let usualRemedy = "Look at the database's log; `volley store check` says what Volley finds there."

    /// SQLSTATEs: appendix A of PostgreSQL's manual. The server's own hints are for its
    /// administrators.
    private static func remedy(_ state: String?) -> String? {
        switch state {
        case "42501": "Give the role its rights: `volley store check` says which are missing."
        case "42P01", "42703": "Its tables are missing, or of another version: run `volley store migrate`."
        case "25006":
            "This server is a standby, or read-only: let the address lead to the primary, for example with target_session_attrs=read-write."
        case "53100": "Its disk is full: make room there."
        case "53200": "The database's machine has no memory left: give it more, or end other work there."
        case "53300": "It has too many connections: allow more (max_connections); each process that sends needs four."
        case "55P03", "57014":
            "Another session of the database holds what Volley needs: `pg_locks` and `pg_stat_activity` show which."
        case "57P01", "57P02", "57P03": "The database is shutting down, or coming up: wait, or start it."
        default: nil
        }
    }
}

extension PostgresRow {
    /// The ids of recipients from the first to the one before the last.
    /// - Throws: a `Diagnostic` for what no run can have: the database was damaged or edited.
    func ids(_ first: Int, _ last: Int) throws(Diagnostic) -> Range<Int> {
        let (first, last) = (int(first), int(last))
        guard first >= 0, first <= last, last <= Int(UInt32.max) else {
            throw StoreError.damaged("the ids of some recipients")
        }
        return first..<last
    }

    /// How many of something.
    /// - Throws: a `Diagnostic` for a number below 0, or beyond all that Volley counts.
    func count(_ column: Int) throws(Diagnostic) -> Int {
        let count = int(column)
        guard (0...1 << 40).contains(count) else { throw StoreError.damaged("a count") }
        return count
    }

    /// A moment, stored as milliseconds since 1970; nil for NULL.
    /// - Throws: a `Diagnostic` for one outside the years 1 to 9999.
    func optionalMoment(_ column: Int) throws(Diagnostic) -> Timestamp? {
        guard let moment = optionalInt(column) else { return nil }
        guard (-62_135_596_800_000...253_402_300_799_999).contains(moment) else { throw StoreError.damaged("a moment") }
        return Timestamp(epochMilliseconds: Int64(moment))
    }
}

extension StoreError {
    /// A value of a row is not what it should be; it is not shown.
    /// - Parameter run: the id of the run that the row is about, if it is known.
    static func damaged(_ what: String, ofRun run: String? = nil) -> Diagnostic {
        let way =
            run.map {
                " If it is no longer needed there, `volley store remove \(TextFormat.foreign($0)) --force` removes it."
            } ?? ""
        return Diagnostic(
            "the store is damaged: \(what)\(run.map { " of the run \(TextFormat.foreign($0))" } ?? "") cannot be right",
            remedy:
                "Nothing more is sent of this run. Restore the database from a backup, and look for what else writes to it.\(way)"
        )
    }

    /// Opens what the store has of a run's plan.
    /// - Parameter folder: where it is kept while it is read.
    /// - Throws: `Diagnostic`: it is damaged there, or cannot be kept.
    static func bareFile(_ bytes: [UInt8], of run: String, in folder: ScratchFolder) throws -> RunFile {
        do { return try RunFile(bare: bytes, of: run, in: folder) } catch is Mistake {
            throw damaged("the plan", ofRun: run)
        }
    }
}

/// How long to wait for a store that is away, and the observer of the wait (`StoreOutage`). What
/// was sent must be recorded, so the wait has no limit if it is shown; but once a person has
/// requested the end, it lasts only some seconds more.
final class StoreRetryDeadline: Sendable {
    private let asked: Cancellation?
    private let tell: (@Sendable (Diagnostic?) -> Void)?
    /// Never requested: what is asked of the database is not cut short at once by a person's
    /// Ctrl-C.
    let none: Cancellation
    private let trouble: Mutex<StoreOutage>
    private let silenceSeconds: Double
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - asked: a person's request to end.
    ///   - limits: how long what takes.
    ///   - tell: told why the store does not answer, now and then, and nil once it does.
    /// - Throws: a `Diagnostic` if no more files can be opened.
    init(
        _ asked: Cancellation?, limits: StoreOutage.Limits = .init(), tell: (@Sendable (Diagnostic?) -> Void)? = nil
    ) throws(Diagnostic) {
        (self.asked, self.tell, silenceSeconds) = (asked, tell, limits.silence)
        trouble = Mutex(StoreOutage(limits))
        none = try Cancellation()
    }

    /// Whether a person requested the end.
    var isAsked: Bool { asked?.isRequested ?? false }

    /// Waits until a person requests the end.
    func rest(atMost seconds: Double) { (asked ?? none).waitForRequest(atMost: seconds) }

    /// Waits before the next try.
    func pause(milliseconds: Int) { _ = none.wait(milliseconds: milliseconds) }

    /// Seconds since this was made.
    var seconds: Double { (.now - start) / .seconds(1) }

    // MARK: - What connections find

    /// - Throws: `PostgresError` if nothing is tried any more.
    func admit() throws {
        let now = seconds
        if let why = trouble.withLock({ $0.isClosed(at: now) ? $0.why ?? Self.silence : nil }) { throw why }
    }

    /// A connection was answered, or is used no more.
    func answered(_ storeConnection: ObjectIdentifier) { pass(trouble.withLock { $0.answered(storeConnection) }) }

    /// A connection was not answered, and tries again.
    func failed(_ storeConnection: ObjectIdentifier, _ error: PostgresError) {
        let now = seconds
        pass(trouble.withLock { $0.failed(storeConnection, error, since: now, at: now) })
    }

    private static let silence = PostgresError(.late, "the server did not answer in time")

    /// A connection waits for an answer. Where that is not shown, the limit of each statement
    /// counts instead, unless a person requests the end.
    /// - Throws: `PostgresError` once it is waited for no longer.
    func waits(_ storeConnection: ObjectIdentifier, silentSeconds: Double) throws {
        guard silentSeconds >= silenceSeconds, tell != nil || isAsked else { return }
        let now = seconds
        pass(trouble.withLock { $0.failed(storeConnection, Self.silence, since: now - silentSeconds, at: now) })
        if isOver() { throw Self.silence }
    }

    private func pass(_ news: StoreOutage.News?) {
        switch news {
        case .isAway(let error): tell?(StoreError.explained(error))
        case .isBack: tell?(nil)
        case nil: break
        }
    }

    // MARK: - Whether it is waited for

    /// Whether the store is waited for no longer: what follows gets a moment in all
    /// (`StoreOutage.Limits`).
    func isOver() -> Bool {
        let now = seconds, isAsked = isAsked
        return trouble.withLock { $0.isOver(isAsked: isAsked, isHeard: tell != nil, at: now) }
    }

    /// Whether a wait for others, which began at a moment (`seconds`), is over as a person has
    /// requested the end.
    func isSpent(since moment: Double) -> Bool {
        let now = seconds, isAsked = isAsked
        return trouble.withLock { $0.isSpent(since: moment, isAsked: isAsked, at: now) }
    }

    /// Whether some connection is in trouble.
    var isTroubled: Bool { trouble.withLock { $0.why != nil } }
}
