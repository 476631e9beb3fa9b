public import Base
public import PushServices
public import Runs

/// A run's delivery report, ready to be written in one of its forms. All forms are made from the
/// same figures.
///
/// ```swift
/// let report = try Report(run)
/// print(report.text(width: 100, colour: false))
/// ```
public struct Report: Sendable {
    /// The run file.
    let path: String
    /// The folder of runs.
    let folder: String
    let plan: RunPlan
    /// Where the campaign's file is now.
    let campaignFile: String
    let status: RunStatus
    let figures: RunFigures
    /// What the answers of each service say about tokens and settings, for each epoch.
    private let evidence: [RunEvidence]
    /// Which services stopped.
    let stops: ServiceStops
    /// The reasons of recipients without a record, by the numbers of the services.
    private let unrecorded: [UnrecordedReasons?]
    /// What services reported about the pushes after they took them.
    let statistics: [ServiceStatistics]
    /// nil when no approval was needed.
    let approval: RunApproval?
    /// What is unknown since a backup; nil if it was not restored from one.
    let restored: RestoredRun?
    /// Whether it is sent by several machines, and the store that they share may have more than its
    /// file: the rest is fetched at the end.
    public let isShared: Bool
    /// The pause or cancellation that holds here and not yet for other machines that may be sending
    /// the run; nil for none.
    let orderToPassOn: RunOrder?
    /// The same where recipients that are unsent in the file count as unknown
    /// (`RunFigures.asNotFetched`).
    let isNotFetched: Bool
    /// When its recipients were removed; nil when they are there.
    let prunedAt: Timestamp?
    /// Push by push, of a test; empty otherwise, and when they were removed.
    let testPushes: [TestPush]
    /// The run and its retries, when there are any, in the order of planning; empty otherwise.
    let chain: [ChainLink]
    /// Earlier runs of the campaign, the newest first.
    let earlier: [EarlierRun]
    /// The readers.
    public var face = TextMedium.terminal

    /// Gathers the figures of a run.
    /// - Parameters:
    ///   - chain: the runs that retry it, or that it retries.
    ///   - earlier: earlier runs of the campaign for comparison, the newest first; runs that cannot
    ///     be read are left out.
    ///   - record: what the record next to the runs says; nil reads it.
    ///   - isSummary: leaves out languages and variants, for which every recipient may have to be
    ///     read.
    /// - Throws: `Diagnostic` when the run file is damaged or cannot be read.
    public init(
        _ run: RunFile, chain: RunChain? = nil, earlier: [RunFile] = [], among record: HistorySnapshot? = nil,
        isSummary: Bool = false
    ) throws {
        path = run.place
        folder = run.catalog.place
        plan = run.plan
        status = try run.status()
        var figures = try run.figures(withGroups: !isSummary)
        isNotFetched = try run.isNotFetched(status)
        if isSummary { figures.groups = nil }
        if isNotFetched { figures = figures.asNotFetched }
        self.figures = figures
        evidence = try (0..<run.plan.serviceCount).map {
            RunEvidence(
                figures.tokenEvidence(ofService: $0, in: run.plan), before: try run.evidenceBeforeEpochs(ofService: $0))
        }
        stops = ServiceStops(status, try ServiceReport.stops(of: run, status))
        restored = record.map { RestoredRun(run, among: $0) } ?? RestoredRun(run)
        campaignFile = run.presentCampaignFile(isRestored: restored != nil)
        unrecorded = try UnrecordedReasons.ofServices(of: run, isHeld: restored?.isHeld ?? false)
        statistics = try run.statistics()
        approval = try run.approval()
        isShared = try run.sharedSince() != nil
        orderToPassOn = try run.orderToPassOn()
        prunedAt = run.prunedAt
        testPushes = try run.plan.isTest && run.prunedAt == nil ? TestPush.all(of: run) : []
        let links = chain.map { $0.runs.count > 1 ? $0.runs : [] } ?? []
        let known = links.isEmpty && earlier.isEmpty ? nil : record ?? HistorySnapshot(of: run.catalog)
        self.chain = links.map {
            ChainLink($0, known?.gap(of: $0)?.isKnown ?? false ? nil : try? $0.figures())
        }
        // A file that records less than was sent would look like a drop.
        self.earlier = earlier.compactMap { known?.gap(of: $0)?.isKnown ?? false ? nil : EarlierRun($0) }
    }

