import Audience
public import Base
import Campaigns
public import Runs
public import Workspace

/// The earlier runs of an app's campaign, from the files of its runs and the record next to them.
public struct EarlierRuns: Sendable {
    /// The newest runs that have an audience, newest first, back to one that reached a device.
    private let runs: [RunFile]
    private let now: Timestamp
    private let settings: RunSettings
    /// The last sending that reached a device; if none did, the last attempt.
    public let lastSending: PreviousSending?
    /// Runs that were put back from a backup before they had ended, if no other run has reached a
    /// device since.
    private let held: [RestoredSending]
    /// A run that began only hours ago, when no file shows which devices it reached.
    public let unaccounted: (id: String, begunAt: Timestamp)?

    /// - Throws: `Diagnostic`: the folder of runs cannot be listed.
    public init(
        of campaign: String, app: String, in settings: RunSettings, catalog: RunsFolder, now: Timestamp,
        besides own: String? = nil
    )
        throws
    {
        let all = try catalog.lastStarted(of: campaign, app: app, limit: 10).filter { $0.plan.id != own }
        // Older runs are not read: counting what they reached means reading their files.
        var sendings: [PreviousSending?] = []
        for run in all where sendings.last.map({ $0?.accepted == 0 }) ?? true {
            sendings.append(PreviousSending(of: run, now: now))
        }
        runs = Array(all.prefix(sendings.count))
        let known = sendings.compactMap(\.self)
        lastSending = known.last.map { $0.accepted == 0 ? known[0] : $0 }
        self.now = now
        self.settings = settings
        let record = HistorySnapshot(of: catalog)
        let earliest = now.adding(seconds: -Double(PreviousSending.hours * 3600))
        held = try record.restored(of: campaign).compactMap { id in
            guard id != own, let run = try? catalog.open(id) else { return nil }
            defer { run.close() }
            // A run that cannot be read must not keep the campaign from being planned.
            return try? RestoredSending(run, among: record, app: app, settings)
        }.filter { held in
            // The moment of a backup has no milliseconds.
            !known.contains {
                $0.run != held.run && $0.accepted ?? 0 > 0 && $0.began.epochSeconds > held.backupAt.epochSeconds
            }
        }
        unaccounted = try record.begun(of: campaign).filter { id, entry in
            guard id != own, entry.begunAt >= earliest, let scope = entry.scope, !scope.isTest, scope.app == app,
                settings.sharesList(with: scope.environment), !settings.isRehearsal
            else { return false }
            guard let run = try? catalog.open(id) else { return true }
            defer { run.close() }
            return !run.isBeingSent && record.gap(of: run)?.isKnown ?? false
        }.map { (id: $0.key, begunAt: $0.value.begunAt) }.max { $0.begunAt < $1.begunAt }
    }

    /// The plan of the newest run.
    var last: RunPlan? { runs.first?.plan }

    /// Closes their files.
    public func close() { for run in runs { run.close() } }

    /// Warnings about a last run that could be resumed, was sent a short while ago, or lost its
    /// file: a new run sends again to devices that it has reached.
    /// - Parameter lately: how many devices other runs of the app reached in the last hours; nil if
    ///   that is unknown.
    func warnings(_ context: CampaignContext, _ lately: RecentlyReached? = nil) -> [Diagnostic] {
        let lost = (unaccounted.map { [lostWarning($0, context)] } ?? []) + held.map { $0.warning(context) }
        let unfinished = runs.lazy.compactMap { unfinishedWarning($0, context) }.first
        let sent = unfinished == nil ? recent : nil
        return lost + [unfinished, sent?.warning(context, lately)].compactMap(\.self)
            + (lately?.warnings(context) { sending in
                sending.run == sent?.run || held.contains { $0.run == sending.run }
            } ?? [])
    }

    /// The last sending, if it was only hours ago.
    private var recent: PreviousSending? {
        guard let sending = lastSending, !held.contains(where: { $0.run == sending.run }),
            sending.isRecent(in: settings.firstService.environment)
        else { return nil }
        return sending
    }

