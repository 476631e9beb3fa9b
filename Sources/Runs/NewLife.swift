/// A life of a run that is about to begin, and what was seen of the run by the process that begins it: where more is known by then, it must not.
public struct NewLife: Hashable, Sendable {
    /// Its name (`SendingHistory.life(after:)`).
    public var life: String
    /// The life that the run's account has now; blank when it has none.
    public var seen: String
    /// Recipients that the run has reached, or may have, as its account says.
    public var reached: Int
    /// Claims that stand in its account (`RunClaims.made`).
    public var claimed: Int
    /// The names of the lists of its services and environments (`RunSettings.listName`).
    public var environment: String
    /// The time of the schedule that it is sent for, of a retry that of the run it retries; nil when it belongs to no time.
    public var time: SendingHistory.Time?
    /// Other begun retries of the run that it retries, as they were looked at.
    public var siblings: [String] = []
    /// Retries of it that were noted, and given up before they began, as they were looked at.
    public var givenUp: Set<String> = []
    /// The life of the run that it retries when the retry was planned; nil when it is not known.
    public var parentLife: String?

    /// The life after the one that was seen.
    public init(after seen: String, reached: Int, claimed: Int, in environment: String, for time: SendingHistory.Time? = nil) {
        life = SendingHistory.life(after: seen)
        self.seen = seen
        self.reached = reached
        self.claimed = claimed
        self.environment = environment
        self.time = time
    }
}