    /// A run of a chain.
    struct ChainLink: Sendable {
        var id: String
        var retryOf: String?
        var hasBegun: Bool
        var audience: Int
        /// nil when its file is damaged, or records less than was sent.
        var accepted: Int?
        /// The same through each of several services; empty when one takes all pushes.
        var services: [Part] = []

        struct Part: Sendable {
            var name: String
            var displayName: String
            var audience: Int
            var accepted: Int?
        }

        /// - Parameter figures: nil when its file is damaged, or records less than was sent.
        init(_ run: RunFile, _ figures: RunFigures?) {
            let plan = run.plan
            (id, retryOf, audience) = (plan.id, plan.retryOf, plan.audience)
            hasBegun = (try? run.hasBegun()) ?? false
            accepted = figures?.outcomes[.accepted]
            guard plan.serviceCount > 1 else { return }
            services = plan.services.enumerated().map { number, service in
                Part(
                    name: service.name, displayName: service.displayName, audience: plan.ids(ofService: number).count,
                    accepted: figures?.figures(ofService: number).outcomes[.accepted])
            }
        }
    }

    /// The services that took the pushes.
    var service: any PushService { plan.service }

    /// What outcomes mean in this run.
    var guide: OutcomeGuide {
        let services = services.map(\.service)
        var guide = OutcomeGuide(
            services: services.isEmpty ? [service] : services, state: status.state, doubtsTokens: doubtsTokens,
            isHeld: isHeld, isNotFetched: isNotFetched, face: face)
        guide.areActivities = guide.services.allSatisfy(targetsActivities)
        guide.hasRefusedAgain = figures.count(.refusedAgain) > 0
        guide.needsActivities = isOfActivity && guide.services.contains { $0.rules.activities?.needsToken ?? false }
        return guide
    }

    /// Whether pushes of the run go to tokens of Live Activities at a service.
    func targetsActivities(of service: any PushService) -> Bool {
        service.rules.activities == .target && isOfActivity
    }

    private var isOfActivity: Bool { (try? plan.settings.get().pushType) == .liveactivity }

    /// Whether every recipient was accepted, found its token invalid, or was left out on purpose:
    /// none was rejected, failed, unknown or missed. Decides exit code 0 or 1.
    public var isClean: Bool { missed == 0 && [.rejected, .failed, .unknown].allSatisfy { count($0) == 0 } }

    /// Recipients that were never sent to although they should have been: their push expired, or it
    /// was too late, before their turn came. Those that `frequency` leaves out are left out on
    /// purpose.
    public var missed: Int { figures.missed }

    /// The same for a run that reached its end and will send nothing more.
    var missedForGood: Int { status.state == .finished ? missed : 0 }

    /// How many devices a finished run missed, and why; nil when it missed none.
    public var missedPushes: MissedPushes? {
        status.state == .finished ? figures.missedPushes(of: plan.audience) : nil
    }

    /// The problem of a finished run; nil for one that went well. Outcomes that were not fetched
    /// yet are not a problem.
    public var problem: ScheduleProblem? {
        guard status.state == .finished else { return nil }
        return isNotFetched ? missedPushes.map { .missed($0) } : figures.problem(of: plan.audience)
    }

    /// The same in a sentence that comes first.
    public var missedSentence: String? { missedPushes?.sentence }