    private func lostWarning(_ run: (id: String, begunAt: Timestamp), _ context: CampaignContext) -> Diagnostic {
        .warning(
            .sentRecently,
            message:
                "a run of this campaign, \(run.id), began \(PreviousSending.ago(run.begunAt, now: now)), but its file is missing, damaged, or an older copy: "
                + "which devices it reached is not known, and a new run sends to all of them again",
            at: context.campaign.audience.position,
            remedy: "Put its file back, with the files next to it; `volley runs` shows what is there.",
            [.ask(.restoreRun(run.id))])
    }

    private func unfinishedWarning(_ run: RunFile, _ context: CampaignContext) -> Diagnostic? {
        guard let state = try? run.status().state, [.running, .paused, .stopped].contains(state) else { return nil }
        guard LedgerGap(of: run) == nil, let claims = try? run.claims().claimed, !claims.isEmpty,
            run.isBeingSent || claims.count < run.plan.audience
                || (try? run.figures().outcomes[.unsent, default: 0]) ?? 0 > 0
        else { return nil }
        let id = run.plan.id
        let (fact, remedy, remedies): (String, String, [Remedy]) =
            if !run.isBeingSent {
                (
                    "ended before it was finished",
                    "`volley resume \(id)` resumes it, and sends only to the other devices.",
                    [.resume(run: id)]
                )
            } else if state == .paused {
                (
                    "is paused", "`volley resume \(id)` continues it, and `volley cancel \(id)` ends it.",
                    [.resume(run: id), .cancel(run: id)]
                )
            } else {
                ("is being sent", "`volley report \(id)` shows its progress.", [.watch(run: id)])
            }
        // Its report is such a list, and planning does not compare the two.
        let again =
            context.campaign.audience.excludedDevices.isEmpty
            ? "to devices that it has reached"
            : "to those of its devices that the lists below 'exclude: devices' do not leave out"
        return .warning(
            .lastRunUnfinished,
            message: "the last run of this campaign, \(id), \(fact); a new run sends again \(again)",
            at: context.campaign.audience.position, remedy: remedy, remedies)
    }
}

/// A run of a campaign that was put back from a backup before it had ended. What it has sent since
/// then is unknown, however long ago that is.
struct RestoredSending {
    let run: String
    /// In whole seconds.
    let backupAt: Timestamp
    /// Devices that had or may have had the push by the backup, and those that may have got it
    /// since.
    private let reached: Int, unsent: Int

    /// nil for a run that is not held, or that has no devices of this campaign.
    init?(_ run: RunFile, among record: HistorySnapshot, app: String, _ settings: RunSettings) throws {
        guard let restored = RestoredRun(run, among: record), restored.isHeld, run.plan.app == app, !run.plan.isTest,
            try settings.sharesList(with: run.plan.settings.get().listName)
        else { return nil }
        let outcomes = try run.figures().outcomes
        (self.run, backupAt) = (run.plan.id, restored.backupAt)
        unsent = outcomes[.unsent, default: 0]
        reached = outcomes[.accepted, default: 0] + outcomes[.unknown, default: 0]
    }

    func warning(_ context: CampaignContext) -> Diagnostic {
        .warning(
            .lastRunUnfinished,
            message:
                "\(run) of this campaign is held, as it was put back from a backup of \(backupAt) before it had ended: by then it had reached "
                + "\(TextFormat.devices(reached)), and it may have reached \(TextFormat.count(unsent)) more since. A new run sends to all of them",
            at: context.campaign.audience.position,
            remedy:
                "No command resumes or retries it. `volley report \(run)` says how to leave out those that it had reached; the others may get the push twice.",
            [.readReport(run: run), .ask(.leaveOutReached(runs: [run]))])
    }
}

/// When a campaign was sent last, where and to how many. Sending it again only hours later is
/// usually a slip: the same push twice in a day.
public struct PreviousSending: Sendable {
    static let hours = RecentSendings.hours

    /// The run.
    public let run: String
    let began: Timestamp
    let devices: Int
    /// The command that sends to the devices that it missed, and to no device that it may have
    /// reached; blank when there is no such command.
    private let remedy: String
    private let remedies: [Remedy]
    /// How many devices accepted it; nil while that is not counted.
    let accepted: Int?
    /// Where it went, as `FrozenEnvironment.name`.
    let environment: String
    /// Whether the run was put back from a backup before it had ended, so that more may have
    /// accepted it.
    private let isHeld: Bool
    private let now: Timestamp

