import Base
import PushServices

/// Decides everything about delivery and does nothing itself: a value without I/O and without a
/// clock. Events are calls of its mutating methods. It appends what follows from them to `actions`
/// and `settlements`, which its driver carries out and clears.
///
/// It owns retries, pacing, stream limits, timeouts, reconnecting and the reasons to stop. A
/// driver's loop: tell it the events, call `advance`, carry out the actions, sleep until something
/// happens or until `nextWake`.
///
/// Not copyable: where a method that changes the machine calls one that does not, the compiler may
/// copy the whole of it. One such copy for each push cost a twenty-fifth of its CPU.
struct DeliveryMachine: ~Copyable {
    /// What the driver must do. Slots name pushes and connections; the slot of the first push that
    /// a request carries names the request.
    enum Action: Hashable, Sendable {
        /// Open a connection, then call `connectionOpened` or `connectionFailed`.
        case open(connection: Int)
        /// Close the connection. For the machine nothing is in flight on it any more.
        case close(connection: Int)
        /// Hand a request with all its pushes to a connection.
        case submit(request: Int, connection: Int)
        /// Have the request named, or its generation recorded, then call `named`. Its pushes stay
        /// as they are until then.
        case name(request: Int, question: Int)
        /// Stop waiting for an answer. The pushes are settled or will be submitted again.
        case abandon(request: Int, connection: Int)
        /// Keep the push's bytes without its batch, as the push will wait for a while.
        case hold(push: Int)
        /// Ask the peer for a sign of life, and call `connectionAlive` when it comes.
        case ping(connection: Int)
        /// Renew the provider token, as the service refused the one used on this connection as
        /// expired. Call `tokenRefused` if it cannot be renewed.
        case renewToken(connection: Int)
        /// Open further connections at another of the service's servers: the one with this name, or
        /// else the next one.
        case changeServer(name: String?)
        /// Have the text with this name handed to the service again before another request names
        /// it.
        case forgetText(name: String)
        /// Note that the service let the token of this connection pass.
        case confirmToken(connection: Int)
    }

    /// An answer from the service.
    struct Answer: Hashable, Sendable {
        var status: Int
        var reason = ""
        var retryAfterSeconds: Double?
        var invalidSince: Timestamp?
        /// The `date` header of an answer that refuses the sender (401, 403).
        var serverTime: Timestamp?
        /// After how many seconds the service takes more, if it has said that this was the last it
        /// takes; nil otherwise.
        var budgetReturnsAfterSeconds: Double?
        /// The id under which the service can be asked about the pushes later; blank for none.
        var receipt = ""
        /// The server to which it sends the app's requests (`AnswerDetails.server`).
        var server: String?
        /// What it says about single targets, by target (`AnswerDetails.targets`).
        var targets: [String: String] = [:]
        /// Whether the answer carries the request's own id, another one, or none.
        var id = ServiceAnswer.Identity.missing
        /// Whether its body was cut off, or is not what a service writes.
        var isCutOff = false
        /// Whether its body says that the service took the pushes, and nothing else
        /// (`PushService.plainlyAccepts`).
        var isPlain = false

        /// What the service needs to interpret the answer.
        var facts: ServiceAnswer {
            ServiceAnswer(
                status: status, reason: reason, id: id, isCutOff: isCutOff, hasReceipt: isPlain || !receipt.isEmpty)
        }
    }

    /// How the run is ending. What is in flight is still awaited.
    struct Ending {
        var end: RunEnd
        /// The reason recorded for what is unsent.
        var reason: OwnReason
        /// How long answers are awaited: monotonic nanoseconds.
        var drainsUntil: Int64
    }

    let settings: MachineSettings
    let batching: Batching
    /// The most pushes that a request carries.
    let largestRequest: Int
    /// How many pushes it holds ahead of its paces at most; nil without a pace.
    let mostAhead: Int?
    /// What must be on record before a request leaves.
    let nameRule: NameRule
    var random: SplitMix

    // What the driver reads.
    /// Actions for the driver to carry out in order and clear.
    var actions: [Action] = []
    /// Settlements for the driver to record and clear.
    var settlements: [Settlement] = []
    /// Slots that are free again, so that their bytes are no longer needed. Cleared by the driver.
    var released: [Int32] = []
    /// How the run ended; nil while it continues.
    var end: RunEnd?

    // Pushes, and the requests that carry them.
    var pushes: [PushSlot] = []
    var freePushes = IndexQueue()
    var openPushes = 0
    /// The number of pushes in `fresh`.
    var untriedPushes = 0
    var fresh = IndexQueue()
    var again = IndexQueue()
    var waiting = RetryHeap()
    var isSourceEnded = false