    /// Whether an ended run has refused tokens whose reason wrong settings may have caused: these
    /// are not suppressed.
    var doubtsTokens: Bool { evidence.indices.contains(where: doubtsTokens(ofService:)) }

    /// The same for one of its services.
    func doubtsTokens(ofService number: Int) -> Bool {
        guard status.state.hasEnded else { return false }
        let evidence = evidence[number]
        return evidence.all.ambiguous > 0 && !(status.state == .finished && evidence.pointsAtTokens)
    }

    /// The services most of whose answers are refusals that wrong settings cause.
    public var blamedServices: [any PushService] {
        zip(plan.services, evidence).filter { $0.1.settingsEvidence != nil }.map(\.0)
    }

    /// Whether most answers are refusals that wrong settings cause.
    public var pointsAtSettings: Bool { !blamedServices.isEmpty }

    /// Whether only a new run can correct wrong settings. If another service took pushes, it would
    /// send those again.
    var needsNewRun: Bool { pointsAtSettings && !hasServices }

    /// Whether its recipients were removed, so that only figures are left.
    var isPruned: Bool { prunedAt != nil }

    /// Recipients with that outcome.
    /// How many recipients have each outcome.
    public var outcomes: [Outcome: Int] { figures.outcomes }

    func count(_ outcome: Outcome) -> Int { figures.outcomes[outcome, default: 0] }

    /// Skip reasons that rows have, in the order in which they are checked.
    var skipped: [(name: String, rows: Int)] {
        SkipReason.allCases.compactMap { reason in
            guard let rows = plan.skipped[reason], rows > 0 else { return nil }
            return (reason.rawValue, rows)
        }
    }

    /// Reasons, most frequent first, then by name. They add up to the outcomes of all recipients
    /// that were not accepted.
    var reasons: [(name: String, recipients: Int)] { Self.sorted(reasonCounts) }

    /// Recipients by reason.
    var reasonCounts: [String: Int] {
        guard figures.services.count == unrecorded.count else { return figures.reasons(unrecorded[0]) }
        return figures.services.indices.reduce(into: [:]) { $0.merge(reasonCounts(ofService: $1), uniquingKeysWith: +) }
    }

    /// The same for one of several services.
    func reasonCounts(ofService number: Int) -> [String: Int] { figures.services[number].reasons(unrecorded[number]) }

    /// Recipients by how often they were sent to, in order.
    var attemptCounts: [(attempts: Int, recipients: Int)] {
        figures.attemptCounts.sorted { $0.key < $1.key }.map { (attempts: $0.key, recipients: $0.value) }
    }

    /// Answers by latency, from the first step that has any to the last. A step's name is its upper
    /// end in milliseconds; `longer` is beyond the last.
    var latencySteps: [(name: String, answers: Int)] {
        let histogram = figures.latencyHistogram
        guard let first = histogram.firstIndex(where: { $0 > 0 }), let last = histogram.lastIndex(where: { $0 > 0 })
        else { return [] }
        let steps = LatencyFigures.steps
        return (first...last).map { (name: $0 < steps.count ? "\(steps[$0])" : "longer", answers: histogram[$0]) }
    }

    /// From start to end; nil while there is no end, and when the machine's clock was set back in
    /// between.
    var milliseconds: Int64? {
        guard let start = status.startedAt, let end = status.finishedAt, end >= start else { return nil }
        return end.epochMilliseconds - start.epochMilliseconds
    }

    /// Recipients that were pushed to, a second between start and end; nil where `milliseconds` is.
    var meanPerSecond: Int? {
        milliseconds.map { Int((Double(figures.attempted) * 1000 / Double(max(1, $0))).rounded()) }
    }

    /// nil before the start.
    var peakPerSecond: Int? { status.startedAt == nil ? nil : figures.peakPerSecond }
}

/// What a report needs of an earlier run of the campaign.
struct EarlierRun: Sendable {
    var id: String
    var plannedAt: Timestamp
    var audience: Int
    var accepted: Int
    var invalidToken: Int
    /// Where it went; empty when its plan does not say.
    var badges: HTML

