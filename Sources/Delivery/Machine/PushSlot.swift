import Base
import PushServices

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

/// A first-in, first-out ring of indices that also accepts indices at its front. It allocates only
/// when it grows, by doubling.
struct IndexQueue {
    private var ring: [Int32]
    private var head = 0
    private(set) var count = 0

    init(minimumCapacity: Int = 64) {
        var capacity = 64
        while capacity < minimumCapacity { capacity *= 2 }
        ring = Array(repeating: 0, count: capacity)
    }

    var isEmpty: Bool { count == 0 }

    /// The next index, which stays in the queue.
    var first: Int? { count == 0 ? nil : Int(ring[head]) }

    mutating func append(_ index: Int) {
        if count == ring.count { grow() }
        ring[(head + count) & (ring.count - 1)] = Int32(index)
        count += 1
    }

    /// Puts an index before all others.
    mutating func prepend(_ index: Int) {
        if count == ring.count { grow() }
        head = (head - 1) & (ring.count - 1)
        ring[head] = Int32(index)
        count += 1
    }

    mutating func removeFirst() -> Int? {
        guard count > 0 else { return nil }
        let index = Int(ring[head])
        head = (head + 1) & (ring.count - 1)
        count -= 1
        return index
    }

    private mutating func grow() {
        var larger = [Int32](repeating: 0, count: ring.count * 2)
        for offset in 0..<count { larger[offset] = ring[(head + offset) & (ring.count - 1)] }
        ring = larger
        head = 0
    }
}

/// A binary heap in one array of the requests that wait for their next attempt, the earliest first.
struct RetryHeap {
    private struct Entry {
        var time: Int64
        var request: Int32
    }

    private var entries: [Entry] = []

    /// All requests, in no particular order.
    var requests: some Sequence<Int> { entries.lazy.map { Int($0.request) } }

    /// When the earliest request is due; nil for none.
    var earliest: Int64? { entries.first?.time }

    mutating func insert(_ request: Int, at time: Int64) {
        var child = entries.count
        entries.append(Entry(time: time, request: Int32(request)))
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].time < entries[parent].time else { break }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the earliest request if it is due by `time`; nil otherwise.
    mutating func removeDue(by time: Int64) -> Int? {
        guard let first = entries.first, first.time <= time else { return nil }
        removeFirst()
        return Int(first.request)
    }

    /// Removes and returns all requests, in no particular order.
    mutating func removeAll() -> [Int] {
        defer { entries.removeAll() }
        return entries.map { Int($0.request) }
    }

    private mutating func removeFirst() {
        let last = entries.removeLast()
        guard !entries.isEmpty else { return }
        entries[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < entries.count else { return }
            if child + 1 < entries.count, entries[child + 1].time < entries[child].time { child += 1 }
            guard entries[child].time < entries[parent].time else { return }
            entries.swapAt(child, parent)
            parent = child
        }
    }
}

extension RetryPolicy {
    /// Returns the wait before the attempt that follows `attempts` attempts: exponential with full
    /// jitter.
    /// Source: AWS Architecture Blog, "Exponential Backoff And Jitter".
    /// - Parameter retryAfterSeconds: the wait that the server requests. The result is never
    ///   shorter.
    func delayNanoseconds(afterAttempts attempts: Int, retryAfterSeconds: Double?, random: inout SplitMix) -> Int64 {
        let doublings = Double(min(max(attempts - 1, 0), 60))
        var ceiling = max(0, firstDelaySeconds)
        if doublings > 0 { ceiling = min(longestDelaySeconds, ceiling * exponentOfTwo(doublings)) }
        let longest = max(0, min(longestDelaySeconds, ceiling))
        let jittered = Double.random(in: min(max(0, shortestDelaySeconds), longest)...longest, using: &random)
        return Int64(nanosecondsFromSeconds: max(jittered, retryAfterSeconds ?? 0))
    }

    private func exponentOfTwo(_ exponent: Double) -> Double {
        Double(sign: .plus, exponent: Int(exponent), significand: 1)
    }
}
