/// What a connection may do, and when it ends: the stream limit with its rise and fall, and the faults that hurt a connection.
struct ConnectionLimits {
    /// How a connection ends without GOAWAY.
    enum Ending: Equatable {
        /// Without a word.
        case cut
        /// Half a HEADERS frame, then FIN.
        case midFrame
        /// RST of TCP.
        case reset
        /// FIN, no close_notify.
        case withoutNotify
        /// close_notify, no GOAWAY.
        case withoutGoAway
        /// It stays open, but is neither read nor written any more.
        case silence

        /// Whether what is due is written first, however long the client takes.
        var waitsForWriting: Bool { self == .midFrame || self == .withoutNotify || self == .withoutGoAway }
    }

    /// What must be done to a connection after a request of it was decided.
    enum Consequence: Equatable {
        /// A new stream limit is announced.
        case announce(Int)
        /// The stream limit falls to 1 for a while.
        case dip
        /// GOAWAY: this is the last stream.
        case goAway(reason: String)
        /// GOAWAY in two steps.
        case gracefulGoAway
        /// The connection ends as `ending` says.
        case end
        case pingFlood, settingsFlood, strangeFrames, garbage
    }

    private let faults: SimulatorFaults
    /// The limit last announced.
    private(set) var streamLimit: Int
    /// Whether the limit has fallen by `SimulatorFaults.streamLimitDipEvery`.
    private(set) var isDipped = false
    private var requests = 0
    private var accepted = 0
    private var rejections = 0
    private var rejectionsSinceRise = 0
    private var leftOut = 0
    /// The highest stream that was decided: streams may come to their end in another order than they began.
    private(set) var lastStreamID: Int32 = 0
    /// Whether GOAWAY was sent: streams beyond `lastStreamID` are ignored.
    var isEnding = false
    /// Whether no request is looked at.
    var isDeaf = false
    /// How it is being ended; nothing more is read then.
    var ending: Ending?

    init(_ faults: SimulatorFaults = SimulatorFaults(), hasCertificate: Bool = false) {
        self.faults = faults
        streamLimit = hasCertificate ? faults.streamLimit : faults.firstStreamLimit
    }

    /// Whether a stream may still be decided.
    func admits(streamID: Int32) -> Bool { ending == nil && !isDeaf && (!isEnding || streamID <= lastStreamID) }

    /// Notes a decided request.
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
        if faults.gracefulGoAwayEvery > 0, requests == faults.gracefulGoAwayEvery { consequences.append(.gracefulGoAway) }
        return consequences
    }

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
        if let garbage = faults.garbage, garbage.afterPushes > 0, requests == garbage.afterPushes { consequences.append(.garbage) }
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
        if faults.streamLimitFallsBackAfterRejections > 0, rejectionsSinceRise >= faults.streamLimitFallsBackAfterRejections, !isDipped,
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

    /// What becomes of a complete request when GOAWAY will leave out the latest.
    enum LeavingOut: Equatable {
        /// It is processed.
        case no
        /// It is left out, and more are waited for.
        case yes(isFirst: Bool)
        /// It is left out, and was the last that was waited for.
        case complete
    }

    /// Decides whether GOAWAY is to leave out a request that has just become complete.
    mutating func leaveOut(streamID: Int32) -> LeavingOut {
        guard faults.lowGoAwayEvery > 0, !isEnding, streamID > lastStreamID,
            requests >= max(1, faults.lowGoAwayEvery - faults.lowGoAwayLeavesOut)
        else { return .no }
        leftOut += 1
        return leftOut >= faults.lowGoAwayLeavesOut ? .complete : .yes(isFirst: leftOut == 1)
    }
}
