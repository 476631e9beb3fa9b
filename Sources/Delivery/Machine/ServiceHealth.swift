/// Notices that the service as a whole has trouble, so that not the whole audience burns its attempts on it, and nobody fails while nobody is taken.
///
/// A push is *taken* when the service accepts it, or refuses it for good.
struct ServiceHealth {
    /// So many refusals in a row are trouble.
    private static let threshold = 100
    /// So many pushes are tried at a time while there is trouble.
    static let pushesTriedInTrouble = 100
    /// So many pushes may fail one after the other, though none was taken since they were first sent: it may be about their devices.
    private static let toleratedFailures = 3
    /// After so many doubtful answers in a row pushes are tried one at a time, after the first one as long as none was ever taken: each may reach a
    /// phone and never be known to.
    private static let toleratedDoubts = 10

    private var refusalsInARow = 0
    private var failuresInARow = 0
    private var doubtsInARow = 0
    private var takenAt: Int64?
    /// When the trouble began, in monotonic nanoseconds.
    private(set) var troubleSince: Int64?
    /// Since when a push is kept that would have failed, or pushes are tried one at a time: monotonic nanoseconds.
    private var outageSince: Int64?

    /// Since when the service takes nothing, as far as can be seen: monotonic nanoseconds.
    var lastsSince: Int64? {
        guard let troubleSince, let outageSince else { return troubleSince ?? outageSince }
        return min(troubleSince, outageSince)
    }

    /// How many answers in a row say that pushes should be tried one at a time; 0 while they need not.
    var probes: Int { max(0, doubtsInARow - (takenAt == nil ? 0 : Self.toleratedDoubts)) }

    mutating func taken(at nanoseconds: Int64) {
        answered()
        takenAt = nanoseconds
        failuresInARow = 0
        outageSince = nil
    }

    /// The service is there, though it did not take this push.
    mutating func answered() {
        refusalsInARow = 0
        doubtsInARow = 0
        troubleSince = nil
    }

    mutating func refused(at nanoseconds: Int64) {
        refusalsInARow += 1
        if refusalsInARow >= Self.threshold, troubleSince == nil { troubleSince = nanoseconds }
    }

    /// Refused, or answered by what cannot speak for the service: perhaps the service has taken it.
    mutating func doubted(at nanoseconds: Int64) {
        refused(at: nanoseconds)
        doubtsInARow += 1
        if probes > 0, outageSince == nil { outageSince = nanoseconds }
    }

    /// Whether a push may fail whose attempts are used up; counts it if so.
    /// - Parameter firstSubmitted: its first attempt, in monotonic nanoseconds.
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
