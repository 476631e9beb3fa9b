public import Base
import Campaigns
import Reports
public import Runs
import Sending

/// The coming times of the schedules, and how the last ones ended: `volley schedule --list`.
///
/// ```swift
/// let list = ScheduleList(
///     files.read(now: .now()), saved: try runs.schedule.read(), isAtWork: false, here: .utc,
///     now: .now())
/// print(list.text(colour: false))
/// ```
public struct ScheduleList: Sendable {
    /// How far the list reaches into the future and the past.
    public static let daysAhead = 30.0, daysBack = 7.0
    /// The most times of one campaign that are shown; of further ones only the number is.
    static let longestList = 100

    /// A time of a campaign.
    struct Row {
        var campaign: Scheduler.Campaign?
        var name: String
        var occurrence: String
        var begins: Timestamp, ends: Timestamp
        var notes: [String]
        /// Its scheduled run; nil for a time to come.
        var scheduledRun: ScheduledRun?
        var isPaused = false
        var approval = Approval.none
    }

    let rows: [Row]
    /// Why nothing is sent from these files.
    public let mistakes: [String: Diagnostics]
    private let unscheduledFiles: [String]
    private let ignoredFiles: [String]
    /// Whether a process sends them.
    public let isAtWork: Bool
    private let here: ZoneRules

    /// - Parameters:
    ///   - saved: the scheduled runs of the last days, all open ones, and the saved state of the
    ///     campaigns.
    ///   - daysAhead: how far to look.
    ///   - needsApproval: whether the app of this name requires approval.
    ///   - isPaused: whether the run with this id is paused.
    public init(
        _ reading: ScheduleFiles.Reading, saved: SavedSchedule, isAtWork: Bool, here: ZoneRules, now: Timestamp,
        daysAhead: Double = Self.daysAhead, needsApproval: (String) -> Bool = { _ in false },
        isPaused: (String) -> Bool = { _ in false }
    ) {
        ignoredFiles = reading.ignoredFiles
        mistakes = reading.mistakes
        unscheduledFiles = reading.unscheduledFiles
        self.isAtWork = isAtWork
        self.here = here
        let campaigns = Dictionary(reading.campaigns.map { ($0.name, $0) }) { first, _ in first }
        let decided = Set(saved.scheduledRuns.map(\.key))
        let approvals = Dictionary(saved.approvals.map { ($0.key, $0) }) { first, _ in first }
        var rows = saved.scheduledRuns.map { scheduledRun in
            let isPaused = scheduledRun.state == .sending && scheduledRun.run.map(isPaused) ?? false
            return Row(
                campaign: campaigns[scheduledRun.key.campaign], name: scheduledRun.key.campaign,
                occurrence: scheduledRun.key.occurrence,
                begins: scheduledRun.begins,
                ends: scheduledRun.ends, notes: Self.notes(scheduledRun, isPaused: isPaused),
                scheduledRun: scheduledRun,
                isPaused: isPaused)
        }
        for campaign in reading.campaigns {
            let record = saved.campaigns.first { $0.name == campaign.name }
            // Begin where a process that starts now would begin, so that the times that would be
            // due for it are listed.
            let isKnown = record?.times == campaign.schedule.timesInWords
            let start = campaign.schedule.repeat == nil ? .distantPast : (isKnown ? record?.decidedThrough : nil) ?? now
            let from = max(min(start, now), now.adding(seconds: -Self.daysBack * 86_400))
            let times = campaign.schedule.occurrences(
                from: Timestamp(epochMilliseconds: from.epochMilliseconds + 1),
                through: now.adding(seconds: daysAhead * 86_400)
            ).filter { !decided.contains(.init(campaign: campaign.name, occurrence: $0.name)) }
            rows += times.prefix(Self.longestList).map { time in
                let given = approvals[.init(campaign: campaign.name, occurrence: time.name)]
                let approval =
                    needsApproval(campaign.app) ? Self.approval(given, source: reading.sources[campaign.name]) : .none
                return Row(
                    campaign: campaign, name: campaign.name, occurrence: time.name, begins: time.begins,
                    ends: time.ends,
                    notes: Self.notes(campaign, time, approval, now: now), scheduledRun: nil, approval: approval)
            }
            if times.count > Self.longestList, let last = times.last {
                rows[rows.count - 1].notes.append(
                    "and \(TextFormat.count(times.count - Self.longestList)) more through \(last.name)")
            }
        }
        self.rows = rows.sorted { ($0.begins, $0.name) < ($1.begins, $1.name) }
    }

