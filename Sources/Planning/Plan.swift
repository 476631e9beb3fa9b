public import Audience
public import Base
public import Campaigns
public import Content
public import Runs
import Workspace

/// A run that has just been planned.
public struct PlannedRun: Sendable {
    /// The run, planned and not yet sent.
    public let run: RunFile
    /// What was previewed.
    public let preview: Preview
    /// The volley.yaml that it was planned with.
    public let project: Project

    /// Whether some of its waves are not due yet.
    public func waitsForTimes(at now: Timestamp) -> Bool { run.plan.waves.contains { $0.due > now } }
}

/// The moment to plan a campaign for.
public enum PlanningPurpose: Hashable, Sendable {
    /// Sent now or not at all: a person is watching.
    /// - Parameter ignoresSchedule: at once and to all devices, whatever the campaign's schedule
    ///   says.
    case sending(ignoresSchedule: Bool)
    /// Sent later, at its time.
    case keeping
}

/// Freezes a campaign's audience, texts and settings into a run. When this throws, nothing of the
/// run remains.
/// - Parameter id: of the run; nil makes one.
/// - Throws: `Diagnostics`, `Diagnostic`: what is wrong with the campaign, volley.yaml, exports,
///   keys or the way to the server; that its time has not come.
///
/// ```swift
/// let planned = try plan(campaign, for: .keeping, planning, at: .now())
/// print(planned.run.plan.id, planned.run.plan.audience)
/// ```
public func plan(
    _ campaign: CampaignFile, for purpose: PlanningPurpose, id: String? = nil, _ options: PlanOptions, at now: Timestamp
) throws -> PlannedRun {
    let context = try CampaignContext.read(campaign, now: now)
    let catalog = context.catalog
    var planner = try Planner(context: context, options, now: now)
    let settings = try RunSettings(context)
    switch purpose {
    case .keeping: planner.sendingTime = try .ofPlanning(context, now: now, in: catalog)
    case .sending(let ignoresSchedule):
        planner.sendingTime = try .ofSending(context, isNow: ignoresSchedule, now: now, in: catalog)
        // Checked before planning, which takes long: the run could not be sent without these.
        try context.checkRoutes(settings)
        planner.credentialWarnings = try context.credentialWarnings(settings, now: now)
    }
    let (run, preview) = try planner.plan(settings, in: catalog, id: id)
    return PlannedRun(run: run, preview: preview, project: context.project)
}

/// Makes a run for the app's test devices: each gets every text once.
/// - Parameters:
///   - choice: which of them, and which texts.
///   - id: of the run; nil makes one.
/// - Throws: as `plan`; also when no test device can be sent to.
///
/// ```swift
/// let test = try planTest(campaign, planning, at: .now())
/// ```
public func planTest(
    _ campaign: CampaignFile, choosing choice: TestChoice = TestChoice(), id: String? = nil, _ options: PlanOptions,
    at now: Timestamp
) throws -> RunFile {
    let context = try CampaignContext.read(campaign, now: now, isTest: true)
    let settings = try RunSettings(context)
    try context.checkRoutes(settings)
    _ = try context.credentialWarnings(settings, now: now)
    let planner = TestPlanner(context: context, options: options, now: now, choice: choice)
    return try planner.plan(settings, in: context.catalog, id: id)
}

/// What happens while a campaign is planned or previewed.
public enum PlanningEvent: Sendable {
    /// The files that it is planned from.
    case sources(project: String, exports: [String])
    /// Devices that are suppressed, and the list that they are on.
    case suppressed(Int, list: String)
    /// A database is queried for devices. Comes often, like `reading`.
    case querying(QueryProgress)
    /// Progress in reading the exports. Comes often, so it is also a sign of life.
    case reading(ScanProgress, seconds: Double)
    /// The exports are read, and how far is not known.
    case readingSomewhere
    /// The exports are read again, for samples of texts that few devices get.
    case readingAgain
    case readingEnds
    case lint(Lint)
    case warnings([Diagnostic])
    /// A test device does not get a text, which is described in words.
    case testSkipped(device: String, token: Target, text: String, RenderFailure)
}

/// The closure that gets the events of planning or previewing a campaign.
public typealias PlanningObserver = Observer<PlanningEvent>

/// Watches a campaign being planned or previewed, may cancel it, and limits its memory.
///
/// ```swift
/// let options = PlanOptions(
///     observer: PlanningObserver { if case .warnings(let warnings) = $0 { print(warnings) } },
///     cancellation: try Cancellation())
/// ```
public struct PlanOptions: Sendable {
    package var observer: PlanningObserver
    package var cancellation: Cancellation
    /// How much memory planning may use; nil for as much as it needs.
    package var memory: MemoryBudget?

    /// Options; without `memory`, planning may use as much as it needs.
    public init(observer: PlanningObserver, cancellation: Cancellation, memory: MemoryBudget? = nil) {
        self.observer = observer
        self.cancellation = cancellation
        self.memory = memory
    }
}

/// How much memory planning may use: `--memory`.
///
/// ```swift
/// let budget = MemoryBudget("2G")
/// ```
public struct MemoryBudget: Hashable, Sendable {
    /// The limit for the whole process.
    public let bytes: Int