    /// nil when the last run's file cannot be read.
    init?(of last: RunFile, now: Timestamp) {
        guard let status = try? last.status(), let began = status.startedAt,
            let settings = try? last.plan.settings.get()
        else { return nil }
        run = last.plan.id
        self.began = began
        devices = last.plan.audience
        self.now = now
        isHeld = RestoredRun(last)?.isHeld ?? false
        (remedy, remedies) =
            switch status.state {
            case .finished:
                RunRemainder.remedyForFailed(last).map { (" \($0)", [.retry(run: last.plan.id)]) } ?? ("", [])
            case .cancelled:
                RunRemainder.remedyForUnsent(last).map { (" \($0)", [.retryUnsent(run: last.plan.id)]) } ?? ("", [])
            case .running: (" `volley report \(run)` shows its progress.", [.watch(run: run)])
            case .planned, .paused, .stopped: (" `volley resume \(run)` resumes it.", [.resume(run: run)])
            }
        // Counted once, when a run ends; before that, counting would mean reading the whole run.
        accepted = status.state.hasEnded ? (try? last.figures())?.outcomes[.accepted, default: 0] : nil
        environment = settings.firstService.environment.name
    }

    /// Whether the devices of an environment got it only hours ago; never for the simulator, which
    /// has no real devices.
    public func isRecent(in environment: FrozenEnvironment) -> Bool {
        environment.name != "simulator" && self.environment == environment.name
            && now.epochSeconds - began.epochSeconds < Int64(Self.hours * 3600)
    }

    private var ago: String { Self.ago(began, now: now) }

    /// `2 h 5 min ago`
    public static func ago(_ moment: Timestamp, now: Timestamp) -> String {
        "\(TextFormat.span(seconds: max(0, now.epochSeconds - moment.epochSeconds))) ago"
    }

    /// `2 h 5 min ago (2026-12-01 09:00 UTC): 4,990 of 5,000 devices accepted it`
    /// - Parameter here: the environment of the coming run; the words name this sending's
    ///   environment if it is another one.
    public func words(here: String) -> String {
        let all = TextFormat.devices(devices)
        let atLeast = isHeld ? "at least " : ""
        let result =
            accepted.map { atLeast + "\(TextFormat.count($0)) of \(all) accepted it" }
            ?? (isHeld ? "to up to \(all)" : "to \(all), not finished yet")
        return "\(ago) (\(began.minuteText)): \(result)" + (isHeld ? ", before it was put back from a backup" : "")
            + (environment == here ? "" : ", in \(environment)")
    }

    /// - Parameter lately: says how many of the devices it reached; they need not be those of the
    ///   coming run.
    func warning(_ context: CampaignContext, _ lately: RecentlyReached?) -> Diagnostic {
        let reached = "\(ago), at \(began), to \(TextFormat.devices(devices))"
        let again = lately?.words(ofRun: run).map { ": \($0)" } ?? ""
        return .warning(
            .sentRecently, message: "this campaign was sent \(reached); a new run sends it to them again\(again)",
            at: context.campaign.audience.position,
            remedy: "`volley report \(run)` shows which devices it reached.\(remedy)",
            [.readReport(run: run)] + remedies)
    }
}

extension RecentSendings.Sending {
    /// What it did after a plan was made, to follow its campaign's name:
    /// `went to 150 devices 3 min ago, after this was planned`.
    public func words(sincePlan plannedAt: Timestamp, now: Timestamp) -> String {
        let ago = PreviousSending.ago(begunAt, now: now)
        if begunAt >= plannedAt { return "went to \(TextFormat.devices(devices)) \(ago), after this was planned" }
        return
            "was begun \(ago), for \(TextFormat.devices(devices)), and has reached some of them after this was planned"
    }
}

/// How many devices of an audience got, or as unknown ones may have got, another push of the app in
/// the last hours, and from which runs.
struct RecentlyReached: Sendable {
    /// Newest first. A device counts for the newest run that reached it.
    private let sendings: [(sending: RecentSendings.Sending, devices: Int)]
    /// Runs that are not over, and how many devices of the audience got none of these pushes yet
    /// and are still to get one.
    private let goingOn: [RecentSendings.Sending]
    private let toCome: Int
    private let audience: Int
    /// Runs that may have reached more of them.
    private let unread: Set<String>
    private let now: Timestamp
    /// More runs are counted, and not named.
    private static let mostNamed = 3

