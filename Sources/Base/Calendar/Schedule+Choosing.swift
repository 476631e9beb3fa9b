extension Schedule {
    /// The first occurrence that begins at a moment or later; nil if there are no more.
    public func nextOccurrence(from moment: Timestamp) -> Occurrence? {
        guard hasTimes else { return nil }
        if `repeat` == nil { return at.map(occurrence).flatMap { $0.begins >= moment ? $0 : nil } }
        // Most rules match within days, some only within years: the first Monday that is a February 29.
        let start = at.map { max(moment, occurrence(at: $0).begins) } ?? moment
        for days in [3, 40, 400, 4000, 40_000] {
            if let next = occurrences(from: start, through: start.adding(seconds: Double(days) * 86_400)).first { return next }
        }
        return nil
    }

    /// Whether it is too late to send an occurrence to any device.
    public func isPast(_ occurrence: Occurrence, at now: Timestamp) -> Bool { isTooLate(for: occurrence.ends, at: now) }

    /// Whether `late` forbids beginning an occurrence that should have been sent to the last device at `end`. Quiet hours do not count as
    /// lateness.
    public func isTooLate(for end: Timestamp, at now: Timestamp) -> Bool {
        guard now > end else { return false }
        let seconds = quietHours?.audibleSeconds(from: end, to: now, in: zone.fallback) ?? Int(now.epochSeconds - end.epochSeconds)
        return late.isTooLate(bySeconds: seconds)
    }
}
