import Base
import PushServices

/// Decides everything about delivery and does nothing itself: a value without I/O and without a clock. Events are its mutating methods; what is
/// to be done about them it appends to `actions` and `settlements`, which its driver carries out and clears.
///
/// It owns retry, pacing, stream limits, timeouts, reconnecting and the reasons to stop. A driver's loop: tell it the events, call `advance`,
/// carry out the actions, sleep until something happens or until `nextWake`.
struct DeliveryMachine {
    /// What the driver is to do. Pushes and connections are named by their slots, requests by the slot of the first push that they carry.
    enum Action: Hashable, Sendable {
        /// Open a connection, and say `connectionOpened` or `connectionFailed`.
        case open(connection: Int)
        /// Close it; nothing is in flight on it any more as far as the machine is concerned.
        case close(connection: Int)
        /// Hand a request to a connection, with all its pushes.
        case submit(request: Int, connection: Int)
        /// Stop waiting for an answer; the pushes are settled, or will be submitted again.
        case abandon(request: Int, connection: Int)
        /// The push will wait for a while: keep its bytes without its batch.
        case hold(push: Int)
        /// Ask the peer for a sign of life, and say `connectionAlive` when it comes.
        case ping(connection: Int)
        /// The provider token used on this connection is refused as expired; say `tokenRefused` if no other may be had.
        case renewToken(connection: Int)
    }

    /// An answer of the service.
    struct Answer: Hashable, Sendable {
        var status: Int
        var reason = ""
        var retryAfterSeconds: Double?
        var invalidSince: Timestamp?
        /// Header date, of answers that refuse who sends (403).
        var serverTime: Timestamp?
        /// What it says of single targets, by the target (`AnswerDetails.targets`).
        var targets: [String: String] = [:]
        /// Whose id it has.
        var id = ServiceAnswer.Identity.missing
        /// Its body ended before its end.
        var isCutOff = false

        /// What the service needs to say what it means.
        var facts: ServiceAnswer { ServiceAnswer(status: status, reason: reason, id: id, isCutOff: isCutOff) }
    }

    /// How the run is ending; what is in flight is still awaited.
    struct Ending {
        var end: SendEnd
        /// The reason of what is unsent.
        var reason: OwnReason
        /// Answers are awaited until then: monotonic nanoseconds.
        var drainsUntil: Int64
    }

    let settings: MachineSettings
    let batching: Batching
    /// Pushes that a request carries at most.
    let largestRequest: Int
    var random: SplitMix

    // What the driver reads.
    /// To be carried out in order, and cleared by the driver.
    var actions: [Action] = []
    /// To be recorded, and cleared by the driver.
    var settlements: [Settlement] = []
    /// Slots that are free again: their bytes are not needed any more. Cleared by the driver.
    var released: [Int32] = []
    /// How the run ended; nil while it goes on.
    var end: SendEnd?

    // Pushes, and the requests that carry them.
    var pushes: [PushSlot] = []
    var freePushes = IndexQueue()
    var openPushes = 0
    /// Those of the requests in `fresh`.
    var untriedPushes = 0
    var fresh = IndexQueue()
    var again = IndexQueue()
    var waiting = RetryHeap()
    var isSourceEnded = false

    // Connections.
    var connections: [ConnectionSlot] = []
    var window: StreamWindow
    /// Requests.
    var inFlightCount = 0
    var reconnectAt: Int64 = 0
    /// Connections in a row that ended without a single answer.
    var fruitlessConnections = 0
    var fruitlessSince: Int64 = 0
    var hasEverAnswered = false
    var hasConnected = false
    var recentLosses = RecentLosses()
    var requestBudget = RequestBudget()
    var growth = ConnectionGrowth()
    var answerCount = 0