    init(_ recent: RecentSendings?, _ result: AudienceResult, now: Timestamp) {
        sendings = (recent?.all ?? []).enumerated().compactMap { number, sending in
            result.reachedBySending[number].map { (sending, $0) }
        }
        (goingOn, toCome) = (
            (recent?.all ?? []).filter(\.hasMoreToCome), recent.flatMap { result.reachedBySending[$0.all.count] } ?? 0
        )
        (audience, unread, self.now) = (result.audience, recent?.unread ?? [], now)
    }

    /// `it was or may have been accepted for 5 of these 5 devices`; nil if none did, or that is not
    /// known.
    func words(ofRun run: String) -> String? {
        sendings.first { $0.sending.run == run }.map {
            "it was or may have been accepted for \(TextFormat.count($0.devices)) of \(these)"
        }
    }

    /// A warning that names the runs.
    /// - Parameter isKnown: whether another warning names a run.
    func warnings(_ context: CampaignContext, unless isKnown: (RecentSendings.Sending) -> Bool) -> [Diagnostic] {
        // `EarlierRuns` covers the campaign's own runs.
        let unknown = RecentSendings.words(unread: unread, besidesThoseOf: context.campaign.name.value)
        let minimum = unknown.map {
            Diagnostic.warning(
                .sentRecently, message: $0, at: context.campaign.audience.position,
                remedy: "Put back what is missing; `volley runs` shows what is there, and what is wrong with it.",
                [.seeProblems])
        }
        let others = sendings.filter { !isKnown($0.sending) }
        let waiting = toCome > 0 ? goingOn.filter { !isKnown($0) } : []
        guard let first = others.first?.sending ?? waiting.first else { return [minimum].compactMap(\.self) }
        let named = others.prefix(Self.mostNamed).enumerated().map { number, other in
            let devices =
                number == 0 ? "\(TextFormat.count(other.devices)) of \(these)" : TextFormat.count(other.devices)
            return
                "\(devices) got or may have got '\(other.sending.campaign)' \(PreviousSending.ago(other.sending.lastAt, now: now)) (run \(other.sending.run))"
        }
        let rest = others.dropFirst(Self.mostNamed)
        let more =
            rest.isEmpty
            ? ""
            : ", and \(TextFormat.count(rest.reduce(0) { $0 + $1.devices })) got or may have got another push in the last \(RecentSendings.hours) h"
        let those = named.isEmpty ? "\(TextFormat.count(toCome)) of \(these)" : ", and \(TextFormat.count(toCome)) more"
        let later = waiting.first.map {
            "\(those) \(TextFormat.plural(toCome, one: "is", many: "are")) still to get '\($0.campaign)' (run \($0.run))"
        }
        return [
            .warning(
                .sentRecently, message: named.joined(separator: ", ") + more + (later ?? ""),
                at: context.campaign.audience.position,
                remedy:
                    "To leave such devices out, write frequency: at most 1 per \(RecentSendings.hours) hours under 'delivery'; "
                    + "`volley report \(first.run)` shows what they got.",
                [.readReport(run: first.run)])
        ] + [minimum].compactMap(\.self)
    }

    /// Their member `reached_lately_unread`: the runs because of which these numbers are a minimum;
    /// nil without any.
    var unreadJSON: JSONValue? { unread.isEmpty ? nil : .array(unread.sorted().map { .string($0) }) }

    private var these: String { audience == 1 ? "this 1 device" : "these \(TextFormat.devices(audience))" }

    /// The member `reached_lately` of `preview --json` and plans; nil without any.
    var json: JSONValue? {
        sendings.isEmpty
            ? nil
            : .array(
                sendings.map {
                    .object(pairs: [
                        ("run", .string($0.sending.run)), ("campaign", .string($0.sending.campaign)),
                        ("devices", .integer(Int64($0.devices))),
                        ("last_at", .string($0.sending.lastAt.description)),
                    ])
                })
    }
}