    private static func notes(_ scheduledRun: ScheduledRun, isPaused: Bool) -> [String] {
        if let problem = scheduledRun.problem, problem.isElsewhere { return [problem.sentence] }
        return [(isPaused ? "paused" : scheduledRun.state.rawValue) + (scheduledRun.run.map { " as \($0)" } ?? "")]
            + [scheduledRun.problem?.sentence(behind: scheduledRun.state)].compactMap(\.self)
    }

    private static func approval(_ given: AdvanceApproval?, source: String?) -> Approval {
        guard let given else { return .missing }
        return given.digest == source ? .given(given) : .outdated(given)
    }

    private static func words(_ approval: Approval) -> [String] {
        switch approval {
        case .none: []
        case .missing: ["needs approval"]
        case .given(let given):
            ["approved by \(TextFormat.inLine(given.name)) for at most \(TextFormat.devices(given.mostDevices))"]
        case .outdated(let given):
            [
                "needs approval: \(TextFormat.inLine(given.name)) approved it, but \(AdvanceApproval.Flaw.sourceDiffers.sentence)"
            ]
        }
    }

    /// The note of a time that comes on the clock of each device.
    public static let onDevicesClock = "on each person's clock"

    private static func notes(_ campaign: Scheduler.Campaign, _ time: Occurrence, _ approval: Approval, now: Timestamp)
        -> [String]
    {
        var notes: [String] = []
        let zone = campaign.schedule.zone.fallback
        if time.isInGap { notes.append("clocks skip this time: sent at \(zone.localTime(at: time.begins).timeOfDay)") }
        if campaign.schedule.zone.isRecipient { notes.append(onDevicesClock) }
        if let quiet = campaign.schedule.quietHours, quiet.contains(minuteOfDay: time.localTime.minuteOfDay) {
            notes.append("quiet hours until \(LocalTime(minutes: quiet.end).timeOfDay)")
        }
        notes += words(approval)
        if time.begins <= now {
            notes.append(campaign.schedule.isTooLate(for: time.ends, at: now) ? "missed" : "due")
        }
        return notes
    }

    // MARK: - Output

    /// The list as a table, with the mistakes below it.
    public func text(colour: Bool) -> String {
        var lines: [String] = []
        let isHereUseful = rows.contains { $0.campaign?.schedule.zone.fallback.name != here.name }
        var cells = [["WHEN", "ZONE"] + (isHereUseful ? ["HERE (\(here.name))"] : []) + ["CAMPAIGN", "NOTES"]]
        for row in rows {
            let zone =
                row.campaign.map { $0.schedule.zone.isRecipient ? "recipient" : $0.schedule.zone.fallback.name } ?? ""
            cells.append(
                [row.occurrence.replacing("T", with: " "), zone] + (isHereUseful ? [localTimes(row)] : []) + [
                    row.name, row.notes.joined(separator: "; "),
                ])
        }
        if rows.isEmpty {
            lines.append("No campaign is scheduled within the next \(Int(Self.daysAhead)) days.")
        } else {
            let widths = cells[0].indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
            for row in cells {
                let padded = zip(row, widths).map { TextFormat.padded($0, to: $1) }.joined(separator: "  ")
                lines.append(String(padded.reversed().drop { $0 == " " }.reversed()))
            }
        }
        if !unscheduledFiles.isEmpty {
            lines.append(
                "\nNo schedule, sent by hand: \(unscheduledFiles.map { TextFormat.inLine($0) }.joined(separator: ", "))"
            )
        }
        if !ignoredFiles.isEmpty { lines.append("\n" + Self.words(ignoredFiles: ignoredFiles)) }
        for (_, found) in mistakes.sorted(by: { $0.key < $1.key }) {
            lines.append("\nThis file has mistakes; nothing is sent from it:\n\(found)")
        }
        lines.append(
            isAtWork
                ? "\nvolley schedule is at work." : "\nvolley schedule is not at work: nothing is sent until it is.")
        return lines.joined(separator: "\n")
    }

