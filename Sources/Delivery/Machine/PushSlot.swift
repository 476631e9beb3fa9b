/// The machine's state of a push that it holds. Slots are in one array and are reused, so nothing
/// is allocated per push.
///
/// The slot of its first push names a request; the others are linked behind it. From its first
/// attempt on, a request loses the pushes that are settled and may be divided, but gains none. So
/// all its pushes share one history, which only the first slot holds.
struct PushSlot {
    enum State: UInt8 {
        /// Not in use.
        case free
        /// In the queue of pushes never tried, or of those to try again.
        case ready
        /// In the heap until its time comes.
        case waiting
        /// Waits for its name.
        case unnamed
        /// On a connection.
        case inFlight
        /// Behind the first push of its request: the slot of that push holds the place and the
        /// history of them all.
        case member
    }

    var recipient = 0
    var state = State.free
    /// Whether an attempt was handed to the wire and its answer was lost, so that the device may
    /// have the push.
    var mayBeDelivered = false
    /// Whether others wait until its answer comes.
    var isCanary = false
    /// How often it was handed to the wire, without what provably was not processed: refused
    /// streams, what is above GOAWAY's last id, a request that was divided, a used-up quota.
    var attempts: Int32 = 0
    /// How often its stream was refused, which does not count as an attempt.
    var refusals: Int32 = 0
    /// The window of `Throttle` in which the service was last too busy for it; 0 for none.
    var refusedInWindow: Int32 = 0
    /// The last answer's status; 0 for none.
    var status: Int32 = 0
    /// The connection on which it is in flight, and its neighbours there in order of submission; -1
    /// for none.
    var connection: Int32 = -1
    var previous: Int32 = -1
    var next: Int32 = -1
    /// The push behind it in its request; -1 for none.
    var companion: Int32 = -1
    /// For a first push: the last push of its request, if there are several, and their number.
    var last: Int32 = -1
    var count: Int32 = 1
    /// For a first push: whether the request was never submitted, so that more pushes may join it.
    var isOpen = false
    /// For a first push: whether an earlier process may have sent the request, which then says
    /// nothing of how the run begins.
    var isOfEarlierProcess = false
    /// For a first push: whether the request has a name, or its generation is recorded.
    var isNamed = false
    /// For a first push: the generation of the request's pushes.
    var generation: UInt16 = 0
    /// For a first push: what its text is known by, where a request carries one text (`TextIndex`);
    /// 0 for none.
    var text: UInt64 = 0
    /// When it was first and last submitted: monotonic nanoseconds.
    var firstSubmitted: Int64 = 0
    var submitted: Int64 = 0
    /// The time from the last submission to its answer.
    var latencyNanoseconds: Int64 = 0
    /// The last refusal's reason.
    var reason = ""

    /// Puts the push on a connection, behind the newest one there.
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

    /// Notes the answer to the push.
    mutating func noteAnswer(status: Int, at nanoseconds: Int64) {
        self.status = Int32(clamping: status)
        latencyNanoseconds = nanoseconds - submitted
    }

    /// Takes the push off its connection. The caller must close the gap between its neighbours.
    mutating func leaveConnection() -> (connection: Int, previous: Int32, next: Int32) {
        precondition(state == .inFlight, "only a push in flight can be answered or lost")
        let place = (Int(connection), previous, next)
        connection = -1
        state = .ready
        return place
    }
}
