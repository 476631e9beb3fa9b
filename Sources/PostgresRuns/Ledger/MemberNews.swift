public import Base
public import Runs

/// What a beat brings back: how the run is, and what the other members say.
public struct MemberNews: Sendable {
    /// Another member that is there.
    public struct Other: Hashable, Sendable {
        /// Its number in the store.
        public var number: Int
        /// How often it has beaten.
        public var beat: Int64
        /// The name of its machine.
        public var machine: String
    }

    /// The run's state, which is the order at the same time, and why it stopped.
    public var state: RunState
    public var cause: StopCause?
    /// Whether this member does what is done once for all.
    public var isConductor = false
    /// Whether no member does.
    public var lacksConductor = false
    /// The others that are there.
    public var others: [Other] = []
    /// The answers of all other members, also of those that left or died, by the numbers of services.
    public var elsewhere: [Int: [Outcome: Int]] = [:]
    /// The first ids of the legs that all members may send: their canaries were judged.
    public var openLegs: Set<Int> = []
    /// The first ids of legs that a service stopped.
    public var stoppedLegs: Set<Int> = []
    /// The first ids of legs of which something can be leased: nobody has it yet, or it came back.
    public var legsWithWork: Set<Int> = []
    /// The life of the database, and whether all members have confirmed that nothing is missing in it.
    public var databaseLife = 0, isCalm = true
    /// Entries that the database has forgotten, though it had confirmed them.
    public var missing = 0
    /// Whether it is known who gets nothing because of frequency caps (`SharedLedger.cappedIDs`).
    public var knowsCapped = false
    /// The database's clock minus this machine's, in seconds, and half of the time that asking took, which is its error.
    public var clockOffsetSeconds = 0.0, clockErrorSeconds = 0.0
}
