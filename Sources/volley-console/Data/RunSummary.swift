import Automation
import Base
import PushServices
import Reports
import Runs
import Synchronization

/// What pages show of a run in a list.
struct RunSummary: Sendable {
    var id: String
    var campaign: String
    var app: String
    /// The paths of its campaign's file, with links kept and resolved.
    var campaignFiles: Set<String>
    /// Of the text that it was planned from (`ShownFile`).
    var sourceDigest: String
    var state: RunState
    /// Why it stopped; nil for most.
    var cause: StopCause?
    var plannedAt: Timestamp
    var startedAt: Timestamp?
    var finishedAt: Timestamp?
    var audience: Int
    /// Recipients by outcome; of a run that is being sent, as they were last counted. nil while
    /// they are counted for the first time.
    var outcomes: [Outcome: Int]?
    /// How many a resumption would send to, or settle; 0 while they are counted.
    var left: Int
    var isTest: Bool
    var retryOf: String?
    var isPruned: Bool
    /// Whether its service chose the devices, so that they are not known.
    var isOfCalls: Bool
    var isApproved: Bool
    /// Whether it is for a time of a schedule: the sender sends it once it may.
    var isForATime: Bool
    /// The moment after which it is too late for that time; nil if it never is, or if quiet hours
    /// decide.
    var tooLateAt: Timestamp?
    /// Devices without an answer to which a run sends again when it continues; 0 while they are
    /// counted.
    var repeated: Int
    /// Those of the devices that were never sent to that `frequency` left out; 0 while they are
    /// counted.
    var leftOutByFrequency: Int
    /// Where it went.
    var badges: HTML
    /// What takes its pushes, at least one, as people call it.
    var services: [String]
    /// Since when a process has been sending it, and when its figures were counted; nil unless one
    /// is.
    var sendingSince: Timestamp?, countedAt: ContinuousClock.Instant?
    /// The longest time between two pushes that its paces allow, seconds.
    var secondsBetweenPushes: Double
    /// When its parts are due; empty when all goes out at once.
    var waves: [RunWave]
    /// When its devices are not sent to; nil for no such hours.
    var quietHours: QuietHours?
    /// Why its figures may be too small; nil when they are not.
    var doubt: Diagnostic?

    /// The facts that are missing because it was put back from a backup; nil for most.
    var restored: RestoredRun?

    /// The pause or cancellation that other machines which may be sending it do not have yet; nil
    /// for none.
    var orderToPassOn: RunOrder?

    /// Whether it was put back before it had ended, so that no command continues it.
    var isHeld: Bool { restored?.isHeld ?? false }

    /// Whether it is a plan of which nothing was sent.
    var isPlan: Bool { state == .planned && startedAt == nil }

    /// Whether a process sends it, so that its figures change.
    var isLive: Bool { state == .running || state == .paused }

    /// Recipients with an outcome that lasts.
    var settled: Int { outcomes == nil ? 0 : audience - count(.unsent) - (isLive ? count(.unknown) : 0) }

    /// The devices that wait for their time, or for the end of their quiet hours, if it is begun
    /// now, and when the last of them can be sent to; nil for none.
    func later(than now: Timestamp) -> (devices: Int, last: Timestamp)? {
        let parts: [(Int, Timestamp)] = waves.compactMap { wave in
            let due = max(wave.due, now)
            let zone = try? ZoneDatabase.system.zone(named: wave.zone)
            let moment = zone.flatMap { quietHours?.end(from: due, in: $0) } ?? due
            return moment > now ? (wave.ids.count, moment) : nil
        }
        return parts.map(\.1).max().map { (parts.reduce(0) { $0 + $1.0 }, $0) }
    }

    /// The recipients that have its push, or may have it.
    var reached: Int { count(.accepted) + count(.unknown) }

    /// Recipients with that outcome.
    func count(_ outcome: Outcome) -> Int { outcomes?[outcome] ?? 0 }

