public import Base

/// What a plan freezes about a run, beside its recipients. Secrets never enter it.
public struct RunPlan: Sendable, Hashable {
    /// `20261201-090000-spring-sale-7f3a`
    public var id: String
    /// The campaign's name.
    public var campaign: String
    /// The app's name.
    public var app: String
    /// The campaign file's path and text.
    public var campaignFile: String, campaignSource: String
    /// volley.yaml's path: where credentials are found again.
    public var projectFile: String
    /// 128 random bits behind all apns-ids.
    public var seed: RunSeed
    /// The columns whose cells recipients carry, in order.
    public var fields: [String]
    /// When the plan was made.
    public var plannedAt: Timestamp
    /// Equal for equal campaign, export and rules.
    public var planHash: String
    /// Rows read.
    public var rows: Int
    /// Recipients: ids are 0 ..< audience.
    public var audience: Int
    /// Rows by skip reason.
    public var skipped: [SkipReason: Int]
    /// The preview as JSON, so that a report can show what was promised.
    public var preview: JSONValue

    /// A plan.
    public init(
        id: String, campaign: String, app: String, campaignFile: String, campaignSource: String, projectFile: String, seed: RunSeed,
        fields: [String], plannedAt: Timestamp, planHash: String, rows: Int, audience: Int, skipped: [SkipReason: Int], preview: JSONValue
    ) {
        self.id = id
        self.campaign = campaign
        self.app = app
        self.campaignFile = campaignFile
        self.campaignSource = campaignSource
        self.projectFile = projectFile
        self.seed = seed
        self.fields = fields
        self.plannedAt = plannedAt
        self.planHash = planHash
        self.rows = rows
        self.audience = audience
        self.skipped = skipped
        self.preview = preview
    }
}

/// The life of a run.
public enum RunState: String, CaseIterable, Hashable, Sendable {
    case planned, running, paused, stopped, finished, cancelled
}

/// Writes a new run file. Until `finish` the file carries a name that no command takes for a run; a writer that is dropped
/// without `finish` removes it.
public final class RunWriter {
    /// - Parameter folder: the folder of runs; made when missing.
    /// - Throws: `Diagnostic`: the folder cannot be written, the disk is full.
    public init(folder: String, id: String) throws { fatalError("skeleton") }
    /// Stores the recipient of a slot; a slot may be stored again, which replaces it.
    public func put(_ recipient: Recipient, at slot: Int) throws { fatalError("skeleton") }
    /// Takes slots out again and closes the gaps, so that ids are dense: 0 ..< (slots − dropped).
    public func drop(_ dropped: [Int], of slots: Int) throws { fatalError("skeleton") }
    /// Stores the plan, makes everything durable, and gives the file its name.
    public func finish(_ plan: RunPlan) throws -> RunStore { fatalError("skeleton") }
}

/// A run file: one SQLite database that holds the whole truth about a run. May be used from several threads.
public final class RunStore: Sendable {
    /// The file.
    public let path: String
    /// What was frozen when the run was planned.
    public let plan: RunPlan

    /// Opens a run file.
    /// - Throws: `Diagnostic`: missing, not a run file, damaged, of a newer version.
    public init(path: String, readOnly: Bool = false) throws { fatalError("skeleton") }

    /// All run files of a folder, oldest first, and those that could not be opened.
    public static func all(in folder: String) throws -> (runs: [RunStore], broken: [Diagnostic]) { fatalError("skeleton") }

    /// The state, its reason (why it stopped, "" else), when sending began and ended.
    public func status() throws -> RunStatus { fatalError("skeleton") }
    /// Records a state. `running` sets the start when there is none yet; `stopped`, `finished` and `cancelled` set the end.
    public func setState(_ state: RunState, reason: String, at now: Timestamp) throws { fatalError("skeleton") }

    /// Recipients with ids in `range`, in order.
    public func recipients(_ range: Range<Int>) throws -> [Recipient] { fatalError("skeleton") }
    /// Commits the claim for a range. Must return before any of its recipients goes onto the wire.
    public func claim(_ range: Range<Int>, at now: Timestamp) throws { fatalError("skeleton") }
    /// Records outcomes in one transaction. A recipient recorded twice is an error, except that `unsent` may be replaced.
    public func record(_ settlements: [Settlement]) throws { fatalError("skeleton") }

    /// The first id outside all claims.
    public func firstUnclaimed() throws -> Int { fatalError("skeleton") }
    /// The figures of the report.
    public func figures() throws -> RunFigures { fatalError("skeleton") }
    /// Calls `body` for every recipient in id order, in constant memory; nil where no outcome is recorded, with whether it was claimed.
    public func forEachResult(_ body: (_ id: Int, _ recipient: Recipient, _ outcome: Settlement?, _ isClaimed: Bool) throws -> Void) throws {
        fatalError("skeleton")
    }
}

/// Where a run stands.
public struct RunStatus: Hashable, Sendable {
    /// The state.
    public var state: RunState
    /// Why it stopped; empty otherwise.
    public var reason: String
    /// When sending began.
    public var startedAt: Timestamp?
    /// When it ended.
    public var finishedAt: Timestamp?

    /// A status.
    public init(state: RunState, reason: String, startedAt: Timestamp?, finishedAt: Timestamp?) {
        self.state = state
        self.reason = reason
        self.startedAt = startedAt
        self.finishedAt = finishedAt
    }
}

/// A run in figures. The sum of `outcomes` equals the plan's audience: claimed recipients without outcome count as unknown, unclaimed ones as unsent.
public struct RunFigures: Hashable, Sendable {
    /// Recipients by outcome; every outcome is present.
    public var outcomes: [Outcome: Int] = [:]
    /// Recipients by reason, for those that have one.
    public var reasons: [String: Int] = [:]
    /// Pushes handed to the wire.
    public var attempts = 0
    /// Settled recipients in the busiest second of the clock.
    public var peakPerSecond = 0
    /// Answers' latency in milliseconds; nil without answers.
    public var latency: LatencyFigures?

    /// No figures.
    public init() {}
}

/// Latency in milliseconds.
public struct LatencyFigures: Hashable, Sendable {
    /// Percentiles (nearest rank) and the maximum.
    public var p50: Int, p90: Int, p99: Int, max: Int

    /// Latency figures.
    public init(p50: Int, p90: Int, p99: Int, max: Int) {
        self.p50 = p50
        self.p90 = p90
        self.p99 = p99
        self.max = max
    }
}
