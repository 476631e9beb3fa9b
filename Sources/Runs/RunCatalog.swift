public import Base
public import PushServices

/// The runs that are kept in one place. Above this room a run is known by its id, or by the argument that a command was given for it; only the
/// catalogue knows how and where it is kept.
public protocol RunCatalog: Sendable {
    /// Where it is: plans remember it as their home, and messages name it. It is never used to open anything.
    var place: String { get }

    /// Whether there is such a place already; where there is none, there are no runs.
    var isThere: Bool { get }

    /// Where a run of it is, or would be, for messages.
    func place(of run: String) -> String

    /// Whether there is something under a run's id, readable or not.
    func holds(_ run: String) -> Bool

    /// Whether there is certainly nothing under a run's id: a place that cannot be looked into may hold it.
    func isRemoved(_ run: String) -> Bool

    /// All runs, oldest first (then by id), opened for reading; nothing stays open.
    /// - Throws: `Diagnostic`: they cannot be listed.
    func list() throws -> RunListing

    /// The runs whose marks are wanted, oldest first (then by id), opened for reading; nothing stays open. Those that cannot be opened are left out; those
    /// whose settings cannot be read are always there.
    /// - Parameters:
    ///   - campaign: nil for all campaigns.
    ///   - isWanted: may be called twice for a run.
    /// - Throws: `Diagnostic`: they cannot be listed.
    func runs(of campaign: String?, where isWanted: (RunMark) -> Bool) throws -> [any RecordedRun]

    /// The stamps of all runs by their ids, for those who remember what they read of runs.
    /// - Throws: `Diagnostic`: they cannot be listed.
    func stamps() throws -> [String: RunStamp]

    /// What keeps this user from planning and sending runs: files that it may not use; empty if nothing does.
    /// - Parameter known: what the call before found; filled by each call.
    func obstacles(_ known: inout KnownObstacles) -> [Diagnostic]

    /// Opens a run by its id.
    /// - Throws: `Diagnostic`: missing, not a run, damaged, of a newer version, not permitted.
    func open(_ run: String, readOnly: Bool) throws -> any RecordedRun

    /// Opens the run that a command's argument means: its id, `last` for the one planned last, or, where runs are files, its path.
    /// - Throws: `Diagnostic` when there is none, with the nearest id when it looks misspelt; otherwise as `open` does.
    func open(named argument: String, readOnly: Bool) throws -> any RecordedRun

    /// Begins to write a run.
    /// - Parameters:
    ///   - variants: what tells devices' variants; nil when all get the same.
    ///   - sorter: brings recipients into the order of legs; nil when all go out together through one service, in the order in which they come.
    /// - Throws: `Diagnostic`: nothing can be written there; there is a run of that id.
    func create(_ run: String, variants: VariantNames?, sorter: LegSorter?) throws -> RunWriter

    /// Makes a folder for files that last as long as one command.
    /// - Throws: `Diagnostic`: nothing can be made there.
    func scratchFolder() throws -> ScratchFolder

    /// Plans that are being written, or that a process that is gone left behind, by their ids.
    /// - Throws: `Diagnostic`: they cannot be listed.
    func unfinishedPlans() throws -> [UnfinishedPlan]

    /// What was ever begun to be sent from here.
    var history: SendingHistory { get }

    /// What became of the times of schedules whose runs are kept here.
    var schedule: ScheduleRecords { get }

    /// What people ordered in the console of the runs that are kept here.
    var orders: OrderRecords { get }

    /// The devices of an app that get no more pushes.
    /// - Parameters:
    ///   - service: says what a target looks like.
    ///   - environment: which of the app's lists: `ServiceSettings.listName`.
    func suppression(app: String, service: any PushService, environment: String) -> SuppressionList

    /// Runs of a campaign that were begun, as the record or they themselves say, or that a process is about to send, oldest first; also retries and
    /// tests. Runs that cannot be opened are skipped.
    /// - Parameter isWanted: leaves out others, as in `runs(of:where:)`.
    /// - Throws: `Diagnostic`: they cannot be listed.
    func started(of campaign: String, known: HistorySnapshot, where isWanted: (RunMark) -> Bool) throws -> [any RecordedRun]

    /// The newest runs of an app's campaign that were begun and have an audience, newest first.
    /// - Parameter limit: how many at most.
    /// - Throws: `Diagnostic`: they cannot be listed.
    func lastStarted(of campaign: String, app: String, limit: Int) throws -> [any RecordedRun]

    /// Runs of a campaign that processes are sending now, or have paused; also retries and tests.
    /// - Throws: `Diagnostic`: they cannot be listed; or it cannot be determined whether, or which, one of them is being sent.
    func sendingNow(of campaign: String) throws -> [any RecordedRun]

    /// Ids of the runs of a campaign that processes are sending now, or have paused, or may have.
    /// - Throws: `Diagnostic`: they cannot be listed.
    func idsSendingNow(of campaign: String) throws -> [String]

    /// Runs of an app that may have reached a device since a moment, oldest first. Tests, and plans that were never started, reach no one.
    /// Plans whose recipients are gone (`volley prune`) no longer know any device. Runs that cannot be opened are in the second list.
    /// - Throws: `Diagnostic`: they cannot be listed.
    func runs(ofApp app: String, reachingSince since: Timestamp) throws -> (runs: [any RecordedRun], broken: [Diagnostic])
}

/// What was found when obstacles were looked for before, so that files are not read again each minute.
public struct KnownObstacles: Sendable {
    /// Runs that have ended, by the names of their files.
    var ended: Set<String> = []
    /// Records that were read, by the names of their files: what they were then, and what is wrong with them; nil for nothing.
    var records: [String: (stamp: FileStamp, damage: Diagnostic?)] = [:]

    /// Nothing was looked for before.
    public init() {}
}

/// What a catalogue holds.
public struct RunListing: Sendable {
    /// Oldest first, then by id.
    public var runs: [any RecordedRun] = []
    /// What is wrong with runs that could not be opened.
    public var broken: [Diagnostic] = []
    /// What is wrong with copies, under other names, of runs that are also there: they do not count.
    public var copies: [Diagnostic] = []

    /// Nothing.
    public init() {}
}

extension RunCatalog {
    /// Opens a run by its id, for reading.
    public func open(_ run: String) throws -> any RecordedRun { try open(run, readOnly: true) }

    /// Begins to write a run all of whose recipients go out together.
    public func create(_ run: String, variants: VariantNames? = nil) throws -> RunWriter {
        try create(run, variants: variants, sorter: nil)
    }

    /// Removes what a process that is gone left of a run's plan.
    public func removeUnfinishedPlan(of run: String) throws {
        for plan in try unfinishedPlans() where plan.id == run { try plan.remove() }
    }
}
