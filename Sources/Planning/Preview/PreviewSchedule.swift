import Workspace
import Base
import Campaigns
import Runs

/// When a campaign goes out to which devices, as a preview shows it.
struct PreviewSchedule: Sendable {
    let schedule: Schedule
    let sendingTime: SendingTime
    /// In sending order; empty when all go out at once.
    let waves: [RunWave]
    /// Recipients whose row names no zone, and recipients whose row names one that does not exist;
    /// 0 where zones do not matter.
    let withoutZone: Int, withUnknownZone: Int
    /// Recipients that are left out because it is already too late.
    let tooLate: Int
    /// Recipients that are in their quiet hours now.
    let inQuietHours: Int

    /// - Parameter counts: recipients by the numbers of their judgements.
    package init(
        _ schedule: Schedule, _ sendingTime: SendingTime, _ times: SendTimes?, _ counts: [Int: Int], now: Timestamp
    ) {
        self.schedule = schedule
        self.sendingTime = sendingTime
        let all = times?.runWaves(counts) ?? []
        waves = sendingTime == .now ? [] : all
        let isByDevice = times?.isByDevice ?? false
        let blanks = isByDevice ? counts[times?.blankNumber ?? -1, default: 0] : 0
        // When the schedule names a zone, an export without any zones needs no mention.
        withoutZone = schedule.zone.isRecipient || blanks < counts.values.reduce(0, +) ? blanks : 0
        withUnknownZone = isByDevice ? counts[times?.unknownNumber ?? -1, default: 0] : 0
        func devices(where isMeant: (RunWave, ZoneRules) -> Bool) -> Int {
            all.reduce(0) { sum, wave in
                guard let zone = times?.waves.first(where: { $0.zone.name == wave.zone })?.zone, isMeant(wave, zone)
                else { return sum }
                return sum + wave.ids.count
            }
        }
        inQuietHours = devices { schedule.quietHours?.contains(now, in: $1) ?? false }
        guard case .at = sendingTime else {
            tooLate = 0
            return
        }
        tooLate = devices { wave, zone in
            guard now > wave.due else { return false }
            let seconds =
                schedule.quietHours?.audibleSeconds(from: wave.due, to: now, in: zone)
                ?? Int(now.epochSeconds - wave.due.epochSeconds)
            return schedule.late.isTooLate(bySeconds: seconds)
        }
    }

    /// What `preview --json` holds as `schedule`.
    var json: JSONValue {
        var pairs: [(String, JSONValue)] = [
            ("timezone", .string(schedule.zone.isRecipient ? "recipient" : schedule.zone.fallback.name)),
            ("fallback_timezone", schedule.zone.isRecipient ? .string(schedule.zone.fallback.name) : .null),
            ("quiet_hours", schedule.quietHours.map { .string($0.description) } ?? .null),
            ("repeat", schedule.repeat.map { .string($0.description) } ?? .null),
            ("late", .string(schedule.late.description)),
            ("ignored", .bool(sendingTime == .now)),
        ]
        var occurrence: JSONValue = .null
        if case .at(let time) = sendingTime { occurrence = .string(time.name) }
        pairs.append(("occurrence", occurrence))
        pairs += [
            ("first_at", waves.first.map { .string($0.due.description) } ?? .null),
            ("last_at", waves.last.map { .string($0.due.description) } ?? .null),
            ("without_timezone", .integer(Int64(withoutZone))), ("unknown_timezone", .integer(Int64(withUnknownZone))),
            ("too_late", .integer(Int64(tooLate))), ("in_quiet_hours", .integer(Int64(inQuietHours))),
            (
                "waves",
                .array(
                    waves.map { wave in
                        .object(pairs: [
                            ("at", .string(wave.due.description)),
                            ("local_time", .string(localTime(wave)?.description ?? "")),
                            ("timezone", .string(wave.zone)), ("devices", .integer(Int64(wave.ids.count))),
                        ])
                    })
            ),
        ]
        return .object(pairs: pairs)
    }