    /// Reads a number with a unit: `512M`, `1.5G`, `1GB`, `800MiB`. A kilobyte is 1,024 bytes, a
    /// plain number is bytes; case does not matter.
    /// - Returns: nil for anything else, and for numbers that are too large.
    public init?(_ text: String) {
        let units: [(String, Double)] = [("k", 0x1p10), ("m", 0x1p20), ("g", 0x1p30), ("t", 0x1p40)]
        var number = text.lowercased()
        for ending in ["ib", "b"] where number.hasSuffix(ending) {
            number.removeLast(ending.count)
            break
        }
        var factor = 1.0
        if let unit = units.first(where: { number.hasSuffix($0.0) }) {
            factor = unit.1
            number.removeLast()
        }
        let isPlain = !number.isEmpty && number.allSatisfy { $0.isASCII && $0.isNumber || $0 == "." }
        guard isPlain, let value = Double(number), value * factor < 1e18 else { return nil }
        bytes = Int(value * factor)
    }

    /// The memory of the process without any device: the program, the blocks of each thread, the
    /// queue between the scan and the run file, and the buffers of temporary files. Measured; see
    /// docs/performance.md.
    private static func fixed(threads: Int) -> Int { (96 + 4 * threads) << 20 }

    /// With less than this, planning is not practical.
    private static let leastForDevices = 16 << 20

    /// Returns the bytes left for devices.
    /// - Parameter known: bytes that lists of devices already use, such as suppressed devices.
    /// - Throws: `Diagnostic` when that is too little.
    func forDevices(threads: Int = availableCores(), besides known: Int = 0) throws(Diagnostic) -> Int {
        let fixed = Self.fixed(threads: threads) + known
        guard bytes >= fixed + Self.leastForDevices else {
            let least = (fixed + Self.leastForDevices + 1 << 20 - 1) >> 20
            throw Diagnostic(
                "the limit of --memory is too small to plan with",
                remedy: "On this machine the minimum is \(least)M; without the option, Volley uses what it needs.",
                [.ask(.giveMemory)])
        }
        return bytes - fixed
    }
}

/// A campaign that is about to be planned for a time of its schedule, with no one watching.
package struct ScheduledPlan {
    private let context: CampaignContext
    /// By the rules of the zone as they are now.
    package let time: Occurrence
    private let now: Timestamp

    /// Reads the campaign's current file; nil when it is no longer sent at that time or under that
    /// name.
    /// - Throws: `Diagnostics`: mistakes in the campaign or in volley.yaml.
    package init?(_ campaign: CampaignFile, for scheduledRun: ScheduledRun, at now: Timestamp) throws {
        context = try CampaignContext.read(campaign, now: now)
        guard context.campaign.name.value == scheduledRun.key.campaign,
            let time = context.campaign.schedule?.occurrence(named: scheduledRun.key.occurrence)
        else { return nil }
        self.time = time
        self.now = now
    }

    /// The campaign, its lists and its exports.
    package var inputFiles: [String] { context.inputFiles(now: now) }

    /// Freezes the campaign into a run.
    /// - Parameters:
    ///   - run: the run's id; the remains of a killed process are removed first.
    ///   - catalog: the one that `volley schedule` uses: volley.yaml may name a new folder.
    ///   - queuedAt: since when it has waited for its turn.
    /// - Throws: as `plan`. Then nothing of the run remains.
    public func plan(
        into run: String?, of catalog: RunsFolder, queuedAt: Timestamp, _ options: PlanOptions
    ) throws -> RunFile {
        var settings = try RunSettings(context)
        settings.isOfScheduler = true
        try context.checkRoutes(settings)
        var planner = try Planner(context: context, options, now: now)
        planner.sendingTime = .at(time)
        planner.queuedAt = queuedAt
        planner.isUnattended = true
        planner.credentialWarnings = try context.credentialWarnings(settings, now: now)
        try catalog.removeUnfinishedPlan(of: run ?? "")
        return try planner.plan(settings, in: catalog, id: run).run
    }
}

/// The sources of a campaign's plan now, apart from its devices: an approval ahead of a scheduled
/// time is bound to them.
public struct CampaignSource: Hashable, Sendable {
    /// The campaign's name.
    public var campaign: String
    /// Changes with the campaign's file and with the app's settings in volley.yaml
    /// (`RunSettings.sourceDigest`).
    public var digest: String
    /// Whether Volley chooses the devices. Where a push service does, their number is unknown
    /// before it is sent.
    public var hasOwnDevices: Bool

    /// Reads a campaign's file and its volley.yaml.
    /// - Throws: `Diagnostics`: mistakes in either.
    public init(_ campaign: CampaignFile, now: Timestamp) throws {
        try self.init(CampaignContext.read(campaign, now: now))
    }

    package init(_ context: CampaignContext) throws {
        campaign = context.campaign.name.value
        digest = try RunSettings(context).sourceDigest(with: context.campaign.source)
        hasOwnDevices = context.ownAudience == nil
    }
}