    /// - Parameters:
    ///   - figures: of the run; nil while they are counted.
    ///   - known: what the record next to the runs says.
    /// - Throws: `Diagnostic`: it cannot be read, or it records less than was sent.
    init(_ run: RunFile, figures: RunFigures?, known: HistorySnapshot) throws {
        let (plan, status) = (run.plan, try run.status())
        if let gap = LedgerGap(of: run, among: known) {
            if gap.isKnown { throw gap.diagnostic }
            doubt = gap.diagnostic
        }
        (id, campaign, app) = (plan.id, plan.campaign, plan.app)
        (state, cause, startedAt, finishedAt) = (status.state, status.cause, status.startedAt, status.finishedAt)
        (plannedAt, audience, outcomes) = (plan.plannedAt, plan.audience, figures?.outcomes)
        left = figures.map(plan.left) ?? 0
        (isTest, retryOf, isPruned) = (plan.isTest, plan.retryOf, run.prunedAt != nil)
        sourceDigest = ShownFile.digest(of: Array(plan.campaignSource.utf8))
        isOfCalls = plan.service.choosesDevices
        isApproved = try run.approval() != nil
        let settings = try? plan.settings.get()
        campaignFiles = Set([plan.campaignFile, settings?.realCampaignFile].compactMap(\.self))
        isForATime = settings?.schedule?.occurrence != nil
        if isForATime, let schedule = settings?.schedule, schedule.quietHours == nil,
            case .skip(let seconds) = schedule.late
        {
            tooLateAt = plan.waves.map(\.due).max()?.adding(seconds: Double(seconds))
        }
        (repeated, leftOutByFrequency) = (figures.map(plan.repeated) ?? 0, figures?.count(.frequencyCap) ?? 0)
        sendingSince =
            status.state == .running ? run.sendingSince.map { Timestamp(epochMilliseconds: $0 / 1_000_000) } : nil
        let paces = (0..<plan.serviceCount).compactMap { settings?.ofService($0).paces }
        secondsBetweenPushes =
            paces.flatMap { [$0.targets, $0.calls] }.compactMap { $0.map { 1 / $0.perSecond } }.max() ?? 0
        badges = EnvironmentBadge.html(of: plan)
        services = settings?.services.map(\.service.displayName) ?? [plan.service.displayName]
        (waves, quietHours) = (plan.waves, settings?.schedule?.quietHours)
        restored = RestoredRun(run, among: known)
        orderToPassOn = try run.orderToPassOn()
    }
}

/// How fast runs are sent now: what was settled between two looks, over the time in between.
final class LiveRate: Sendable {
    private struct Look {
        var settled: Int
        var at: ContinuousClock.Instant
        var perSecond: Double?
    }

    private let looks = Mutex<[String: Look]>([:])
    /// Since when the count of a run has been the same.
    private let unchanged = Mutex<[String: (settled: Int, since: ContinuousClock.Instant)]>([:])

    /// How long a run has been sent without an outcome, as of its last count, in seconds.
    /// - Parameter now: of the visit.
    func secondsWithoutOutcome(of run: RunSummary, at now: Timestamp) -> Double {
        unchanged.withLock { unchanged in
            guard run.state == .running, let counted = run.countedAt else {
                unchanged[run.id] = nil
                return 0
            }
            if let last = unchanged[run.id], last.settled == run.settled { return (counted - last.since) / .seconds(1) }
            let begun = run.sendingSince.map { Double(now.epochMilliseconds - $0.epochMilliseconds) / 1000 } ?? 0
            // A run without any outcome has been so since sending began, even if no page was open.
            let seconds = run.settled == 0 ? max(0, begun) : 0
            unchanged[run.id] = (run.settled, counted - .seconds(seconds))
            return seconds
        }
    }

    /// Looks at a run.
    /// - Returns: settled recipients a second; nil before the second look, and when nothing was
    ///   counted since.
    func perSecond(of run: RunSummary, at now: ContinuousClock.Instant = .now) -> Double? {
        looks.withLock { looks in
            guard run.state == .running else {
                looks[run.id] = nil
                return nil
            }
            guard let look = looks[run.id] else {
                looks[run.id] = Look(settled: run.settled, at: now, perSecond: nil)
                return nil
            }
            let seconds = (now - look.at) / .seconds(1)
            // Figures are counted again from time to time; until then nothing changes.
            guard seconds >= 1, run.settled != look.settled || seconds > 10 else { return look.perSecond }
            let rate = max(0, Double(run.settled - look.settled) / seconds)
            looks[run.id] = Look(settled: run.settled, at: now, perSecond: rate)
            return rate
        }
    }
}
