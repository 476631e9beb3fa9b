import Base
import Scheduling

/// What a plan freezes of its campaign's schedule, beside the waves themselves.
struct FrozenSchedule: Hashable, Sendable {
    /// The occurrence that it was planned for; nil when it is sent by hand.
    var occurrence: LocalTime?
    /// `recipient`, or the name of a zone.
    var timezone: String
    var quietHours: QuietHours?
    var late: LatePolicy
    /// How long planning took: that makes nobody late. 0 in plans of older versions.
    var planningSeconds = 0

    init(_ schedule: Schedule, _ occurrence: Occurrence?) {
        self.occurrence = occurrence?.localTime
        timezone = schedule.zone.isRecipient ? "recipient" : schedule.zone.fallback.name
        quietHours = schedule.quietHours
        // What has no time cannot be late.
        late = occurrence == nil ? .send : schedule.late
    }

    var json: JSONValue {
        var seconds: JSONValue = .null
        if case .skip(let limit) = late { seconds = .integer(Int64(limit)) }
        return .object(pairs: [
            ("occurrence", occurrence.map { .string($0.description) } ?? .null), ("timezone", .string(timezone)),
            ("quiet_hours", quietHours.map { .string($0.description) } ?? .null), ("late_seconds", seconds),
            ("planning_seconds", .integer(Int64(planningSeconds))),
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
        planningSeconds = max(0, json["planning_seconds"]?.integerValue.map { Int($0) } ?? 0)
    }
}
