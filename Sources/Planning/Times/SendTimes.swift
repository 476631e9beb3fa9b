import Audience
import Base
import Campaigns
import Runs
import Workspace

/// When each device of an audience gets its push, by the zone that its row names. Zones whose
/// clocks agree at these hours share a wave, which gives about forty waves instead of about four
/// hundred.
struct SendTimes: Sendable {
    /// Zones whose clocks agree, and the moment at which their devices are due.
    struct Wave: Sendable {
        var zone: ZoneRules
        var due: Timestamp
    }

    /// In sending order.
    let waves: [Wave]
    /// Whether a device's zone matters at all.
    let isByDevice: Bool
    /// The wave of devices whose zone is not known.
    let fallback: Int
    /// Waves by the hash of a zone's name. No two existing names have the same hash.
    private let places: [UInt64: Int]

    /// - Parameters:
    ///   - occurrence: nil for a campaign that is sent by hand, from `now` on.
    /// - Throws: `Diagnostic` when there is no database of zones.
    package init(_ schedule: Schedule, _ occurrence: Occurrence?, now: Timestamp, zones: ZoneDatabase = .system)
        throws(Diagnostic)
    {
        let own = schedule.zone.fallback
        isByDevice = schedule.zone.isRecipient && occurrence != nil || schedule.quietHours != nil
        func due(in zone: ZoneRules) -> Timestamp {
            let base =
                occurrence.map { schedule.zone.isRecipient ? zone.firstMoment(of: $0.localTime) : $0.begins } ?? now
            return schedule.quietHours?.end(from: base, in: zone) ?? base
        }
        guard isByDevice else {
            waves = [Wave(zone: own, due: due(in: own))]
            places = [:]
            fallback = 0
            return
        }
        var groups: [ClockKey: [ZoneRules]] = [:]
        for name in Set(zones.names() + [own.name]) {
            guard let zone = name == own.name ? own : try? zones.zone(named: name) else { continue }
            groups[ClockKey(zone, due: due(in: zone), schedule.quietHours), default: []].append(zone)
        }
        let sorted = groups.map { (due: $0.key.due, zones: $0.value.sorted(by: Self.isBetterKnown)) }
            .sorted { ($0.due, $0.zones[0].name) < ($1.due, $1.zones[0].name) }
        guard sorted.count <= SegmentSorter.mostWaves else {
            throw Diagnostic(
                "the clocks of the zones in \(zones.folder) differ in more than \(SegmentSorter.mostWaves) ways")
        }
        waves = sorted.map { Wave(zone: $0.zones[0], due: $0.due) }
        var places: [UInt64: Int] = [:]
        for (number, group) in sorted.enumerated() {
            for zone in group.zones { places[Self.hash(zone.name.utf8)] = number }
        }
        self.places = places
        fallback = places[Self.hash(own.name.utf8)] ?? 0
    }

    /// The common facts of a wave's zones: when it goes out and, where quiet hours apply, what
    /// their clocks show from two days before to two weeks after.
    private struct ClockKey: Hashable {
        var due: Timestamp
        var offsets: [Int64] = []

        init(_ zone: ZoneRules, due: Timestamp, _ quietHours: QuietHours?) {
            self.due = due
            guard quietHours != nil else { return }
            let start = due.adding(seconds: -2 * 86_400)
            offsets = [Int64(zone.offset(at: start))]
            for change in zone.changes(after: start, through: due.adding(seconds: 14 * 86_400)) {
                offsets += [change.epochSeconds, Int64(zone.offset(at: change))]
            }
        }
    }

    /// The zone that gives a wave its name: a well-known one, otherwise the first in the alphabet.
    private static func isBetterKnown(_ left: ZoneRules, _ right: ZoneRules) -> Bool {
        func rank(_ name: String) -> Int {
            wellKnown.firstIndex(of: name) ?? (name.contains("/") && !name.hasPrefix("Etc/") ? 100 : 101)
        }
        return (rank(left.name), left.name) < (rank(right.name), right.name)
    }

    private static let wellKnown = [
        "UTC", "Europe/London", "Europe/Berlin", "Europe/Athens", "Europe/Moscow", "Asia/Dubai", "Asia/Kolkata",
        "Asia/Bangkok",
        "Asia/Shanghai", "Asia/Tokyo", "Australia/Sydney", "Pacific/Auckland", "America/Sao_Paulo", "America/New_York",
        "America/Chicago",
        "America/Denver", "America/Los_Angeles",
    ]

    // MARK: - Devices

