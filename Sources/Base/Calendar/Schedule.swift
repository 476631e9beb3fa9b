/// When a campaign is sent.
///
/// ```swift
/// let schedule = Schedule(zone: .named(.utc), repeat: try CronRule("0 9 * * 1"))
/// let next = schedule.nextOccurrence(from: now)?.begins
/// ```
public struct Schedule: Hashable, Sendable {
    /// The clock by which the times are meant.
    public enum Zone: Hashable, Sendable {
        /// All devices at the same moment.
        case named(ZoneRules)
        /// Each device at that time on its own clock; devices without a known zone use `fallback`.
        case recipient(fallback: ZoneRules)

        /// The zone for devices about which nothing is known.
        public var fallback: ZoneRules {
            switch self {
            case .named(let zone), .recipient(fallback: let zone): zone
            }
        }

        /// Whether each device uses its own clock.
        public var isRecipient: Bool { if case .recipient = self { true } else { false } }
    }

    /// The time, or the first of several; nil if the campaign is sent by hand, or only has
    /// `repeat`.
    public var at: LocalTime?
    /// The clock by which the times are meant.
    public var zone: Zone
    /// When nothing may be sent, on each device's own clock if the export has its zone.
    public var quietHours: QuietHours?
    /// The times at which it is sent again; after `at`, if there is one.
    public var `repeat`: CronRule?
    /// What to do if it could not be sent at the time.
    public var late: LatePolicy

    /// A schedule.
    public init(
        at: LocalTime? = nil, zone: Zone, quietHours: QuietHours? = nil, repeat: CronRule? = nil,
        late: LatePolicy = .usual
    ) {
        self.at = at
        self.zone = zone
        self.quietHours = quietHours
        self.repeat = `repeat`
        self.late = late
    }

    /// Whether the schedule has times. Without any, it only has quiet hours, and the campaign is
    /// sent by hand.
    public var hasTimes: Bool { at != nil || `repeat` != nil }
}

extension Schedule {
    /// The first occurrence that begins at a moment or later; nil if there are no more.
    public func nextOccurrence(from moment: Timestamp) -> Occurrence? {
        guard hasTimes else { return nil }
        if `repeat` == nil { return at.map(occurrence).flatMap { $0.begins >= moment ? $0 : nil } }
        // Most rules match within days, some only within years: the first Monday that is a
        // February 29.
        let start = at.map { max(moment, occurrence(at: $0).begins) } ?? moment
        for days in [3, 40, 400, 4000, 40_000] {
            if let next = occurrences(from: start, through: start.adding(seconds: Double(days) * 86_400)).first {
                return next
            }
        }
        return nil
    }

    /// Whether it is too late to send an occurrence to any device.
    public func isPast(_ occurrence: Occurrence, at now: Timestamp) -> Bool { isTooLate(for: occurrence.ends, at: now) }

    /// Whether `late` forbids beginning an occurrence that should have been sent to the last device
    /// at `end`. Quiet hours do not count as lateness.
    public func isTooLate(for end: Timestamp, at now: Timestamp) -> Bool {
        guard now > end else { return false }
        let seconds =
            quietHours?.audibleSeconds(from: end, to: now, in: zone.fallback)
            ?? Int(now.epochSeconds - end.epochSeconds)
        return late.isTooLate(bySeconds: seconds)
    }
}

/// What to do if nothing could be sent at the scheduled time, for example because the machine was
/// off.
public enum LatePolicy: Hashable, Sendable, CustomStringConvertible {
    /// `send`: send, however late it is.
    case send
    /// `skip after 2h`: do not send if more than this many seconds have passed; at least a minute.
    case skip(afterSeconds: Int)

    /// The minimum for `skip`: a delay of less than a minute does not matter.
    public static let shortestSeconds = 60

    /// The default of campaigns: `skip after 2h`.
    public static let usual = LatePolicy.skip(afterSeconds: 2 * 3600)

    /// As written in a campaign: `send`, `skip after 2h`.
    public var description: String {
        guard case .skip(let seconds) = self else { return "send" }
        let units = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
        let unit = units.first { seconds % $0.0 == 0 } ?? (1, "s")
        return "skip after \(seconds / unit.0)\(unit.1)"
    }

    /// Whether this many seconds are too late.
    public func isTooLate(bySeconds seconds: Int) -> Bool {
        if case .skip(let limit) = self { seconds > limit } else { false }
    }
}

/// One of the times at which a campaign is sent.
public struct Occurrence: Hashable, Sendable {
    /// The time on the clock. It names the occurrence: `2026-12-01T09:00`.
    public var localTime: LocalTime
    /// When the campaign is sent to the first device anywhere.
    public var begins: Timestamp
    /// When the campaign is sent to the last device anywhere; the same moment as `begins`, unless
    /// each device has its own clock.
    public var ends: Timestamp
    /// Whether the schedule's clock skips this time, so that the campaign is sent at the first
    /// moment after the gap. Always false with devices' own clocks, because their gaps differ.
    public var isInGap: Bool

    /// The name of the occurrence.
    public var name: String { localTime.description }
}

extension Schedule {
    /// Seconds by which the world's earliest clock is ahead of UTC: Kiritimati.
    private static let earliestOffset = 14 * 3600
    /// Seconds by which the world's latest clock is behind UTC: Etc/GMT+12, used by ships.
    private static let latestOffset = -12 * 3600