    // The run.
    var pacer: Pacer?
    var throttle = Throttle()
    /// The part in a pace that several runs share: the one thing that the machine does not own.
    var paceShare: PaceShare?
    var tokenHealth: ShareAlarm
    var rejectionHealth: ShareAlarm
    var serviceHealth = ServiceHealth()
    /// While pushes are tried one at a time, when the next may be: monotonic nanoseconds.
    var probeAt: Int64 = 0
    var canary: Canary
    var tally = AnswerTally()
    /// What the other loops of the run count.
    var tallyOfOthers = AnswerTally()
    /// What was counted before, by other machines of the run.
    private(set) var earlierTally: AnswerTally
    var judgedTally = AnswerTally()
    var lastReasons = LastReasons()
    /// The server's clock less this machine's; nil while unknown.
    var clockLagSeconds: Double?
    var lastServiceReason = ""
    /// Set once nothing more will be submitted: the driver closes its source then, adds what is left there, and says `sourceEnded`.
    var ending: Ending?
    var isExpired = false
    var lastAdvance: Int64?
    var timeoutsResumeAt: Int64 = 0

    init(_ settings: MachineSettings) {
        self.settings = settings
        batching = settings.service.batching
        largestRequest = batching.largestRequest(at: Pace.slower(settings.pace, settings.sharedPace))
        random = SplitMix(seed: settings.jitterSeed)
        window = StreamWindow(largest: settings.streamsPerConnection)
        pacer = settings.pace.map { [batching] in Pacer($0, batching) }
        let earlier = settings.earlier
        canary = Canary(size: max(0, settings.canaryPushes - earlier.canary))
        tokenHealth = ShareAlarm(answers: earlier.canary, bad: earlier.ambiguous)
        rejectionHealth = ShareAlarm(answers: earlier.canary, bad: earlier.rejected)
        earlierTally = AnswerTally(earlier.judged)
    }

    /// Whether more pushes are welcome: enough to keep all streams busy, and never so many that memory grows with the audience.
    var wantsPushes: Bool {
        guard end == nil, ending == nil, openPushes < settings.openPushLimit, !settings.connectsFirst || hasConnected else { return false }
        return isExpired || untriedPushes < settings.readyTarget(connections: connections.count)
    }

    /// Takes a push over, in a request of its own; returns its slot, by which the driver finds its bytes.
    mutating func add(recipient: Int, at now: Moment) -> Int {
        precondition(end == nil, "a machine that ended takes no pushes")
        let push = claimSlot()
        pushes[push].recipient = recipient
        pushes[push].isOpen = true
        queueUntried(push, isFirst: false)
        return push
    }

    /// No more pushes will come.
    mutating func sourceEnded() { isSourceEnded = true }

    mutating func claimSlot() -> Int {
        openPushes += 1
        if let free = freePushes.removeFirst() {
            pushes[free] = PushSlot()
            return free
        }
        pushes.append(PushSlot())
        return pushes.count - 1
    }

    /// Settles all pushes of a request alike. The only place where a push is settled: once, and its slot is free again.
    mutating func settle(_ request: Int, _ outcome: Outcome, reason: String, invalidSince: Timestamp? = nil, at now: Moment) {
        let state = pushes[request].state
        precondition(state != .free, "a push settles exactly once")
        precondition(state == .ready || state == .waiting, "a request in flight must be taken off its connection first")
        resolveCanary(request)
        if outcome == .failed { lastReasons.failed = reason }
        var push = request
        while true {
            let companion = pushes[push].companion
            tally.count(outcome)
            settlements.append(
                Settlement(
                    recipient: pushes[push].recipient, outcome: outcome, status: Int(pushes[request].status), reason: reason,
                    attempts: Int(pushes[request].attempts), latencyMilliseconds: Int(pushes[request].latencyNanoseconds / 1_000_000),
                    settledAt: now.wall, invalidSince: invalidSince))
            pushes[push].state = .free
            freePushes.append(push)
            released.append(Int32(push))
            openPushes -= 1
            if companion < 0 { return }
            push = Int(companion)
        }
    }
}
