/// What the machine knows of a push it holds. Slots lie in one array and are used again: nothing is allocated per push.
///
/// A request goes by the slot of its first push; the others are linked behind it. The pushes of a request are together from its first attempt on: it
/// loses those that are settled and may be divided, and gains none. So what it has been through is the same for all of them, and stands in the
/// first slot alone.
struct PushSlot {
    enum State: UInt8 {
        /// Nobody's.
        case free
        /// In the queue of those never tried, or of those to be tried again.
        case ready
        /// In the heap, until its time comes.
        case waiting
        /// On a connection.
        case inFlight
        /// Behind the first push of its request, whose slot says where they all are and what they have been through.
        case member
    }

    var recipient = 0
    var state = State.free
    /// An attempt was handed to the wire and its answer got lost: nobody knows whether the phone has it.
    var mayBeDelivered = false
    /// Others wait until something is known of it.
    var isCanary = false
    /// How often it was handed to the wire.
    var attempts: Int32 = 0
    /// How often its stream was refused, which is no attempt.
    var refusals: Int32 = 0
    /// The window of `Throttle` in which the service last had no time for it, 0 for none.
    var refusedInWindow: Int32 = 0
    /// The last answer's status, 0 for none.
    var status: Int32 = 0
    /// Where it is in flight, and its neighbours there in order of submission; -1 for none.
    var connection: Int32 = -1
    var previous: Int32 = -1
    var next: Int32 = -1
    /// The push behind it in its request, -1 for none.
    var companion: Int32 = -1
    /// Of a first push: the last of its request where there are several, and how many there are.
    var last: Int32 = -1
    var count: Int32 = 1
    /// Of a first push: never submitted, so that more pushes may join it.
    var isOpen = false
    /// Monotonic nanoseconds.
    var firstSubmitted: Int64 = 0
    var submitted: Int64 = 0
    /// From the last submission to its answer.
    var latencyNanoseconds: Int64 = 0
    /// The last refusal's reason.
    var reason = ""

    /// Goes onto a connection, behind the one that was its newest push.
    mutating func beginAttempt(on connection: Int, behind newest: Int32, at nanoseconds: Int64) {
        if attempts == 0 { firstSubmitted = nanoseconds }
        attempts += 1
        submitted = nanoseconds
        latencyNanoseconds = 0
        state = .inFlight
        self.connection = Int32(connection)
        previous = newest
        next = -1
    }

    /// Its answer came.
    mutating func noteAnswer(status: Int, at nanoseconds: Int64) {
        self.status = Int32(clamping: status)
        latencyNanoseconds = nanoseconds - submitted
    }

    /// Comes off its connection; its neighbours there must close the gap.
    mutating func leaveConnection() -> (connection: Int, previous: Int32, next: Int32) {
        precondition(state == .inFlight, "only a push in flight can be answered or lost")
        let place = (Int(connection), previous, next)
        connection = -1
        state = .ready
        return place
    }
}
