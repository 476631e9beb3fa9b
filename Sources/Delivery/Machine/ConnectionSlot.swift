/// What the machine knows of a connection.
struct ConnectionSlot {
    enum State: UInt8 {
        case closed
        /// Asked for; nothing may be submitted yet.
        case opening
        case open
        /// Answers are still awaited, nothing more is submitted.
        case retiring
    }

    var state = State.closed
    /// A push was accepted on it. Until then the service allows a single stream.
    var isWarm = false
    /// The peer's latest limit of streams.
    var peerLimit = Int.max
    /// How many more requests it takes before they only wait for the peer's window.
    var freeWindow = Int.max
    /// Answers it gave.
    var answers = 0
    /// Requests that were submitted to it.
    var submitted = 0
    /// The last sign of life, or when it was opened: monotonic nanoseconds.
    var lastProgress: Int64 = 0
    /// When it was asked for a sign of life that has not come yet.
    var pingedAt: Int64?
    /// Requests in flight, linked in order of submission; -1 for none.
    var inFlight = 0
    var oldest: Int32 = -1
    var newest: Int32 = -1

    /// The peer lowered its limit below what is in flight here.
    var isOverLimit: Bool { inFlight > peerLimit }

    /// Takes a request as its newest; returns the one that was it before, -1 for none.
    mutating func add(_ request: Int, at nanoseconds: Int64) -> Int32 {
        let before = newest
        if before < 0 { oldest = Int32(request) }
        newest = Int32(request)
        if inFlight == 0 { lastProgress = nanoseconds }
        inFlight += 1
        submitted += 1
        if freeWindow < .max { freeWindow = max(0, freeWindow - 1) }
        return before
    }

    /// Loses a request that stood between these two.
    mutating func remove(previous: Int32, next: Int32) {
        if previous < 0 { oldest = next }
        if next < 0 { newest = previous }
        inFlight -= 1
    }
}