    private func localTime(_ wave: RunWave) -> LocalTime? {
        (try? ZoneDatabase.system.zone(named: wave.zone))?.localTime(at: wave.due)
    }

    // MARK: - In words

    /// How many times are shown one by one.
    private static let shownWaves = 8

    /// The lines of the preview's text.
    var lines: [String] { ["Goes out      \(headline)"] + details.map { "  \($0)" } }

    /// What follows the headline: which devices get it when, and which differ from the schedule.
    var details: [String] {
        var lines: [String] = []
        if waves.count > 1 {
            for wave in waves.prefix(Self.shownWaves) { lines.append(row(wave)) }
            if waves.count > Self.shownWaves, let last = waves.last {
                let hidden = waves.count - Self.shownWaves - 1
                if hidden > 0 { lines.append("… \(hidden) more \(TextFormat.plural(hidden, one: "time")) …") }
                lines.append(row(last))
            }
        }
        for (count, what) in [
            (withoutZone, "without a time zone: \(schedule.zone.fallback.name) applies"),
            (withUnknownZone, "with a time zone that does not exist: \(schedule.zone.fallback.name) applies"),
            (tooLate, "left out, because it is already too late (late: \(schedule.late))"),
        ] where count > 0 { lines.append("\(TextFormat.devices(count)) \(what)") }
        return lines
    }

    var headline: String {
        let quiet = schedule.quietHours.map { ", never from \($0.description.replacing("-", with: " to "))" } ?? ""
        switch sendingTime {
        case .now: return "at once, to all devices, whatever its schedule says"
        case .byHand: return "when it is sent\(quiet)"
        case .at(let occurrence):
            let again = schedule.repeat.map { ", and again: \($0)\(Self.timesADay($0))" } ?? ""
            return SendingTime.words(occurrence, schedule) + quiet + again
        }
    }

    /// How often a rule fires on one of its days, when that is more than once.
    private static func timesADay(_ rule: CronRule) -> String {
        let count = rule.timesOfDay { _ in true }.count
        return count > 1 ? ", \(TextFormat.count(count)) times on each of its days" : ""
    }

    private func row(_ wave: RunWave) -> String {
        let local = localTime(wave)?.words ?? wave.due.description
        let devices = TextFormat.devices(wave.ids.count)
        return "\(local) in \(TextFormat.padded(wave.zone, to: 20)) \(wave.due)  \(devices)"
    }

    // MARK: - Warnings

    /// Warnings about the schedule.
    func warnings(_ campaign: Campaign) -> [Diagnostic] {
        guard let position = campaign.schedulePosition else { return [] }
        var found: [Diagnostic] = []
        if sendingTime == .now, inQuietHours > 0, let quiet = schedule.quietHours {
            found.append(
                .warning(
                    .sentInQuietHours, message: quiet.sentInThem(inQuietHours), at: position,
                    remedy: "Without --now, their pushes wait until the quiet hours end."))
        }
        if withUnknownZone > 0 {
            found.append(
                .warning(
                    .timezonesUnknown,
                    message:
                        "\(TextFormat.counted(withUnknownZone, one: "device has", many: "devices have")) a time zone in the export that does not exist, so \(schedule.zone.fallback.name) applies to \(TextFormat.plural(withUnknownZone, one: "it", many: "them"))",
                    at: position, remedy: "Write zones as in the tz database, for example Europe/Berlin."))
        }
        if case .at(let expiry)? = campaign.delivery.expiry {
            let devices = waves.filter { $0.due >= expiry }.reduce(0) { $0 + $1.ids.count }
            if devices > 0 {
                found.append(
                    .warning(
                        .expiresBeforeSchedule,
                        message:
                            "\(TextFormat.devices(devices)) would be due only after the expiry \(expiry), and so would get none",
                        at: position, remedy: "Write a later expiry, or one relative to the start, such as expires: 4h."
                    ))
            }
        }
        return found
    }
}