    /// The number of a judgement where the row names no zone.
    var blankNumber: Int { waves.count }
    /// The number of a judgement where the row names a zone that does not exist.
    var unknownNumber: Int { waves.count + 1 }

    /// The number of a cell's judgement: that of its wave, or one of the above.
    func number(of cell: UnsafeBufferPointer<UInt8>) -> Int {
        var name = cell[...]
        while name.first == UInt8(ascii: " ") { name.removeFirst() }
        while name.last == UInt8(ascii: " ") { name.removeLast() }
        if name.isEmpty { return blankNumber }
        return places[Self.hash(name)] ?? unknownNumber
    }

    /// The wave of a judgement's number.
    func place(of number: Int) -> Int { number < waves.count ? number : fallback }

    /// FNV-1a. Source: Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm".
    private static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

extension SendTimes {
    /// How a device's wave is found while recipients are written; nil when all go out together.
    func waveOfRecipients() -> ((RecipientRecord) -> Int)? {
        guard waves.count > 1 else { return nil }
        var cells = EscapedCells()
        return { recipient in
            precondition(cells.locate(in: recipient.fields) && cells.count > 0, "the cell of the zone is the last one")
            return place(of: number(of: cells[cells.count - 1]))
        }
    }

    /// The waves of a run that have devices.
    /// - Parameter counts: recipients by the numbers of their judgements.
    func runWaves(_ counts: [Int: Int]) -> [RunWave] {
        var devices = [Int](repeating: 0, count: waves.count)
        for (number, count) in counts { devices[isByDevice ? place(of: number) : 0] += count }
        var first = 0
        return zip(waves, devices).filter { $0.1 > 0 }.map { wave, count in
            defer { first += count }
            return RunWave(ids: first..<first + count, zone: wave.zone.name, due: wave.due)
        }
    }
}

/// When a campaign is to go out, as its sender decided.
enum SendingTime: Hashable, Sendable {
    /// At once and to all devices, whatever its schedule says.
    case now
    /// At once, but not to devices in quiet hours.
    case byHand
    /// At a time of its schedule.
    case at(Occurrence)
}

extension SendingTime {
    /// What `volley send FILE` does, unless its time was already sent. That refusal says more than
    /// "too late", and `--now`, the remedy for that, would reach every device again.
    static func ofSending(_ context: CampaignContext, isNow: Bool, now: Timestamp, in catalog: RunsFolder) throws
        -> SendingTime
    {
        try unlessSentAlready(context.campaign, catalog) { () throws(Diagnostic) in
            try ofSending(context.campaign, isNow: isNow, now: now)
        }
    }

    /// What `volley plan FILE` freezes, unless that time was already sent.
    static func ofPlanning(_ context: CampaignContext, now: Timestamp, in catalog: RunsFolder) throws -> SendingTime {
        try unlessSentAlready(context.campaign, catalog) { () throws(Diagnostic) in
            try ofPlanning(context.campaign, now: now)
        }
    }

    private static func unlessSentAlready(
        _ campaign: Campaign, _ catalog: RunsFolder, _ decide: () throws(Diagnostic) -> SendingTime
    ) throws -> SendingTime {
        do throws(Diagnostic) {
            let sendingTime = try decide()
            guard case .at(let occurrence) = sendingTime else { return sendingTime }
            if let taken = try refusal(campaign, time: occurrence.localTime, catalog) { throw taken }
            return sendingTime
        } catch {
            guard let schedule = campaign.schedule, schedule.repeat == nil, let at = schedule.at else { throw error }
            throw try refusal(campaign, time: at, catalog) ?? error
        }
    }

    private static func refusal(_ campaign: Campaign, time: LocalTime, _ catalog: RunsFolder) throws(Diagnostic)
        -> Diagnostic?
    {
        do { return try ScheduledTime.refusal(campaign, occurrence: time, in: catalog) } catch {
            throw Diagnostic(explaining: error)
        }
    }

    /// What `volley send FILE` does: it sends now or not at all, as a person is watching.
    /// - Parameter isNow: `--now`.
    /// - Throws: `Diagnostic` when the campaign's time has not come, or has passed by too much.
    static func ofSending(_ campaign: Campaign, isNow: Bool, now: Timestamp) throws(Diagnostic) -> SendingTime {
        guard let schedule = campaign.schedule, !isNow else { return .now }
        guard schedule.hasTimes else { return .byHand }
        guard schedule.repeat == nil, let at = schedule.at else {
            let next = schedule.nextOccurrence(from: now)
            throw refused(campaign, when: "repeats" + (next.map { ", next at \(words($0, schedule))" } ?? ""))
        }
        let occurrence = schedule.occurrence(at: at)
        if occurrence.begins > now { throw refused(campaign, when: "goes out at \(words(occurrence, schedule))") }
        if schedule.isPast(occurrence, at: now) { throw past(campaign, occurrence, schedule) }
        return .at(occurrence)
    }

