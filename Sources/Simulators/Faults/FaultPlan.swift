/// Decides which pushes and answers meet a fault, over all connections. It keeps the counters for
/// the `…Every` of `SimulatorFaults`.
struct FaultPlan {
    /// What happens to a correct push.
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
        /// Answered by a gateway in front of the service, which had passed the push on or not.
        case gateway(status: Int, isPassedOn: Bool)
        case refused(Answer)
    }

    /// The extras that an answer gets.
    struct AnswerExtras: OptionSet {
        let rawValue: Int

        /// A 1xx answer before it.
        static let information = AnswerExtras(rawValue: 1)
        static let trailers = AnswerExtras(rawValue: 2)
        static let largeHeaders = AnswerExtras(rawValue: 4)
    }

    private let faults: SimulatorFaults
    private let dressesAnswers: Bool
    private var pushes = 0
    private var answers = 0
    private var payloadsToCome = 0
    private var gatewayAnswers = 0
    /// The number of connections that may still be sent garbage.
    private var garbageLeft: Int

    init(_ faults: SimulatorFaults) {
        self.faults = faults
        dressesAnswers = faults.informationEvery > 0 || faults.trailersEvery > 0 || faults.largeHeadersEvery > 0
        garbageLeft = faults.garbage?.connections ?? 0
    }

    /// Decides the fate of the next push. When several faults coincide, the first in this order
    /// happens.
    mutating func next() -> Fate {
        pushes += 1
        if isHit(faults.refusedStreamEvery, number: pushes) { return .refusedStream }
        if isHit(faults.resetEvery, number: pushes) { return .reset }
        if isHit(faults.tooManyRequestsEvery, number: pushes) {
            return .refused(Answer(status: 429, reason: "TooManyRequests"))
        }
        if isHit(faults.unavailableEvery, number: pushes) {
            return .refused(Answer(status: 503, reason: "ServiceUnavailable"))
        }
        if isHit(faults.internalErrorEvery, number: pushes) {
            return .refused(Answer(status: 500, reason: "InternalServerError"))
        }
        if isHit(faults.resetAcceptedEvery, number: pushes) { return .resetAccepted }
        if isHit(faults.gatewayEvery, number: pushes) {
            gatewayAnswers += 1
            return .gateway(status: 502 + gatewayAnswers % 3, isPassedOn: gatewayAnswers % 2 == 0)
        }
        return isHit(faults.silentEvery, number: pushes) ? .silent : .accepted
    }

    /// Decides whether the next push is answered as soon as its headers are complete, without its
    /// payload.
    mutating func answersEarly() -> Bool {
        guard faults.earlyAnswerEvery > 0 else { return false }
        payloadsToCome += 1
        return isHit(faults.earlyAnswerEvery, number: payloadsToCome)
    }

    /// Decides the extras of the next answer.
    mutating func nextDressing() -> AnswerExtras {
        guard dressesAnswers else { return [] }
        answers += 1
        var dressing: AnswerExtras = []
        if isHit(faults.informationEvery, number: answers) { dressing.insert(.information) }
        if isHit(faults.trailersEvery, number: answers) { dressing.insert(.trailers) }
        if isHit(faults.largeHeadersEvery, number: answers) { dressing.insert(.largeHeaders) }
        return dressing
    }

    /// Decides whether a connection that has reached the configured number of pushes is sent
    /// garbage.
    mutating func sendsGarbage() -> Bool {
        guard garbageLeft > 0 else { return false }
        garbageLeft -= 1
        return true
    }

    private func isHit(_ every: Int, number: Int) -> Bool { every > 0 && number % every == 0 }
}