    /// nil when the file is damaged.
    init?(_ run: RunFile) {
        guard let figures = try? run.figures() else { return nil }
        id = run.plan.id
        plannedAt = run.plan.plannedAt
        audience = run.plan.audience
        badges = EnvironmentBadge.html(of: run.plan)
        accepted = figures.outcomes[.accepted, default: 0]
        invalidToken = figures.outcomes[.invalidToken, default: 0]
    }
}

/// A push of a test, and its outcome.
struct TestPush: Sendable {
    /// The test device's name in volley.yaml.
    var device: String
    var token: Target
    /// Blank when the campaign has none.
    var variant: String
    /// Blank for the text above `languages`.
    var language: String
    var outcome: Outcome
    /// The service's reason; blank when it was accepted.
    var reason: String

    /// Those of a run, in its order: a test has a few for each device.
    static func all(of run: RunFile) throws -> [TestPush] {
        var pushes: [TestPush] = []
        try run.forEachResult { _, recipient, settlement, isClaimed in
            pushes.append(
                TestPush(
                    device: recipient.alias, token: recipient.token, variant: recipient.variant,
                    language: TargetRedaction.withoutTargets(recipient.language),
                    outcome: settlement?.outcome ?? (isClaimed ? .unknown : .unsent), reason: settlement?.reason ?? ""))
        }
        return pushes
    }

    var json: JSONValue {
        .object(pairs: [
            ("device", .string(device)), ("device_token", .string(token.redacted)), ("variant", .string(variant)),
            ("language", .string(language)), ("outcome", .string(outcome.name)), ("reason", .string(reason)),
        ])
    }
}

/// A run that was put back from a backup: the figures of a held one are those of the backup, and no
/// command continues it.
extension Report {
    /// Whether it had not ended when the backup was made.
    var isHeld: Bool { restored?.isHeld ?? false }

    /// Recipients that may have got the push since the backup, although the run's file does not
    /// show it.
    var notKnownSinceBackup: Int { count(.unsent) }

    /// The result as of the backup, and what is unknown.
    var headlineOfHeld: String {
        let (all, accepted) = (TextFormat.count(plan.audience), TextFormat.count(count(.accepted)))
        let pushes = service.choosesDevices ? "\(service.recipientNoun)s" : "pushes"
        return
            "Held, as it was put back from a backup of \(backupMoment): by then \(acceptors) had accepted \(accepted) "
            + "of \(all) \(pushes). " + TextFormat.capitalized(whatMayHaveBeenSent)
    }

    /// When the backup was made, for people.
    var backupMoment: String { restored.map { TextStyle.moment($0.backupAt) } ?? "" }

    /// How many may have got it since the backup.
    var whatMayHaveBeenSent: String {
        let count = notKnownSinceBackup
        let which =
            count == plan.audience
            ? service.recipients(count) : "\(TextFormat.count(count)) \(TextFormat.plural(count, one: "other"))"
        return "since then \(which) may have \(words("got the push", ofCalls: "gone out")) without being in this file."
    }

    /// Why it is not sent on.
    var whyHeld: String {
        "no command resumes or retries it, also after `volley cancel`, as it may have been sent on: \(words("devices could get the push", ofCalls: "calls could go out")) twice"
    }

    var stepsOfHeld: [NextStep] {
        [
            NextStep(words: "\(whyHeld)."),
            NextStep(
                words:
                    "if nothing was sent after the backup, move the folder of runs away, put the backup back and say so. What was being sent while "
                    + "the backup was made stays held:", command: "volley restore BACKUP --nothing-sent-since"),
            newPlan(
                after:
                    "otherwise accept that \(service.recipients(notKnownSinceBackup)) may \(words("get it", ofCalls: "go out")) twice"
            ),
        ]
    }
}
