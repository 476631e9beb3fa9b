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
