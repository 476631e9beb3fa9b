/// Which pushes and answers meet a fault, over all connections: the counters behind the `…Every` of `SimulatorFaults`.
struct FaultPlan {
    /// What becomes of a push that is flawless.
    enum Fate: Equatable {
        case accepted
        /// Accepted, but no answer will come.
        case silent
        /// Reset with REFUSED_STREAM, unprocessed.
        case refusedStream
        /// Reset with another code, unprocessed.
        case reset
        /// Accepted, then reset with another code.
        case resetAccepted
        /// Answered by what stands before APNs, which had passed it on or had not.
        case gateway(status: Int, isPassedOn: Bool)
        case refused(Answer)
    }

    /// What an answer is dressed up with.
    struct Dressing: OptionSet {
        let rawValue: Int

        /// A 1xx answer before it.
        static let information = Dressing(rawValue: 1)
        static let trailers = Dressing(rawValue: 2)
        static let largeHeaders = Dressing(rawValue: 4)
    }

    private let faults: SimulatorFaults
    private let dressesAnswers: Bool
    private var pushes = 0
    private var answers = 0
    private var payloadsToCome = 0
    private var gatewayAnswers = 0
    /// Connections that may still be sent garbage.
    private var garbageLeft: Int

    init(_ faults: SimulatorFaults) {
        self.faults = faults
        dressesAnswers = faults.informationEvery > 0 || faults.trailersEvery > 0 || faults.largeHeadersEvery > 0
        garbageLeft = faults.garbage?.connections ?? 0
    }

    /// The fate of the next push. Where several faults meet, the first of this order happens.
    mutating func next() -> Fate {
        pushes += 1
        if isHit(faults.refusedStreamEvery, pushes) { return .refusedStream }
        if isHit(faults.resetEvery, pushes) { return .reset }
        if isHit(faults.tooManyRequestsEvery, pushes) { return .refused(Answer(status: 429, reason: "TooManyRequests")) }
        if isHit(faults.unavailableEvery, pushes) { return .refused(Answer(status: 503, reason: "ServiceUnavailable")) }
        if isHit(faults.internalErrorEvery, pushes) { return .refused(Answer(status: 500, reason: "InternalServerError")) }
        if isHit(faults.resetAcceptedEvery, pushes) { return .resetAccepted }
        if isHit(faults.gatewayEvery, pushes) {
            gatewayAnswers += 1
            return .gateway(status: 502 + gatewayAnswers % 3, isPassedOn: gatewayAnswers % 2 == 0)
        }
        return isHit(faults.silentEvery, pushes) ? .silent : .accepted
    }

    /// Whether the next push whose headers are there, and whose payload is not, is answered at once.
    mutating func answersEarly() -> Bool {
        guard faults.earlyAnswerEvery > 0 else { return false }
        payloadsToCome += 1
        return isHit(faults.earlyAnswerEvery, payloadsToCome)
    }

    /// What the next answer is dressed up with.
    mutating func nextDressing() -> Dressing {
        guard dressesAnswers else { return [] }
        answers += 1
        var dressing: Dressing = []
        if isHit(faults.informationEvery, answers) { dressing.insert(.information) }
        if isHit(faults.trailersEvery, answers) { dressing.insert(.trailers) }
        if isHit(faults.largeHeadersEvery, answers) { dressing.insert(.largeHeaders) }
        return dressing
    }

    /// Whether a connection that has come to the point is sent garbage.
    mutating func sendsGarbage() -> Bool {
        guard garbageLeft > 0 else { return false }
        garbageLeft -= 1
        return true
    }

    private func isHit(_ every: Int, _ number: Int) -> Bool { every > 0 && number % every == 0 }
}
