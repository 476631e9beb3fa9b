/// Notices when the service as a whole has trouble. Then the whole audience does not use up its
/// attempts, and no push fails while none is taken.
///
/// A push is *taken* when the service accepts it or refuses it for good.
struct ServiceHealth {
    /// How many refusals in a row mean trouble.
    private static let threshold = 100
    /// How many pushes are tried at a time while there is trouble.
    static let pushesTriedInTrouble = 100
    /// How many pushes may fail in a row although none was taken since they were first sent: the
    /// cause may be their devices.
    private static let toleratedFailures = 3
    /// After this many doubtful answers in a row pushes are tried one at a time; after the first
    /// one as long as no push was ever taken. Each may reach a device without Volley ever learning
    /// of it.
    private static let toleratedDoubts = 10

    private var refusalsInARow = 0
    private var failuresInARow = 0
    private var doubtsInARow = 0
    /// How many of the doubtful answers in a row were to pushes that left after the one before had
    /// come. Those that were on their way together, on a connection that was cut for example, count
    /// once. The wait before the next push is tried grows with it.
    private(set) var doubtfulTries = 0
    private var doubtedAt = Int64.min
    private var takenAt: Int64?
    /// When the trouble began, in monotonic nanoseconds.
    private(set) var troubleSince: Int64?
    /// Since when a push is kept that would otherwise have failed, or pushes are tried one at a
    /// time: monotonic nanoseconds.
    private var outageSince: Int64?

    /// Since when the service has apparently taken nothing, in monotonic nanoseconds; nil while it
    /// takes pushes.
    var lastsSince: Int64? {
        guard let troubleSince, let outageSince else { return troubleSince ?? outageSince }
        return min(troubleSince, outageSince)
    }

    /// How many answers in a row indicate that pushes should be tried one at a time; 0 while they
    /// need not be.
    var probes: Int { max(0, doubtsInARow - (takenAt == nil ? 0 : Self.toleratedDoubts)) }

    mutating func taken(at nanoseconds: Int64) {
        answered()
        takenAt = nanoseconds
        failuresInARow = 0
        outageSince = nil
    }

    /// Notes that the service is up, though it did not take this push.
    mutating func answered() {
        refusalsInARow = 0
        doubtsInARow = 0
        doubtfulTries = 0
        troubleSince = nil
    }

    mutating func refused(at nanoseconds: Int64) {
        refusalsInARow += 1
        if refusalsInARow >= Self.threshold, troubleSince == nil { troubleSince = nanoseconds }
    }

    /// Notes a push that was refused, or answered by something that cannot speak for the service:
    /// the service may have taken it.
    /// - Parameter submittedAt: when the push left, in monotonic nanoseconds.
    mutating func doubted(submittedAt: Int64, at nanoseconds: Int64) {
        refused(at: nanoseconds)
        doubtsInARow += 1
        if submittedAt > doubtedAt { (doubtfulTries, doubtedAt) = (doubtfulTries + 1, nanoseconds) }
        if probes > 0, outageSince == nil { outageSince = nanoseconds }
    }

    /// Does not count a time in which nothing was tried as the service's trouble.
    mutating func excuse(_ nanoseconds: Int64) {
        troubleSince = troubleSince.map { $0 + nanoseconds }
        outageSince = outageSince.map { $0 + nanoseconds }
    }

    /// Returns whether a push may fail after its attempts are used up, and counts it if so.
    /// - Parameter firstSubmitted: when its first attempt began, in monotonic nanoseconds.
    mutating func mayFail(firstSubmitted: Int64, at nanoseconds: Int64) -> Bool {
        let hasCompany = takenAt.map { $0 < firstSubmitted && failuresInARow >= Self.toleratedFailures } ?? true
        guard !hasCompany, troubleSince == nil else {
            outageSince = outageSince ?? nanoseconds
            return false
        }
        failuresInARow += 1
        return true
    }
}
