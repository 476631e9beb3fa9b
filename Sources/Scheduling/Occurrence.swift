public import Base

/// One of the times at which a campaign goes out.
public struct Occurrence: Hashable, Sendable {
    /// What the clock shows then. It names the occurrence: `2026-12-01T09:00`.
    public var localTime: LocalTime
    /// When it goes out to the first device anywhere.
    public var begins: Timestamp
    /// When it goes out to the last device anywhere; the same moment unless each device has its own clock.
    public var ends: Timestamp
    /// Whether the schedule's clock skips this time, so that it goes out at the first moment after the gap. Never with clocks of devices: there
    /// gaps differ.
    public var isInGap: Bool

    /// The time's name.
    public var name: String { localTime.description }
}

extension Schedule {
    /// Seconds by which the first clock on earth is ahead of UTC: Kiritimati.
    private static let earliestOffset = 14 * 3600
    /// Seconds by which the last one is behind it: Etc/GMT+12, as ships use it.
    private static let latestOffset = -12 * 3600

    /// An occurrence by its time.
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

    /// Every occurrence that begins between two moments, both included, in the order in which they begin.
    ///
    /// A time that clocks show twice counts once, the first time. A time that they skip is put off to the first moment after the gap; those of a rule
    /// with wildcards for minute or hour are left out, as another follows anyway, and so is whatever would go out together with another.
    public func occurrences(from start: Timestamp, through end: Timestamp) -> [Occurrence] {
        guard start <= end else { return [] }
        // Whatever the zone, and however long the gap, its clock is not further from UTC than this.
        let reach = 2 * 24 * 60
        let first = LocalTime(minutes: LocalTime.quotient(Int(start.epochSeconds), divisor: 60) - reach)
        let last = LocalTime(minutes: LocalTime.quotient(Int(end.epochSeconds), divisor: 60) + reach)
        var found = times(from: first, through: last).filter { $0.begins >= start && $0.begins <= end }
        found.sort { ($0.begins, $0.isInGap ? 1 : 0, $0.localTime) < ($1.begins, $1.isInGap ? 1 : 0, $1.localTime) }
        return found.enumerated().filter { $0.offset == 0 || found[$0.offset - 1].begins != $0.element.begins }.map(\.element)
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
