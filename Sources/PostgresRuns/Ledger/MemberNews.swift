package import Base
package import Runs

/// What a beat brings back: how the run is, and what the other members say.
package struct MemberNews: Sendable {
    /// Another member that is there.
    package struct Other: Hashable, Sendable {
        /// Its number in the store.
        package var number: Int
        /// How often it has beaten.
        package var beat: Int64
        /// The name of its machine.
        package var machine: String
    }

    /// The run's state, which is the order at the same time, and why it stopped.
    package var state: RunState
    package var cause: StopCause?
    /// Whether this member does what is done once for all.
    package var isConductor = false
    /// Whether no member does.
    package var lacksConductor = false
    /// The others that are there.
    package var others: [Other] = []
    /// The answers of all other members, also of those that left or died, by the numbers of services.
    package var elsewhere: [Int: [Outcome: Int]] = [:]
    /// The first ids of the legs that all members may send: their canaries were judged.
    package var openLegs: Set<Int> = []
    /// The first ids of legs that a service stopped.
    package var stoppedLegs: Set<Int> = []
    /// The first ids of legs of which something can be leased: nobody has it yet, or it came back.
    package var legsWithWork: Set<Int> = []
    /// The life of the database, and whether all members, and a witness, have confirmed that nothing is missing in it.
    package var databaseLife = 0, isCalm = true
    /// Whether a witness has.
    package var isWitnessed = true
    /// Entries that the database has forgotten, though it had confirmed them.
    package var missing = 0
    /// Whether it is known who gets nothing because of frequency caps (`SharedLedger.cappedIDs`).
    package var knowsCapped = false
    /// The database's clock minus this machine's, in seconds, and half of the time that asking took, which is its error.
    package var clockOffsetSeconds = 0.0, clockErrorSeconds = 0.0
}
