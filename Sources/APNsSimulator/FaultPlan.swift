/// Which of the pushes that would be accepted meet a fault: the counters behind the `…Every` of `SimulatorFaults`.
struct FaultPlan {
    /// What becomes of a push that is flawless.
    enum Fate: Equatable {
        case accepted
        /// Accepted, but no answer will come.
        case silent
        /// Reset with REFUSED_STREAM, unprocessed.
        case refusedStream
        case refused(Answer)
    }

    private let faults: SimulatorFaults
    private var pushes = 0

    init(_ faults: SimulatorFaults) { self.faults = faults }

    /// The fate of the next push. Where several faults meet, the first of this order happens.
    mutating func next() -> Fate {
        pushes += 1
        if isHit(faults.refusedStreamEvery) { return .refusedStream }
        if isHit(faults.tooManyRequestsEvery) { return .refused(Answer(status: 429, reason: "TooManyRequests")) }
        if isHit(faults.unavailableEvery) { return .refused(Answer(status: 503, reason: "ServiceUnavailable")) }
        if isHit(faults.internalErrorEvery) { return .refused(Answer(status: 500, reason: "InternalServerError")) }
        return isHit(faults.silentEvery) ? .silent : .accepted
    }

    private func isHit(_ every: Int) -> Bool { every > 0 && pushes % every == 0 }
}