    // Connections.
    var connections: [ConnectionSlot] = []
    var window: StreamWindow
    /// The number of requests in flight.
    var inFlightCount = 0
    var reconnectAt: Int64 = 0
    /// Connections in a row that ended without a single answer.
    var fruitlessConnections = 0
    var fruitlessSince: Int64 = 0
    var hasEverAnswered = false
    /// Whether the service has accepted a push of the run, from this loop or any other.
    var hasEverAccepted: Bool
    var hasConnected = false
    var recentLosses = RecentLosses()
    var requestBudget = RequestBudget()
    var growth = ConnectionGrowth()
    var answerCount = 0

    /// The names of requests that have one (`PushSlot.isNamed`), or of their texts, and the
    /// requests that wait for one, with the number of the question.
    var names: [Int: RequestName] = [:]
    var unnamed: [Int: Int] = [:]
    var lastQuestion = 0
    var namingLead = NamingLeadTime()
    /// Since when requests for names have failed: monotonic nanoseconds.
    var namesMissingSince: Int64?
    var nameTrouble = ""

    /// Since when the last token has ended or was refused while no other has come: monotonic
    /// nanoseconds.
    var credentialPendingSince: Int64?
    /// Why the last attempt to fetch a token failed; blank while none did.
    var credentialTrouble = ""

    // The run.
    var pacer: Pacer?
    var throttle = Throttle()
    var quota: QuotaHold
    /// The shares in paces that several senders keep together: the only thing that the machine does
    /// not own.
    var paceArbiter: [PaceParticipant] = []
    /// Since when each of them, by its place, would have let the next request leave that another
    /// one holds back; monotonic.
    var sharesReadySinceNanoseconds: [Int: Int64] = [:]
    var tokenHealth: ShareAlarm
    var rejectionHealth: ShareAlarm
    var serviceHealth = ServiceHealth()
    var settingsDoubt = SettingsDoubt()
    var refusedTexts = RefusedTexts()
    /// While pushes are tried one at a time, when the next one may be: monotonic nanoseconds.
    var probeAt: Int64 = 0
    var canary: Canary
    var tally = AnswerTally()
    /// What the other loops and the other workers of the run have counted.
    var tallyOfOthers = AnswerTally()
    /// What other machines of the run counted before.
    private(set) var earlierTally: AnswerTally
    var judgedTally = AnswerTally()
    var lastReasons = RecentReasons()
    /// The server's clock minus this machine's; nil while unknown.
    var clockLagSeconds: Double?
    var lastServiceReason = ""
    /// Set once nothing more will be submitted. The driver then closes its source, adds what is
    /// left there, and calls `sourceEnded`.
    var ending: Ending?
    /// Since when nothing may be submitted (`noteGate`): monotonic nanoseconds.
    var gateClosedSince: Int64?
    var isExpired = false
    var lastAdvance: Int64?
    var timeoutsResumeAt: Int64 = 0

    init(_ settings: MachineSettings) {
        self.settings = settings
        batching = settings.service.batching
        let paces = settings.paces
        (largestRequest, mostAhead) = (paces.largestRequest, paces.pushesAhead)
        quota = QuotaHold(firstSeconds: settings.retry.firstQuotaSeconds)
        nameRule = NameRule(settings.service.repeatProtection)
        random = SplitMix(seed: settings.jitterSeed)
        window = StreamWindow(largest: settings.streamsPerConnection)
        let (unit, spare) = (batching.paceUnit, batching.paceUnit == .targets ? largestRequest - 1 : 0)
        pacer = settings.pace.map { Pacer($0, counting: unit, spare: spare) }
        let earlier = settings.earlier
        hasEverAccepted = earlier.hasAccepted
        canary = Canary(size: max(0, settings.canaryPushes - earlier.canary))
        tokenHealth = ShareAlarm(answers: earlier.canary, bad: earlier.ambiguous)
        rejectionHealth = ShareAlarm(answers: earlier.canary, bad: earlier.rejected)
        earlierTally = AnswerTally(earlier.judged)
    }

    /// Whether the driver should add more pushes: enough to keep all streams busy, but few enough
    /// that memory does not grow with the audience.
    var wantsPushes: Bool {
        guard end == nil, ending == nil, openPushes < settings.openPushLimit, !settings.connectsFirst || hasConnected
        else { return false }
        return isExpired || untriedPushes < settings.readyTarget(connections: connections.count, mostAhead: mostAhead)
    }

    /// Adds a push in a request of its own. Returns its slot, under which the driver keeps its
    /// bytes.
    mutating func add(recipient: Int, at now: Moment) -> Int {
        precondition(end == nil, "a machine that has ended accepts no pushes")
        let push = claimSlot()
        pushes[push].recipient = recipient
        pushes[push].isOpen = true
        queueUntried(push, isFirst: false)
        return push
    }

