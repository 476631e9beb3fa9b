import Base

/// What the model records of a recipient, from both ends of the wire.
struct Fate {
    enum State {
        /// Not on the wire in this epoch.
        case untouched
        case inFlight
        /// Provably not processed.
        case unprocessed
        /// APNs answered that the push may be tried again.
        case refused
        /// A final answer; the answer's index.
        case answered(Int)
        /// Handed to the wire, and no answer will come.
        case doubtful
        case settled
    }

    var state = State.untouched
    /// Accepted by the server, in all epochs.
    var accepted = 0
    /// An attempt was lost, or a crash left it unknown.
    var wasEverInDoubt = false
    /// The same, and no service that recognizes the request has said since that it did nothing.
    var mayHaveArrived = false
    /// The service may have forgotten the name under which it was sent, and the campaign sends it
    /// again nevertheless.
    var mayComeTwice = false
    /// What the service recognized its last request by.
    var lastName = ""
    // In this epoch.
    var isInDoubt = false
    var submissions = 0
    var refusals = 0
    /// APNs said something about it, or its answer is overdue.
    var isHeard = false
    var uncounted = 0
    /// It was refused while APNs accepted no push, or because of the sender's token, so it may be
    /// tried more often than others.
    var wasKept = false
    var firstSubmitted: Int64 = 0
    /// APNs' retry-after: monotonic nanoseconds.
    var notBefore: Int64 = 0
    var lastStatus = 0
    /// The request that carried it last, and the answer to it: pushes with the same request and
    /// answer continue together.
    var lastPart = 0
    var retryAfterSeconds = 0.0

    mutating func beginEpoch(carriesDoubt: Bool) {
        let (accepted, wasEverInDoubt, mayComeTwice, mayHaveArrived) = (
            accepted, wasEverInDoubt, mayComeTwice, mayHaveArrived
        )
        self = Fate()
        self.mayHaveArrived = mayHaveArrived || carriesDoubt
        self.mayComeTwice = mayComeTwice
        self.accepted = accepted
        self.wasEverInDoubt = wasEverInDoubt || carriesDoubt
    }

    mutating func lose() {
        state = .doubtful
        isInDoubt = true
        mayHaveArrived = true
        wasEverInDoubt = true
    }
}
