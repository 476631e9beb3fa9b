/// Notices that APNs as a whole has trouble, so that not the whole audience burns its attempts on it: while it lasts only a few pushes at a time
/// are tried, each with its own growing back-off.
struct ServiceHealth {
    /// So many refusals in a row are trouble.
    private static let threshold = 100
    /// So many pushes are tried at a time while there is trouble.
    static let pushesTriedInTrouble = 100

    private var refusalsInARow = 0
    /// When the trouble began, in monotonic nanoseconds.
    private(set) var troubleSince: Int64?

    mutating func refused(at nanoseconds: Int64) {
        refusalsInARow += 1
        if refusalsInARow >= Self.threshold, troubleSince == nil { troubleSince = nanoseconds }
    }

    mutating func answered() {
        refusalsInARow = 0
        troubleSince = nil
    }
}