    /// What `volley plan FILE` freezes: the next time, or the one under way.
    /// - Throws: `Diagnostic` when no time is left.
    static func ofPlanning(_ campaign: Campaign, now: Timestamp) throws(Diagnostic) -> SendingTime {
        let sendingTime = ofPreview(campaign, now: now)
        if case .at(let occurrence) = sendingTime, let schedule = campaign.schedule,
            schedule.isPast(occurrence, at: now)
        {
            throw past(campaign, occurrence, schedule)
        }
        return sendingTime
    }

    /// What a preview shows: the next time, otherwise the last one.
    static func ofPreview(_ campaign: Campaign, now: Timestamp) -> SendingTime {
        guard let schedule = campaign.schedule else { return .now }
        if let next = schedule.nextOccurrence(from: now) { return .at(next) }
        return schedule.at.map { .at(schedule.occurrence(at: $0)) } ?? .byHand
    }

    private static func refused(_ campaign: Campaign, when: String) -> Diagnostic {
        refused(
            campaign, when: when,
            remedy:
                "`volley schedule \(campaign.file)` waits for it. `volley send \(campaign.file) --now` sends it to all devices at once, and "
                + "`volley schedule` sends it again at its time.", [.leaveToSender, .ask(.sendNow)])
    }

    private static func refused(_ campaign: Campaign, when: String, remedy: String, _ remedies: [Remedy]) -> Diagnostic
    {
        let message = "'\(campaign.name.value)' \(when); nothing was sent"
        return campaign.schedulePosition.map { Diagnostic(message, at: $0, remedy: remedy, remedies) }
            ?? Diagnostic(message, remedy: remedy, remedies)
    }

    private static func past(_ campaign: Campaign, _ occurrence: Occurrence, _ schedule: Schedule) -> Diagnostic {
        refused(
            campaign,
            when:
                "was to go out at \(words(occurrence, schedule)), and it is too late for that now (late: \(schedule.late))",
            remedy: "Write a later time; `volley send \(campaign.file) --now` sends it to all devices at once.",
            [.giveAnotherTime, .ask(.sendNow)])
    }

    /// `2026-12-01 09:00 in Europe/Berlin (2026-12-01 08:00 in Etc/UTC)`: in the campaign's zone
    /// and in this machine's.
    static func words(_ occurrence: Occurrence, _ schedule: Schedule) -> String {
        let here = ZoneDatabase.system.displayZone
        let begins = "\(here.localTime(at: occurrence.begins).words) in \(here.name)"
        guard schedule.zone.isRecipient else {
            return "\(occurrence.localTime.words) in \(schedule.zone.fallback.name) (\(begins))"
        }
        return "\(occurrence.localTime.words) by each person's clock (from \(begins) on)"
    }
}

extension Planner {
    private var occurrence: Occurrence? { if case .at(let occurrence) = sendingTime { occurrence } else { nil } }

    /// The part of the schedule that the run keeps; nil when it goes out at once.
    var frozenSchedule: FrozenSchedule? {
        guard sendingTime != .now, let schedule = context.campaign.schedule else { return nil }
        return FrozenSchedule(schedule, occurrence)
    }

    /// When each device gets it; nil when all get it at once.
    func sendTimes() throws(Diagnostic) -> SendTimes? {
        guard sendingTime != .now, let schedule = context.campaign.schedule else { return nil }
        return try SendTimes(schedule, occurrence, now: now)
    }

    /// The times that devices' zones are judged with; nil when zones do not matter. Also when a
    /// campaign is sent at once despite quiet hours: a warning says how many devices are in theirs.
    func deviceClocks(_ times: SendTimes?) throws(Diagnostic) -> SendTimes? {
        if let times { return times.isByDevice ? times : nil }
        guard let schedule = context.campaign.schedule, schedule.quietHours != nil else { return nil }
        return try SendTimes(schedule, nil, now: now)
    }

    /// The times of the campaign in a preview; nil without a schedule.
    func previewSchedule(_ times: SendTimes?, _ counts: [Int: Int]) -> PreviewSchedule? {
        guard let schedule = context.campaign.schedule else { return nil }
        return PreviewSchedule(schedule, sendingTime, times, counts, now: now)
    }
}
