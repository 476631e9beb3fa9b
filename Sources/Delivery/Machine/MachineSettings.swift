import Base
import PushServices

/// What the machine needs of a sender's settings: figures and names, no secrets.
struct MachineSettings: Sendable {
    /// Says what answers mean.
    var service: any PushService = PushServices.standard
    /// `host:port`, for sentences.
    var endpoint: String
    var usesProviderToken: Bool
    /// `host:port` of the proxy, for sentences.
    var proxy: String?
    var pace: Pace?
    /// Of several runs together.
    var sharedPace: Pace?
    var deadline: Timestamp?
    var resendsUnknown = true
    /// So many pushes are answered before any other goes out; 0 for none.
    var canaryPushes = 0
    /// The campaign's own limits; nil for none.
    var stopLimits: StopLimits?
    /// What was answered before, by other machines of the run.
    var earlier = EarlierAnswers()
    var retry = RetryPolicy()
    var connections = 2
    var streamsPerConnection = 1000
    var connectTimeoutSeconds = 10.0
    var answerTimeoutSeconds = 30.0
    /// Takes pushes only once a connection is open, and ends without any when none can be had: what a loop does that only helps another.
    var connectsFirst = false
    /// Silence on a connection with pushes in flight, after which it is asked.
    var pingAfterSeconds = 5.0
    /// A sign of life must come within this.
    var pingTimeoutSeconds = 10.0
    /// An idle connection is asked so often, and so kept open: about an hour, as services want it.
    var idlePingSeconds = 3600.0
    /// Connections without an answer after which a run that never saw one gives up.
    var fruitlessConnectionLimit = 5
    /// A connection that is left in good order after fewer answers was lost, as far as back-off is concerned.
    var smallestBudget = RequestBudget.smallest
    /// Pushes held at most: in flight, ready and waiting for a retry.
    var openPushLimit = 65_536
    var jitterSeed: UInt64 = 0

    init(endpoint: String, usesProviderToken: Bool) {
        self.endpoint = endpoint
        self.usesProviderToken = usesProviderToken
    }

    init(_ settings: SenderSettings) {
        service = settings.service
        endpoint = settings.endpoint.description
        if case .token = settings.credentials { usesProviderToken = true } else { usesProviderToken = false }
        proxy = settings.proxyAddress?.description
        pace = settings.pace
        sharedPace = settings.sharedPace?.pace
        deadline = settings.deadline
        resendsUnknown = settings.resendsUnknown
        canaryPushes = settings.canaryPushes
        stopLimits = settings.stopLimits
        retry = settings.retry
        connections = max(1, settings.connections)
        streamsPerConnection = max(1, settings.streamsPerConnection)
        connectTimeoutSeconds = settings.connectTimeoutSeconds
        answerTimeoutSeconds = settings.answerTimeoutSeconds
        // Known before the answers are overdue: a dead connection and a slow answer are different things.
        pingAfterSeconds = min(5, answerTimeoutSeconds / 6)
        pingTimeoutSeconds = min(10, answerTimeoutSeconds / 3)
        jitterSeed = .random(in: .min ... .max)
    }

    /// Pushes to have at hand so that no stream waits for the source. With a pace never more than `Batching.pushesAhead`.
    func readyTarget(connections: Int) -> Int {
        let batching = service.batching
        let wanted = min(openPushLimit, max(1000, 2 * max(1, connections) * streamsPerConnection) * batching.largestTargets)
        return min(wanted, Pace.slower(pace, sharedPace).map(batching.pushesAhead) ?? .max)
    }

    /// Answers still awaited once the run is ending.
    var drainSeconds: Double { min(answerTimeoutSeconds, 10) }
}

/// Connections lost lately, forgotten at one a second: the service takes rapid connecting and closing for an attack.
struct RecentLosses {
    private var level = 0.0
    private var updated: Int64 = 0

    /// Counts one; returns how many are remembered.
    mutating func add(at nanoseconds: Int64) -> Double {
        level = max(0, level - Double(nanoseconds - updated) / 1e9) + 1
        updated = nanoseconds
        return level
    }
}

/// How many requests a server takes on a connection before it closes it in good order (nginx: 1,000), learned from how it left before.
struct RequestBudget {
    /// Fewer are no limit that a server would have.
    static let smallest = 50

    private var last: Int?
    /// Two connections in a row were left after as many; nil while that was not so.
    private(set) var known: Int?

    /// Whether a connection with so many requests is soon left: another is opened, and this one used up first.
    func isHalfUsed(by requests: Int) -> Bool { known.map { requests >= $0 / 2 } ?? false }

    /// Whether the next request would be one too many.
    func isUsed(by requests: Int) -> Bool { known.map { requests >= $0 } ?? false }

    mutating func noteLeave(after requests: Int) {
        known = requests == last ? requests : nil
        last = requests
    }
}
