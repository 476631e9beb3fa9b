/// What a connection may do, and when it ends: the changing stream limit, and the faults that
/// affect a connection.
struct ConnectionLimits {
    /// How a connection ends without GOAWAY.
    enum Ending: Equatable {
        /// Closed without notice.
        case cut
        /// Half a HEADERS frame, then FIN.
        case midFrame
        /// RST of TCP.
        case reset
        /// FIN, no close_notify.
        case withoutNotify
        /// close_notify, no GOAWAY.
        case withoutGoAway
        /// It stays open, but is no longer read or written.
        case silence

        /// Whether everything that is due is written first, however long the client takes.
        var waitsForWriting: Bool { self == .midFrame || self == .withoutNotify || self == .withoutGoAway }
    }

    /// What must be done with a connection after one of its requests was decided.
    enum Consequence: Equatable {
        /// Announce a new stream limit.
        case announce(Int)
        /// Lower the stream limit to 1 for a while.
        case dip
        /// Send GOAWAY, with the last stream that was decided.
        case goAway(reason: String)
        /// Send GOAWAY in two steps.
        case gracefulGoAway
        /// End the connection as `ending` says.
        case end
        case pingFlood, settingsFlood, strangeFrames, garbage
    }

    private let faults: SimulatorFaults
    /// The limit last announced.
    private(set) var streamLimit: Int
    /// Whether the limit is lowered because of `SimulatorFaults.streamLimitDipEvery`.
    private(set) var isDipped = false
    private var requests = 0
    private var accepted = 0
    private var rejections = 0
    private var rejectionsSinceRise = 0
    private var leftOut = 0
    /// The highest stream that was decided. Streams may end in another order than they began.
    private(set) var lastStreamID: Int32 = 0
    /// Whether GOAWAY was sent: streams beyond `lastStreamID` are ignored.
    var isEnding = false
    /// Whether all requests are ignored.
    var isDeaf = false
    /// How the connection is being ended; nothing more is read then. nil if it is not.
    var ending: Ending?

    init(_ faults: SimulatorFaults = SimulatorFaults(), hasCertificate: Bool = false) {
        self.faults = faults
        streamLimit = hasCertificate ? faults.streamLimit : faults.firstStreamLimit
    }

    /// Whether a stream may still be decided.
    func admits(streamID: Int32) -> Bool { ending == nil && !isDeaf && (!isEnding || streamID <= lastStreamID) }

    /// Notes a decided request, and returns what must be done with the connection.
    mutating func note(_ answer: Answer, streamID: Int32) -> [Consequence] {
        requests += 1
        lastStreamID = max(lastStreamID, streamID)
        ending = dueEnding()
        guard ending == nil else { return [.end] }
        var consequences: [Consequence] = []
        if answer.isAccepted {
            noteAccepted(&consequences)
        } else if answer.isRejection {
            noteRejection(answer, &consequences)
        }
        addNoise(&consequences)
        if faults.goAwayEvery > 0, requests == faults.goAwayEvery { consequences.append(.goAway(reason: "Shutdown")) }
        if faults.gracefulGoAwayEvery > 0, requests == faults.gracefulGoAwayEvery {
            consequences.append(.gracefulGoAway)
        }
        return consequences
    }

    /// Notes a request that is not a push.
    mutating func noteAside(streamID: Int32) { lastStreamID = max(lastStreamID, streamID) }

    private func dueEnding() -> Ending? {
        func isDue(_ pushes: Int) -> Bool { pushes > 0 && requests >= pushes }
        if isDue(faults.disconnectEvery) { return .cut }
        if isDue(faults.cutMidFrameEvery) { return .midFrame }
        if isDue(faults.resetConnectionEvery) { return .reset }
        if isDue(faults.closeWithoutNotifyEvery) { return .withoutNotify }
        if isDue(faults.closeWithoutGoAwayEvery) { return .withoutGoAway }
        return isDue(faults.silentAfter) ? .silence : nil
    }

    private func addNoise(_ consequences: inout [Consequence]) {
        func isHit(_ every: Int) -> Bool { every > 0 && requests % every == 0 }
        if isHit(faults.pingFloodEvery) { consequences.append(.pingFlood) }
        if isHit(faults.settingsFloodEvery) { consequences.append(.settingsFlood) }
        if isHit(faults.strangeFramesEvery) { consequences.append(.strangeFrames) }
        if let garbage = faults.garbage, garbage.afterPushes > 0, requests == garbage.afterPushes {
            consequences.append(.garbage)
        }
    }

    // MARK: The stream limit

    private mutating func noteAccepted(_ consequences: inout [Consequence]) {
        accepted += 1
        rejectionsSinceRise = 0
        guard !isDipped else { return }
        if faults.streamLimitDipEvery > 0, accepted % faults.streamLimitDipEvery == 0 {
            isDipped = true
            streamLimit = 1
            consequences.append(.dip)
        } else if streamLimit != faults.streamLimit {
            consequences.append(announce(faults.streamLimit))
        }
    }

    private mutating func noteRejection(_ answer: Answer, _ consequences: inout [Consequence]) {
        rejections += 1
        rejectionsSinceRise += 1
        if faults.streamLimitFallsBackAfterRejections > 0,
            rejectionsSinceRise >= faults.streamLimitFallsBackAfterRejections, !isDipped,
            streamLimit != faults.firstStreamLimit
        {
            consequences.append(announce(faults.firstStreamLimit))
        }
        if faults.rejectionsBeforeGoAway > 0, rejections == faults.rejectionsBeforeGoAway {
            consequences.append(.goAway(reason: answer.reason))
        }
    }

    /// Ends the dip of the stream limit.
    mutating func rise() -> Consequence {
        isDipped = false
        return announce(faults.streamLimit)
    }

    private mutating func announce(_ limit: Int) -> Consequence {
        streamLimit = limit
        return .announce(limit)
    }

    // MARK: GOAWAY with a lower stream

    /// The decision about a complete request when GOAWAY will leave out the latest requests.
    enum LeavingOut: Equatable {
        /// It is processed.
        case no
        /// It is left out, and GOAWAY waits for more.
        case yes(isFirst: Bool)
        /// It is left out, and is the last one that GOAWAY waited for.
        case complete
    }

    /// Decides whether GOAWAY leaves out a request that has just become complete.
    mutating func leaveOut(streamID: Int32) -> LeavingOut {
        guard faults.lowGoAwayEvery > 0, !isEnding, streamID > lastStreamID,
            requests >= max(1, faults.lowGoAwayEvery - faults.lowGoAwayLeavesOut)
        else { return .no }
        leftOut += 1
        return leftOut >= faults.lowGoAwayLeavesOut ? .complete : .yes(isFirst: leftOut == 1)
    }
}
