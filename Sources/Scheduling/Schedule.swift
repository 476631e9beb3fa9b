/// When a campaign goes out.
public struct Schedule: Hashable, Sendable {
    /// Whose clock the times are of.
    public enum Zone: Hashable, Sendable {
        /// All devices at the same moment.
        case named(ZoneRules)
        /// Each device at that time where it is; those whose zone is not known, by another.
        case recipient(fallback: ZoneRules)

        /// The zone that counts where nothing is known of a device.
        public var fallback: ZoneRules {
            switch self {
            case .named(let zone), .recipient(fallback: let zone): zone
            }
        }

        /// Whether each device has its own.
        public var isRecipient: Bool { if case .recipient = self { true } else { false } }
    }

    /// The time, or the first of several; nil when it is sent by hand, or repeats from the start.
    public var at: LocalTime?
    /// Whose clock the times are of.
    public var zone: Zone
    /// When nothing may go out, on each device's own clock where the export knows it.
    public var quietHours: QuietHours?
    /// The times at which it goes out again; after `at`, where there is one.
    public var `repeat`: CronRule?
    /// What to do when it could not be sent at the time.
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

    /// Whether it names times. Without any it only has quiet hours, and is sent by hand.
    public var hasTimes: Bool { at != nil || `repeat` != nil }
}
