/// What a connection may do, and when it ends: the stream limit with its rise and fall, and the faults that end a connection.
struct ConnectionLimits {
    /// What must be done to a connection after a request of it was decided.
    enum Consequence: Equatable {
        /// A new stream limit is announced.
        case announce(Int)
        /// GOAWAY: this is the last stream.
        case goAway(reason: String)
        /// The connection is cut without a word.
        case cut
    }

    private let faults: SimulatorFaults
    /// The limit last announced.
    private(set) var streamLimit: Int
    private var requests = 0
    private var rejections = 0
    private var rejectionsSinceRise = 0
    /// The highest stream that was decided: streams may come to their end in another order than they began.
    private(set) var lastStreamID: Int32 = 0
    /// Whether GOAWAY was sent: streams beyond `lastStreamID` are ignored.
    var isEnding = false
    /// Whether it is being cut: nothing more is read.
    private(set) var isCut = false

    init(_ faults: SimulatorFaults = SimulatorFaults(), hasCertificate: Bool = false) {
        self.faults = faults
        streamLimit = hasCertificate ? faults.streamLimit : faults.firstStreamLimit
    }

    /// Whether a stream may still be decided.
    func admits(streamID: Int32) -> Bool { !isCut && (!isEnding || streamID <= lastStreamID) }

    /// Notes a decided request.
    mutating func note(_ answer: Answer, streamID: Int32) -> [Consequence] {
        requests += 1
        lastStreamID = max(lastStreamID, streamID)
        if faults.disconnectEvery > 0, requests >= faults.disconnectEvery {
            isCut = true
            return [.cut]
        }
        var consequences: [Consequence] = []
        if answer.isAccepted {
            rejectionsSinceRise = 0
            if streamLimit != faults.streamLimit { consequences.append(announce(faults.streamLimit)) }
        } else if answer.isRejection {
            rejections += 1
            rejectionsSinceRise += 1
            if faults.streamLimitFallsBackAfterRejections > 0, rejectionsSinceRise >= faults.streamLimitFallsBackAfterRejections,
                streamLimit != faults.firstStreamLimit
            {
                consequences.append(announce(faults.firstStreamLimit))
            }
            if faults.rejectionsBeforeGoAway > 0, rejections == faults.rejectionsBeforeGoAway {
                consequences.append(.goAway(reason: answer.reason))
            }
        }
        if faults.goAwayEvery > 0, requests == faults.goAwayEvery { consequences.append(.goAway(reason: "Shutdown")) }
        return consequences
    }

    private mutating func announce(_ limit: Int) -> Consequence {
        streamLimit = limit
        return .announce(limit)
    }
}
