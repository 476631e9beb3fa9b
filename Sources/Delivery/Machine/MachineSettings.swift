public import Base
import PushServices

/// The part of a sender's settings that the machine needs: numbers and names, no secrets.
struct MachineSettings: Sendable {
    /// The service, which interprets answers.
    var service: any PushService = PushServices.standard
    /// `host:port`, for messages.
    var endpoint: String
    var usesProviderToken: Bool
    /// Whether there are other servers that take the same pushes.
    var hasSpareServers = false
    /// `host:port` of the proxy, for messages.
    var proxy: String?
    /// Counts what the service's own pace counts.
    var pace: Pace?
    /// The paces that it keeps together with others.
    var sharedPaces: [SharedPace] = []
    var deadline: Timestamp?
    var resendsUnknown = true
    /// How many pushes must be answered before any other goes out; 0 for none.
    var canaryPushes = 0
    /// The campaign's own limits; nil for none.
    var stopLimits: StopLimits?
    /// The answers that other machines of the run received before.
    var earlier = EarlierAnswers()
    var retry = RetryPolicy()
    var connections = 2
    var streamsPerConnection = 1000
    var connectTimeoutSeconds = 10.0
    var answerTimeoutSeconds = 30.0
    /// Whether to take pushes only once a connection is open, and to end without any if none can be
    /// opened. For a loop that only helps another.
    var connectsFirst = false
    /// How long a connection with pushes in flight may be silent before it is pinged.
    var pingAfterSeconds = 5.0
    /// How long to wait for the sign of life.
    var pingTimeoutSeconds = 10.0
    /// How often an idle connection is pinged to keep it open: about once an hour, as services ask.
    var idlePingSeconds = 3600.0
    /// After how many connections without an answer a run that never got one gives up.
    var fruitlessConnectionLimit = 5
    /// A connection that the server leaves in good order after fewer answers than this counts as
    /// lost for back-off.
    var smallestBudget = RequestBudget.smallest
    /// The most pushes held at a time: in flight, ready and waiting for a retry.
    var openPushLimit = 65_536
    var jitterSeed: UInt64 = 0

    init(endpoint: String, usesProviderToken: Bool) {
        self.endpoint = endpoint
        self.usesProviderToken = usesProviderToken
    }

    /// Settings of one loop of a sender.
    /// - Parameters:
    ///   - earlier: the answers of earlier epochs of the run.
    ///   - isHelper: whether other loops run already.
    init(_ settings: SenderSettings, after earlier: EarlierAnswers = EarlierAnswers(), isHelper: Bool = false) {
        service = settings.service
        endpoint = settings.endpoint.description
        usesProviderToken = settings.credentials.tokens != nil
        hasSpareServers = !settings.endpoint.spareHosts.isEmpty
        proxy = settings.proxyAddress?.description
        pace = settings.pace
        sharedPaces = settings.sharedPaces.map(\.pace)
        deadline = settings.deadline
        resendsUnknown = settings.resendsUnknown
        canaryPushes = settings.canaryPushes
        stopLimits = settings.stopLimits
        retry = settings.retry
        switch settings.wire {
        case .http2:
            (connections, streamsPerConnection) = (max(1, settings.connections), max(1, settings.streamsPerConnection))
        // What counts as a connection here has as many sockets as it needs.
        case .calls(let inFlight): (connections, streamsPerConnection) = (1, max(1, inFlight))
        }
        connectTimeoutSeconds = settings.connectTimeoutSeconds
        answerTimeoutSeconds = settings.answerTimeoutSeconds
        // A dead connection must be noticed before its answers are overdue, so that it is not
        // mistaken for a slow answer.
        pingAfterSeconds = min(5, answerTimeoutSeconds / 6)
        pingTimeoutSeconds = min(10, answerTimeoutSeconds / 3)
        jitterSeed = .random(in: .min ... .max)
        self.earlier = earlier
        connectsFirst = isHelper
        // A helper has no canary: the first loop requests help only once its canary is over.
        if isHelper {
            canaryPushes = 0
            self.earlier.canary = 0
        }
    }

    /// All paces, its own and the shared ones.
    var paces: RequestPaces {
        var paces = RequestPaces(service.batching)
        paces.keep(pace, counting: service.batching.paceUnit)
        for shared in sharedPaces { paces.keep(shared.pace, counting: shared.unit) }
        return paces
    }

    /// What the slowest pace that counts what the service's own counts lets leave in a second;
    /// infinity without one.
    var slowestPace: Double {
        let unit = service.batching.paceUnit
        return sharedPaces.reduce(pace?.perSecond ?? .infinity) { $1.unit == unit ? min($0, $1.pace.perSecond) : $0 }
    }

    /// Returns how many pushes to keep ready so that no stream waits for the source.
    /// - Parameter mostAhead: as many as the paces allow (`RequestPaces.pushesAhead`); nil without
    ///   a pace.
    func readyTarget(connections: Int, mostAhead: Int?) -> Int {
        let wanted = min(
            openPushLimit, max(1000, 2 * max(1, connections) * streamsPerConnection) * service.batching.largestTargets)
        return min(wanted, mostAhead ?? .max)
    }

    /// How long answers are still awaited once the run is ending.
    var drainSeconds: Double { min(answerTimeoutSeconds, 10) }
}

/// A count of recently lost connections, forgotten at one a second: the service takes rapid
/// connecting and closing for an attack.
struct RecentLosses {
    private var level = 0.0
    private var updated: Int64 = 0

    /// Counts a loss and returns how many are remembered.
    mutating func add(at nanoseconds: Int64) -> Double {
        level = max(0, level - Double(nanoseconds - updated) / 1e9) + 1
        updated = nanoseconds
        return level
    }
}

/// How many requests a server allows on a connection before it closes it in good order (nginx:
/// 1,000), learned from how it left before.
struct RequestBudget {
    /// The smallest limit that a server may plausibly have.
    static let smallest = 50

    private var last: Int?
    /// The number of requests after which the server left two connections in a row; nil if the last
    /// two differ.
    private(set) var known: Int?

    /// Returns whether the server will soon leave a connection with this many requests. Another one
    /// is then opened, and this one used up first.
    func isHalfUsed(by requests: Int) -> Bool { known.map { requests >= $0 / 2 } ?? false }

    /// Returns whether the next request would be one too many.
    func isUsed(by requests: Int) -> Bool { known.map { requests >= $0 } ?? false }

    mutating func noteLeave(after requests: Int) {
        known = requests == last ? requests : nil
        last = requests
    }
}

/// Answers that other senders of the same run received before this one begins: in earlier waves, or
/// before a pause.
public struct EarlierAnswers: Hashable, Sendable {
    /// Answers by outcome that the campaign's own limits (`stop_when`) judge together with those to
    /// come.
    public var judged: [Outcome: Int] = [:]
    /// Answers of a canary that was too small to be judged and therefore continues.
    public var canary = 0
    /// How many of the canary's answers refused the token for a reason that wrong settings can also
    /// cause, and how many refused the push for good.
    public var ambiguous = 0, rejected = 0
    /// Whether the service has accepted a push of the run.
    public var hasAccepted = false

    /// No earlier answers.
    public init() {}

    /// The number of answers that make a canary.
    public static let canarySize = Canary.usualSize
}
