import Base
public import Delivery
public import PushServices

/// What a run that is being sent waits for.
public enum ProgressWait: Hashable, Sendable {
    /// Something about the service or the pace.
    case delivery(SendWait)
    /// Answers have arrived and cannot be written into the run file.
    case runFile

    /// Whether the run makes no progress until the wait ends.
    public var isTrouble: Bool {
        switch self {
        case .delivery(.store), .delivery(.outage), .delivery(.connection), .delivery(.quota), .delivery(.credential), .runFile: true
        case .delivery: false
        }
    }
}

/// A service that has taken no push for a while although devices wait for it.
public struct SilentService: Sendable {
    /// The service.
    public var service: any PushService
    /// Its host and port, and the proxy on the way to it, as a phrase.
    public var endpoint: String
    /// Whether a connection to it is open.
    public var isConnected: Bool
    /// For how long it has taken none, in seconds.
    public var seconds: Int
    /// The recipients without an outcome that are sent through it now.
    public var waiting: Int
}

/// Notices when a service takes no push although some wait for it. A value; the caller passes the time, in seconds.
struct SilenceWatch {
    /// What there is to tell.
    enum News: Hashable { case silent(seconds: Int), answersAgain }

    /// After each time that it was told, twice as long, so that a slow service does not fill a log.
    private static let firstTimeout = 4.0, longestTimeout = 600.0

    private var timeout = Self.firstTimeout
    private var answered = 0
    private var since: Double?
    private var isTold = false

    /// - Parameters:
    ///   - answered: how many requests the service has answered.
    ///   - isWaiting: whether some wait for the service rather than for the pace, the disk or an order.
    mutating func look(answered: Int, isWaiting: Bool, at seconds: Double) -> News? {
        if answered != self.answered {
            defer { (self.answered, since, isTold) = (answered, nil, false) }
            return isTold ? .answersAgain : nil
        }
        guard isWaiting else {
            since = nil
            return nil
        }
        let begin = since ?? seconds
        since = begin
        guard !isTold, seconds - begin >= timeout else { return nil }
        isTold = true
        timeout = min(timeout * 2, Self.longestTimeout)
        return .silent(seconds: Int(seconds - begin))
    }
}

extension SendControl {
    /// Whether pushes wait for the service: also behind a pace, while any that has left has no outcome.
    var waitsForService: Bool {
        switch wait {
        case .store, .quota: false
        case let wait: wait?.isForService ?? false || started.value > pushesSettled
        }
    }
}

extension SendWait {
    /// Whether pushes wait for the service itself: for a connection, a token or an answer.
    var isForService: Bool {
        switch self {
        case .connection, .outage, .credential, .canary, .server: true
        case .last(let answers, _): answers > 0
        case .store, .quota, .throttle, .pace: false
        }
    }
}

/// Notices when answers arrive but are not written into the run file. A value; the caller passes the time.
struct RecordingWatch {
    private static let timeoutSeconds = 2.0

    private var recorded = 0
    private var stuckSince: Double?

    /// Whether the same answers have waited for two seconds.
    /// - Parameters:
    ///   - answered: how many settlements were handed over to be recorded.
    ///   - recorded: how many settlements are on the disk.
    mutating func isStuck(answered: Int, recorded: Int, at seconds: Double) -> Bool {
        guard answered > recorded, recorded == self.recorded, let since = stuckSince else {
            self.recorded = recorded
            stuckSince = answered > recorded ? seconds : nil
            return false
        }
        return seconds - since >= Self.timeoutSeconds
    }
}
