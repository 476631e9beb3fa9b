/// Whether a `volley schedule` may find times due: only once all of them have written again, after
/// the database came up, which times they have begun.
///
/// A database that comes up again may have forgotten that a time was begun (`RecoveryBarrier`): a
/// standby that lagged, a backup that was brought back. Another service would find that time due
/// within `late`, and send the campaign a second time. But each service has a record of its own
/// (schedule.sqlite). So in a new epoch of the database, and whenever it joins, it writes again
/// what its record says of the times that schedules look back to; and no service finds a time due,
/// or begins one that the database does not have, before the epoch is old enough that services that
/// have not written yet count as silent. A value; the statement that claims a time carries the same
/// condition.
///
/// What remains: times that were begun by a service that is away for longer than that, and were
/// forgotten.
struct FiringBarrier {
    /// From the first look of an epoch until times may be found due; seconds.
    static let quietSeconds = WorkerWatch.silenceSeconds

    /// A service as it has joined, in one epoch of the database. In another one it writes
    /// everything again.
    struct JoinedService: Hashable, Sendable {
        /// The service's number, which changes whenever it joins.
        var service: Int
        var epoch: Int
    }

    private var standing: JoinedService?
    private var isQuiet = true
    private var written: JoinedService?

    /// A beat succeeded.
    /// - Parameter isQuiet: whether the database says that times may not be found due yet.
    mutating func beat(_ standing: JoinedService, isQuiet: Bool) { (self.standing, self.isQuiet) = (standing, isQuiet) }

    /// The database cannot be queried, or has declared this service dead.
    mutating func isLost() { standing = nil }

    /// As what this service has to write its record again; nil if it need not, or cannot.
    var toWrite: JoinedService? { standing == written ? nil : standing }

    /// The record is written. What was written in an earlier epoch says nothing about this one.
    mutating func wrote(as standing: JoinedService) { written = standing }

    /// Whether times may be found due.
    var mayFind: Bool { standing != nil && standing == written && !isQuiet }
}
