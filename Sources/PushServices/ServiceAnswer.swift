/// The parts of an answer to a request that decide what it means.
public struct ServiceAnswer: Hashable, Sendable {
    /// Whether an answer carries the id of the push.
    public enum Identity: Hashable, Sendable {
        case missing, other, own
    }

    /// The HTTP status.
    public var status: Int
    /// The service's reason; blank when it gave none.
    public var reason: String
    /// Where the id in the answer comes from.
    public var id: Identity
    /// Whether the body was cut off, or is not what a service writes.
    public var isCutOff: Bool
    /// Whether it has an id under which the service keeps what it took
    /// (`PushService.plainlyAccepts`, `AnswerDetails.receipt`).
    public var hasReceipt: Bool

    /// An answer.
    public init(
        status: Int, reason: String = "", id: Identity = .missing, isCutOff: Bool = false, hasReceipt: Bool = false
    ) {
        self.status = status
        self.reason = reason
        self.id = id
        self.isCutOff = isCutOff
        self.hasReceipt = hasReceipt
    }

    /// Whether HTTP itself says that nothing acted on the request: a redirection, or a proxy that
    /// demands credentials (RFC 9110, sections 15.4 and 15.5.8). No push service answers so.
    public var wasNotPassedOn: Bool { (300...399).contains(status) || status == 407 }

    /// What it means if it is not among the answers that the service documents: one rule for all
    /// services.
    ///
    /// A service says why it refuses a push. What has no reason, and not the push's own id either,
    /// is from something in front of it and says nothing about the push; with a reason, it is one
    /// that the service added later.
    var undocumentedMeaning: AnswerMeaning {
        if wasNotPassedOn { return .notTheService }
        if isCutOff { return .maybeTaken }
        let isFromService = !reason.isEmpty || id == .own
        switch status {
        // Whatever counted the bytes: this request is too large for it.
        case 413: return isFromService ? .rejectedLikeAll : .rejected
        case 429: return .retry(.quota)
        // Something in front of the service may have passed the push on.
        case 500...: return .maybeTaken
        // These are about the sender and the path, which are the same for all pushes.
        case 401, 403, 404, 405: return isFromService ? .stop : .notTheService
        case 400..<500: return isFromService ? .rejectedLikeAll : .notTheService
        // Unexpected: 1xx, other 2xx.
        default: return .notTheService
        }
    }
}

/// What an answer means for the pushes of a request and for the run. No answer says more than it
/// says: about this request, about the settings, or about a device that it names.
public enum AnswerMeaning: Hashable, Sendable {
    /// The service accepted the push.
    case accepted
    /// The target is dead, and the service named it. `blamesSettings`: if many are refused this
    /// way, environment or topic is wrong, not the targets.
    case invalidTarget(blamesSettings: Bool)
    /// Permanently refused, this push only.
    case rejected
    /// Permanently refused, for a reason that may lie in the campaign: as every other push would
    /// be, if the run has not had a single one accepted, and otherwise this push only.
    case rejectedLikeAll
    /// Refused because of the settings, as every other push would be: the run stops if it has not
    /// had a single push accepted, or once enough targets in a row are refused so. If others are
    /// accepted in between, this push only is refused.
    case stop
    /// The same for a setting that only some targets need: only a repetition stops the run.
    case stopIfRepeated
    /// Refused because a quota of the day is used up, as every other push is until there is another
    /// one: the run stops, whatever was accepted before, and rejects no push.
    case usedUp
    /// Refused for now; try again later.
    case retry(Retry)
    /// The service did nothing because of another target of the request. Send again at once,
    /// without the targets that the answer settled, or divided if it settled none; this does not
    /// count as an attempt. If the request has a single target, the push is refused permanently,
    /// and a text that several targets do not get on their own is at fault itself.
    case split
    /// Something in front of the service answered, or the answer was cut off before its reason: the
    /// service may have accepted the push.
    case maybeTaken
    /// Something other than the service answers in its place. It settles no push: the run stops as
    /// for `stop`, or the push is tried again.
    case notTheService
    /// The service dealt with the request, but does not say what it did with this push, which is
    /// not sent again.
    case untold

    /// What a push that was refused for now waits for.
    public enum Retry: Hashable, Sendable {
        /// This device gets too many pushes; the others are not affected.
        case deviceBusy
        /// The service has trouble, which affects all other pushes, too.
        case serviceBusy
        /// The sender has used up what it may send for now: nothing more is sent until its time,
        /// which the answer says or which grows with each such answer. This does not count as an
        /// attempt.
        case quota
        /// The service has trouble and closes the connection: try again on another one.
        case serviceLeaves
        /// The service has trouble at this server, or serves the app at another one: try again
        /// there, if it has one, on another connection.
        case otherServer
        /// The connection was idle for too long: try again on another one, at once.
        case connectionIdle
        /// The credential expired: try again at once, with a new one and on another connection.
        case credentialExpired
    }

    /// Whether the service accepted the push or refused it permanently.
    public var isFinal: Bool {
        switch self {
        case .accepted, .invalidTarget, .rejected, .rejectedLikeAll, .stop, .stopIfRepeated, .usedUp: true
        case .retry, .split, .maybeTaken, .notTheService, .untold: false
        }
    }

    /// Whether the service says that it gets too many pushes at a time. For a single push, 429 does
    /// not tell whether the device gets too many or the service.
    public func isOverload(status: Int) -> Bool {
        switch self {
        case .retry(.deviceBusy): true
        case .retry(.serviceBusy), .maybeTaken: status == 503
        default: false
        }
    }
}