    /// Notes that no more pushes will come.
    mutating func sourceEnded() { isSourceEnded = true }

    mutating func claimSlot() -> Int {
        openPushes += 1
        // A slot is used again only once the driver has freed the bytes of the push that was
        // settled in it: what other loops have had accepted may settle pushes between two turns.
        if released.isEmpty, let free = freePushes.removeFirst() {
            pushes[free] = PushSlot()
            return free
        }
        pushes.append(PushSlot())
        return pushes.count - 1
    }

    /// Gives all pushes of a request the same outcome and frees their slots. A push is settled only
    /// here, and only once.
    mutating func settle(
        _ request: Int, _ outcome: Outcome, reason: String, invalidSince: Timestamp? = nil, at now: Moment
    ) {
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
                    recipient: pushes[push].recipient, outcome: outcome, status: Int(pushes[request].status),
                    reason: reason,
                    attempts: Int(pushes[request].attempts),
                    latencyMilliseconds: Int(pushes[request].latencyNanoseconds / 1_000_000),
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

/// The check of this machine's clock. Provider tokens carry the time at which they were made: with
/// a wrong clock, good credentials look bad.
extension DeliveryMachine {
    /// A difference between the clocks that is not worth mentioning: tokens are valid for an hour,
    /// and answers take time.
    private static let harmlessSeconds = 60.0

    /// Stops the run because the service calls the provider token expired and it cannot be renewed
    /// yet.
    /// - Parameter ageSeconds: the token's age by a clock that does not jump; nil if unknown.
    mutating func tokenRefused(ageSeconds: Double? = nil, at now: Moment) {
        stopForService(.tokenExpired(ageSeconds: ageSeconds, clockLagSeconds: harmfulClockLagSeconds), at: now)
    }

    /// Notes the server's time from an answer about credentials.
    mutating func noteClock(_ answer: Answer, at now: Moment) {
        guard let serverTime = answer.serverTime else { return }
        clockLagSeconds = Double(serverTime.epochMilliseconds - now.wall.epochMilliseconds) / 1000
    }

    /// How far this machine's clock is behind the server's; nil if they agree or the server does
    /// not tell the time.
    var harmfulClockLagSeconds: Double? { clockLagSeconds.flatMap { abs($0) > Self.harmlessSeconds ? $0 : nil } }
}

/// How many pushes a connection may have in flight. Everything in flight when a connection dies is
/// in doubt. So after a loss the window shrinks to half of what the lost connection managed to
/// answer, and grows again with each accepted push.
struct StreamWindow {
    private static let smallest = 8.0
    /// What each accepted push adds: the window doubles within about six windows of answers.
    private static let growth = 0.125

    private let largest: Double
    private var size: Double

    init(largest: Int) {
        self.largest = Double(max(1, largest))
        size = self.largest
    }

    var limit: Int { Int(size) }

    mutating func accepted() {
        if size < largest { size = min(largest, size + Self.growth) }
    }

    mutating func lost(afterAnswers answers: Int) {
        size = min(size, largest, max(Self.smallest, Double(answers) / 2))
    }
}

extension DeliveryMachine {
    /// Notes that the peer answered a PING: it is alive, however long its answers take.
    mutating func connectionAlive(_ connection: Int, at now: Moment) {
        guard connections[connection].state != .closed else { return }
        connections[connection].lastProgress = now.nanoseconds
        connections[connection].pingedAt = nil
    }

    /// Pings connections that have been silent for a while, and gives up those that do not respond.
    mutating func checkHealth(at now: Moment) {
        guard now.nanoseconds >= timeoutsResumeAt else { return }
        for connection in connections.indices where now.nanoseconds >= healthCheck(of: connections[connection]) {
            if connections[connection].pingedAt == nil {
                connections[connection].pingedAt = now.nanoseconds
                actions.append(.ping(connection: connection))
            } else {
                actions.append(.close(connection: connection))
                connectionLost(connection, cause: "no sign of life within \(settings.pingTimeoutSeconds) s", at: now)
            }
        }
    }

    /// Returns when a connection must be pinged, or must have answered the ping: monotonic
    /// nanoseconds.
    func healthCheck(of connection: ConnectionSlot) -> Int64 {
        guard connection.state == .open || connection.state == .retiring else { return .max }
        if let pinged = connection.pingedAt {
            return pinged + Int64(nanosecondsFromSeconds: settings.pingTimeoutSeconds)
        }
        guard connection.oldest >= 0 else {
            return connection.lastProgress + Int64(nanosecondsFromSeconds: settings.idlePingSeconds)
        }
        let silentSince = max(connection.lastProgress, pushes[Int(connection.oldest)].submitted)
        return silentSince + Int64(nanosecondsFromSeconds: settings.pingAfterSeconds)
    }
}
