/// What the machine knows of a push it holds. Slots lie in one array and are used again: nothing is allocated per push.
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
    }

    var recipient = 0
    var state = State.free
    /// An attempt was handed to the wire and its answer got lost: nobody knows whether the phone has it.
    var mayBeDelivered = false
    /// How often it was handed to the wire.
    var attempts: Int32 = 0
    /// The last answer's status, 0 for none.
    var status: Int32 = 0
    /// Where it is in flight, and its neighbours there in order of submission; -1 for none.
    var connection: Int32 = -1
    var previous: Int32 = -1
    var next: Int32 = -1
    /// Monotonic nanoseconds.
    var firstSubmitted: Int64 = 0
    var submitted: Int64 = 0
    /// From the last submission to its answer.
    var latencyNanoseconds: Int64 = 0
    /// The last refusal's reason.
    var reason = ""
}
