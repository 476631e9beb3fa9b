package import Base
package import Runs

/// What a beat brings back: how the run is, and what the other workers say.
package struct WorkerNews: Sendable {
    /// Another worker that is there.
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
    /// Whether this worker does what is done once for all.
    package var isCoordinator = false
    /// Whether no worker does.
    package var lacksCoordinator = false
    /// The others that are there.
    package var others: [Other] = []
    /// The answers of all other workers, also of those that left or died, by the numbers of services.
    package var elsewhere: [Int: [Outcome: Int]] = [:]
    /// The first ids of the segments that all workers may send: their canaries were judged.
    package var openSegments: Set<Int> = []
    /// The first ids of segments that a service stopped.
    package var stoppedSegments: Set<Int> = []
    /// The first ids of segments of which something can be leased: no worker has it yet, or it came back.
    package var segmentsWithWork: Set<Int> = []
    /// The epoch of the database, and whether all workers, and a survivor, have confirmed that nothing is missing in
    /// it.
    package var databaseEpoch = 0, isCalm = true
    /// Whether a survivor has.
    package var isSurvivorConfirmed = true
    /// Entries that the database has forgotten, though it had confirmed them.
    package var missing = 0
    /// Whether it is known which recipients get nothing because of frequency caps (`SharedLedger.cappedIDs`).
    package var knowsCapped = false
    /// The database's clock minus this machine's, in seconds, and half of the time that asking took, which is its
    /// error.
    package var clockOffsetSeconds = 0.0, clockErrorSeconds = 0.0
}
