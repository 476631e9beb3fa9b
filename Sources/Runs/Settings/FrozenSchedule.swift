public import Base

/// What a plan freezes of its campaign's schedule, other than the waves.
public struct FrozenSchedule: Hashable, Sendable {
    /// The occurrence that it was planned for; nil when it is sent by hand.
    public var occurrence: LocalTime?
    /// `recipient`, or the name of a zone.
    public var timezone: String
    /// When nothing may go out; nil for no quiet hours.
    public var quietHours: QuietHours?
    /// What to do when it could not be sent at its time.
    public var late: LatePolicy
    /// The delay between the intended and the actual time of planning: it makes no device late. nil
    /// in plans of older versions.
    public var planning: Range<Timestamp>?

    /// What a plan keeps of a schedule.
    /// - Parameter occurrence: what it is planned for; nil when it is sent by hand.
    public init(_ schedule: Schedule, _ occurrence: Occurrence?) {
        self.occurrence = occurrence?.localTime
        timezone = schedule.zone.isRecipient ? "recipient" : schedule.zone.fallback.name
        quietHours = schedule.quietHours
        // A run without a time cannot be late.
        late = occurrence == nil ? .send : schedule.late
    }

    var json: JSONValue {
        var seconds: JSONValue = .null
        if case .skip(let limit) = late { seconds = .integer(Int64(limit)) }
        return .object(pairs: [
            ("occurrence", occurrence.map { .string($0.description) } ?? .null), ("timezone", .string(timezone)),
            ("quiet_hours", quietHours.map { .string($0.description) } ?? .null), ("late_seconds", seconds),
            (
                "planning_ms",
                .array((planning.map { [$0.lowerBound, $0.upperBound] } ?? []).map { .integer($0.epochMilliseconds) })
            ),
        ])
    }

    init?(json: JSONValue) {
        guard let timezone = json["timezone"]?.stringValue, let late = json["late_seconds"] else { return nil }
        self.timezone = timezone
        if let name = json["occurrence"]?.stringValue {
            guard let time = LocalTime(name) else { return nil }
            occurrence = time
        }
        if let text = json["quiet_hours"]?.stringValue {
            guard let hours = try? QuietHours(text) else { return nil }
            quietHours = hours
        }
        switch late {
        case .null: self.late = .send
        default:
            guard let seconds = late.integerValue, seconds >= 0 else { return nil }
            self.late = .skip(afterSeconds: Int(seconds))
        }
        if case .array(let moments)? = json["planning_ms"], moments.count == 2, let begin = moments[0].integerValue,
            let end = moments[1].integerValue, begin <= end
        {
            planning = Timestamp(epochMilliseconds: begin)..<Timestamp(epochMilliseconds: end)
        }
    }
}