    /// The occurrence at a time.
    public func occurrence(at local: LocalTime) -> Occurrence {
        switch zone {
        case .named(let zone):
            let moment = zone.firstMoment(of: local)
            return Occurrence(localTime: local, begins: moment, ends: moment, isInGap: zone.moments(of: local).isEmpty)
        case .recipient:
            let seconds = Int64(local.minutes) * 60
            return Occurrence(
                localTime: local, begins: Timestamp(epochSeconds: seconds - Int64(Self.earliestOffset)),
                ends: Timestamp(epochSeconds: seconds - Int64(Self.latestOffset)), isInGap: false)
        }
    }

    /// The occurrence of a name; nil if the schedule has none at that time, whatever the clocks of
    /// the zone do then.
    public func occurrence(named name: String) -> Occurrence? {
        guard let local = LocalTime(name), at == local || isRepeated(at: local) else { return nil }
        return occurrence(at: local)
    }

    private func isRepeated(at local: LocalTime) -> Bool {
        at.map { local > $0 } ?? true && `repeat`?.next(from: local) == local
    }

    /// Every occurrence that begins between two moments, including both, in the order in which they
    /// begin.
    ///
    /// A time that clocks show twice counts once, the first time. A time that clocks skip is moved
    /// to the first moment after the gap. If the rule has a wildcard for minute or hour, skipped
    /// times are left out, because another time follows anyway. Of several occurrences at the same
    /// moment, only one is kept.
    public func occurrences(from start: Timestamp, through end: Timestamp) -> [Occurrence] {
        guard start <= end else { return [] }
        // In every zone and for every gap, the clock differs from UTC by less than this.
        let reach = 2 * 24 * 60
        let first = LocalTime(minutes: LocalTime.quotient(Int(start.epochSeconds), divisor: 60) - reach)
        let last = LocalTime(minutes: LocalTime.quotient(Int(end.epochSeconds), divisor: 60) + reach)
        var found = times(from: first, through: last).filter { $0.begins >= start && $0.begins <= end }
        found.sort { ($0.begins, $0.isInGap ? 1 : 0, $0.localTime) < ($1.begins, $1.isInGap ? 1 : 0, $1.localTime) }
        return found.enumerated().filter { $0.offset == 0 || found[$0.offset - 1].begins != $0.element.begins }.map(
            \.element)
    }

    private func times(from first: LocalTime, through last: LocalTime) -> [Occurrence] {
        var found: [Occurrence] = []
        if let at, first <= at, at <= last { found.append(occurrence(at: at)) }
        guard let rule = `repeat` else { return found }
        var next = rule.next(from: max(first, at.map { $0.adding(minutes: 1) } ?? first))
        while let time = next, time <= last {
            let one = occurrence(at: time)
            if !one.isInGap || !rule.isWildcard { found.append(one) }
            next = rule.next(from: time.adding(minutes: 1))
        }
        return found
    }
}

/// Times that people choose without knowing cron: one time of day, on days that a few words name.
///
/// ```swift
/// let rule = RegularTimes(.weekdays([1, 3]), minuteOfDay: 9 * 60).rule  // 0 9 * * mon,wed
/// ```
public struct RegularTimes: Hashable, Sendable {
    /// The days.
    public enum Days: Hashable, Sendable {
        case everyDay
        /// Monday to Friday.
        case workingDays
        /// Of every week; 0 is Sunday, 6 is Saturday. At least one.
        case weekdays(Set<Int>)
        /// Of every month, 1 to 31. Months without it are left out.
        case dayOfMonth(Int)
    }

    /// The days.
    public var days: Days
    /// Minutes since midnight, 0 to 1439.
    public var minuteOfDay: Int

    /// Times of these days.
    public init(_ days: Days, minuteOfDay: Int) { (self.days, self.minuteOfDay) = (days, minuteOfDay) }

    /// The days of a week as cron names them, in the order in which people name them.
    public static let weekdays = [1, 2, 3, 4, 5, 6, 0].map { (number: $0, name: CronField.weekday.names[$0]) }
    private static let monday = 1, friday = 5

    /// What a rule means, however it is written.
    /// - Returns: nil when it means anything else, such as several times a day.
    public init?(_ rule: CronRule) {
        guard let minute = rule.minutes.onlyBit, let hour = rule.hours.onlyBit, rule.months == Self.bits(1...12) else {
            return nil
        }
        minuteOfDay = hour * 60 + minute
        let isAnyDay = rule.days == Self.bits(1...31), isAnyWeekday = rule.weekdays == Self.bits(0...6)
        switch (isAnyDay, isAnyWeekday) {
        case (true, true): days = .everyDay
        // Cron unites both where neither begins with *.
        case (true, false) where !rule.unitesDays:
            let weekdays = Set((0...6).filter { rule.weekdays >> UInt64($0) & 1 == 1 })
            days = weekdays == Set(Self.monday...Self.friday) ? .workingDays : .weekdays(weekdays)
        case (false, true) where !rule.unitesDays:
            guard let day = rule.days.onlyBit else { return nil }
            days = .dayOfMonth(day)
        default: return nil
        }
    }

    /// The rule, as cron writes it: `0 9 * * mon,thu`.
    public var rule: String {
        let time = "\(minuteOfDay % 60) \(minuteOfDay / 60)"
        switch days {
        case .everyDay: return "\(time) * * *"
        case .workingDays: return "\(time) * * mon-fri"
        case .weekdays(let days):
            return "\(time) * * \(Self.weekdays.filter { days.contains($0.number) }.map(\.name).joined(separator: ","))"
        case .dayOfMonth(let day): return "\(time) \(day) * *"
        }
    }

    private static func bits(_ values: ClosedRange<Int>) -> UInt64 { values.reduce(0) { $0 | 1 << UInt64($1) } }
}

extension UInt64 {
    /// The number of the only bit that is set; nil for none or several.
    fileprivate var onlyBit: Int? { nonzeroBitCount == 1 ? trailingZeroBitCount : nil }
}
