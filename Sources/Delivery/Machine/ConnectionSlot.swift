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

/// Decides when one more connection is worth it: only while streams are the limit, one at a time,
/// and only as long as the last one made the run faster. Where the server, the network or this
/// machine is the limit, another connection changes nothing. It is given up, and the next one is
/// tried only after a rest. Each rest is longer than the one before.
struct ConnectionGrowth {
    enum Advice {
        case stay
        case openOneMore
        /// The last connection changed nothing.
        case giveUpLast
    }

    /// How long streams must have been the limit without a break.
    private static let windowNanoseconds: Int64 = 250_000_000
    /// One connection more than n should add 1/n to the rate. This part of it counts as success.
    private static let wantedShareOfGain = 0.5
    private static let shortestRest: Int64 = 10_000_000_000
    private static let longestRest: Int64 = 600_000_000_000

    private var windowStart: Int64?
    private var answersAtStart = 0
    /// How many connections proved worth it. When some of them are lost, others replace them
    /// without a trial.
    private var provenConnections = 1
    /// The connection on trial, by its number, and the answers per second before it was added.
    private var trial: (connections: Int, rateBefore: Double)?
    private var restsUntil: Int64 = 0
    private var rest = shortestRest

    /// Notes that streams were not the limit.
    mutating func noteRoom() { windowStart = nil }

    /// Notes that all streams of all connections are in use and pushes wait for them.
    /// - Parameter answers: the answers of the whole run so far.
    mutating func noteFull(at nanoseconds: Int64, answers: Int, connections: Int) -> Advice {
        if connections < provenConnections {
            windowStart = nil
            trial = nil
            return .openOneMore
        }
        guard nanoseconds >= restsUntil else { return .stay }
        guard let start = windowStart else {
            windowStart = nanoseconds
            answersAtStart = answers
            return .stay
        }
        guard nanoseconds - start >= Self.windowNanoseconds else { return .stay }
        let rate = Double(answers - answersAtStart) * 1e9 / Double(nanoseconds - start)
        windowStart = nil
        if let trial, trial.connections == connections {
            let isWorthIt = rate >= trial.rateBefore * (1 + Self.wantedShareOfGain / Double(max(1, connections - 1)))
            self.trial = nil
            guard isWorthIt else {
                restsUntil = nanoseconds + rest
                rest = min(2 * rest, Self.longestRest)
                return .giveUpLast
            }
            provenConnections = connections
        }
        trial = (connections + 1, rate)
        return .openOneMore
    }
}
