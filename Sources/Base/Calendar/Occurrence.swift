/// One of the times at which a campaign is sent.
public struct Occurrence: Hashable, Sendable {
    /// The time on the clock. It names the occurrence: `2026-12-01T09:00`.
    public var localTime: LocalTime
    /// When the campaign is sent to the first device anywhere.
    public var begins: Timestamp
    /// When the campaign is sent to the last device anywhere; the same moment as `begins`, unless each device has its own clock.
    public var ends: Timestamp
    /// Whether the schedule's clock skips this time, so that the campaign is sent at the first moment after the gap. Always false with
    /// devices' own clocks, whose gaps differ.
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

    /// The occurrence of a name; nil if the schedule has none at that time, whatever the clocks of the zone do then.
    public func occurrence(named name: String) -> Occurrence? {
        guard let local = LocalTime(name), at == local || isRepeated(at: local) else { return nil }
        return occurrence(at: local)
    }

    private func isRepeated(at local: LocalTime) -> Bool {
        at.map { local > $0 } ?? true && `repeat`?.next(from: local) == local
    }

    /// Every occurrence that begins between two moments, including both, in the order in which they begin.
    ///
    /// A time that clocks show twice counts once, the first time. A time that clocks skip is moved to the first moment after the gap. If
    /// the rule has a wildcard for minute or hour, skipped times are left out, because another time follows anyway. Of several occurrences
    /// at the same moment, only one is kept.
    public func occurrences(from start: Timestamp, through end: Timestamp) -> [Occurrence] {
        guard start <= end else { return [] }
        // In every zone and for every gap, the clock differs from UTC by less than this.
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
