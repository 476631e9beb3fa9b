/// An answer to a request, as far as it matters what it means.
public struct ServiceAnswer: Hashable, Sendable {
    /// Whether an answer has the id that the push was given.
    public enum Identity: Hashable, Sendable {
        case missing, other, own
    }

    /// The HTTP status.
    public var status: Int
    /// The service's reason; blank when it gave none.
    public var reason: String
    /// Whose id it has.
    public var id: Identity
    /// Its body ended before its end.
    public var isCutOff: Bool

    /// An answer.
    public init(status: Int, reason: String = "", id: Identity = .missing, isCutOff: Bool = false) {
        self.status = status
        self.reason = reason
        self.id = id
        self.isCutOff = isCutOff
    }
}

/// What an answer means for the pushes of a request and for the run.
public enum AnswerMeaning: Hashable, Sendable {
    /// The service has taken the push.
    case accepted
    /// The target is dead. `blamesSettings`: when many are refused so, environment or topic are wrong, not the targets.
    case invalidTarget(blamesSettings: Bool)
    /// Refused for good, this push alone.
    case rejected
    /// Refused for good, as every other push would be.
    case stop
    /// Refused for now: again, later.
    case retry(Retry)
    /// The service did nothing about it because of another target of its request: again at once, which is not an attempt. Without those that the answer
    /// settled, or, when it settled none, in two halves. A request of one target is refused for good.
    case split
    /// Something in front of the service answered, or the answer was cut off before its reason: the service may have taken the push.
    case maybeTaken
    /// Something else than the service answers, as if it were the service: what it does with pushes is not known.
    case notTheService

    /// What a push that was refused for now waits for.
    public enum Retry: Hashable, Sendable {
        /// This device gets too many pushes; says nothing of the others.
        case deviceBusy
        /// The service has trouble: all others will have it, too.
        case serviceBusy
        /// The service has trouble and leaves: over another connection.
        case serviceLeaves
        /// The connection was idle for too long: over another one, at once.
        case connectionIdle
        /// With a new credential and over another connection, at once.
        case credentialExpired
    }

    /// Whether the service took the push, or refused it for good.
    public var isFinal: Bool {
        switch self {
        case .accepted, .invalidTarget, .rejected, .stop: true
        case .retry, .split, .maybeTaken, .notTheService: false
        }
    }

    /// Whether the service says that it cannot take so many at a time. One push alone cannot tell whether 429 means its device or all of them.
    public func isOverload(status: Int) -> Bool {
        switch self {
        case .retry(.deviceBusy): true
        case .retry(.serviceBusy), .maybeTaken: status == 503
        default: false
        }
    }
}