    /// The message about files and folders that were not read, and how to include them.
    public static func words(ignoredFiles: [String]) -> String {
        "Not read: \(ignoredFiles.map { TextFormat.inLine($0) }.joined(separator: ", ")). "
            + "Name subfolders as well, and let the names of campaign files end in .yaml or .yml, in lower case."
    }

    private func localTimes(_ row: Row) -> String {
        let begins = here.localTime(at: row.begins).words
        return row.begins == row.ends ? begins : "\(begins) – \(here.localTime(at: row.ends).words)"
    }

    /// The list as JSON.
    public var json: JSONValue {
        .object(pairs: [
            ("at_work", .bool(isAtWork)), ("zone_here", .string(here.name)), ("times", .array(rows.map(json))),
            ("without_schedule", .array(unscheduledFiles.map { .string($0) })),
            ("not_read", .array(ignoredFiles.map { .string($0) })),
            (
                "mistakes",
                .array(mistakes.sorted { $0.key < $1.key }.flatMap { $0.value.all.map(\.json) })
            ),
        ])
    }

    private func json(_ row: Row) -> JSONValue {
        let zone = row.campaign?.schedule.zone
        return .object(pairs: [
            ("campaign", .string(row.name)), ("app", row.campaign.map { .string($0.app) } ?? .null),
            ("file", (row.campaign?.file ?? row.scheduledRun?.file).map { .string($0) } ?? .null),
            ("occurrence", .string(row.occurrence)),
            ("timezone", zone.map { .string($0.isRecipient ? "recipient" : $0.fallback.name) } ?? .null),
            ("begins", .string(row.begins.description)), ("ends", .string(row.ends.description)),
            ("begins_here", .string(here.localTime(at: row.begins).description)),
            ("ends_here", .string(here.localTime(at: row.ends).description)),
            ("state", row.scheduledRun.map { .string($0.state.rawValue) } ?? .null),
            ("paused", .bool(row.isPaused)), ("run", (row.scheduledRun?.run).map { .string($0) } ?? .null),
            ("notes", .array(row.notes.map { .string($0) })),
        ])
    }
}

extension ScheduleList {
    /// A time of the list.
    public struct Time: Sendable {
        /// The campaign's name.
        public var campaign: String
        /// Its app; nil when its file is gone.
        public var app: String?
        /// Its file; nil for a time whose file is gone and was never begun.
        public var file: String?
        /// The time on the schedule's clock: `2026-12-01T09:00`.
        public var occurrence: String
        /// The zone of that clock, `Europe/Berlin`; nil when the file is gone.
        public var zone: String?
        /// Whether each device gets it at this time on its own clock.
        public var isOnDevicesClock: Bool
        /// When it goes out to the first device, and to the last.
        public var begins: Timestamp, ends: Timestamp
        /// Further notes about it.
        public var notes: [String]
        /// How far its run is; nil for a time to come.
        public var state: ScheduledRun.State?
        /// Why it waits, was given up, or did not reach every device; nil for most.
        public var problem: ScheduleProblem?
        /// Its run's id, if it has one.
        public var run: String?
        /// How far its approval is, where it can be given beforehand.
        public var approval: Approval
    }

    /// The times of the list, the earliest first.
    public var times: [Time] {
        rows.map { row in
            let zone = row.campaign?.schedule.zone
            return Time(
                campaign: row.name, app: row.campaign?.app, file: row.campaign?.file ?? row.scheduledRun?.file,
                occurrence: row.occurrence,
                zone: zone?.fallback.name, isOnDevicesClock: zone?.isRecipient ?? false, begins: row.begins,
                ends: row.ends,
                notes: row.notes,
                state: row.scheduledRun?.state, problem: row.scheduledRun?.problem, run: row.scheduledRun?.run,
                approval: row.approval)
        }
    }

    /// How far the approval of a time to come is.
    public enum Approval: Hashable, Sendable {
        /// Its app needs no approval, or its time has come.
        case none
        /// It needs an approval.
        case missing
        /// It was given beforehand, and holds for a plan that has not too many devices.
        case given(AdvanceApproval)
        /// It was given beforehand, and the campaign was changed afterwards.
        case outdated(AdvanceApproval)
    }
}
