/// The machine's state of a connection.
struct ConnectionSlot {
    enum State: UInt8 {
        case closed
        /// Requested; nothing may be submitted yet.
        case opening
        case open
        /// Answers are still awaited, nothing more is submitted.
        case retiring
    }

    var state = State.closed
    /// Whether a push was accepted on it. Until then the service allows a single stream.
    var isWarm = false
    /// The peer's latest limit on streams.
    var peerLimit = Int.max
    /// How many more requests fit before they would have to wait for the peer's window.
    var freeWindow = Int.max
    /// Whether the service refused the token that it was opened with, and another one was asked
    /// for.
    var isTokenRefused = false
    /// Whether the service has let that token pass.
    var isTokenConfirmed = false
    /// Answers received on it.
    var answers = 0
    /// Requests submitted to it.
    var submitted = 0
    /// The last sign of life, or when it was opened: monotonic nanoseconds.
    var lastProgress: Int64 = 0
    /// When it was asked for a sign of life that has not come yet; nil for none.
    var pingedAt: Int64?
    /// Requests in flight, linked in order of submission; -1 for none.
    var inFlight = 0
    var oldest: Int32 = -1
    var newest: Int32 = -1

    /// Whether the peer has lowered its limit below what is in flight here.
    var isOverLimit: Bool { inFlight > peerLimit }

    /// Adds a request as the newest. Returns the one that was the newest before; -1 for none.
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

    /// Removes the request between these two.
    mutating func remove(previous: Int32, next: Int32) {
        if previous < 0 { oldest = next }
        if next < 0 { newest = previous }
        inFlight -= 1
    }
}
