/// When a campaign is sent.
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

    /// The time, or the first of several; nil if the campaign is sent by hand, or only has `repeat`.
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
        at: LocalTime? = nil, zone: Zone, quietHours: QuietHours? = nil, repeat: CronRule? = nil, late: LatePolicy = .usual
    ) {
        self.at = at
        self.zone = zone
        self.quietHours = quietHours
        self.repeat = `repeat`
        self.late = late
    }

    /// Whether the schedule has times. Without any, it only has quiet hours, and the campaign is sent by hand.
    public var hasTimes: Bool { at != nil || `repeat` != nil }
}
