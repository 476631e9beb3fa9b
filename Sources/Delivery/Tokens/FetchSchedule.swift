import Base
import PushServices

/// Decides when a token is fetched and which one is used: a value without a thread, a clock or a
/// socket. All times are of the clock that counts while the machine sleeps, in nanoseconds.
struct FetchSchedule {
    /// Nothing leaves with a token in the last of its time: a request takes a while to arrive.
    private static let reserveSeconds = 10.0
    private static let longestWaitSeconds = 60.0
    /// No server's retry-after is followed for longer.
    private static let longestRetryAfterSeconds = 3600.0

    private let header: String, prefix: String
    private let renewEarlySeconds: Double
    /// Another token is not requested sooner than this after the last one.
    private let shortestRenewal: Int64
    private(set) var token: ServiceToken?
    /// When the token is replaced because its end is near.
    private var renewAt: Int64 = 0
    /// Whether the service refused the token, and whether it has let it pass.
    private var isRefused = false, isConfirmed = false
    /// Whether the token stands in for one that the service refused.
    private var replacesRefused = false
    private var failure: TokenFetchFailure?
    private var failuresInARow = 0
    /// After a failure, no attempt comes before this time.
    private var retryAt: Int64 = .min
    private var isFetching = false

    init(_ exchange: TokenExchange) {
        (header, prefix) = (exchange.header, exchange.prefix)
        renewEarlySeconds = exchange.renewEarlySeconds
        shortestRenewal = Int64(nanosecondsFromSeconds: exchange.shortestRenewalSeconds)
    }

    /// When the next fetch is due; nil while one is under way.
    var nextFetch: Int64? {
        guard !isFetching else { return nil }
        guard let token else { return retryAt }
        return max(isRefused ? token.mintedAt + shortestRenewal : renewAt, retryAt)
    }

    /// What there is at a time.
    func state(at now: Int64) -> TokenState {
        if let token, !isRefused, now < token.usableUntil { return .ready(token) }
        if let refusal = failure?.final { return .refused(refusal) }
        return .pending(failure)
    }

    /// Notes that the server is being asked.
    mutating func begin() { isFetching = true }

    /// Notes a token.
    /// - Parameter askedAt: when the server was asked: its lifetime counts from then, however long
    ///   the answer took.
    mutating func given(_ given: IssuedToken, askedAt: Int64) {
        let reserve = min(Self.reserveSeconds, given.seconds / 10)
        let early = min(renewEarlySeconds, given.seconds / 2)
        replacesRefused = isRefused || replacesRefused && !isConfirmed
        token = ServiceToken(
            header: header, value: prefix + given.text, mintedAt: askedAt,
            usableUntil: askedAt + Int64(nanosecondsFromSeconds: given.seconds - reserve))
        renewAt = max(askedAt + Int64(nanosecondsFromSeconds: given.seconds - early), askedAt + shortestRenewal)
        (isRefused, isConfirmed, isFetching, failure, failuresInARow, retryAt) = (false, false, false, nil, 0, .min)
    }

    /// Notes that no token came. The next attempt waits 1, 2, 4 … 60 s, or longer if the server
    /// requests it.
    mutating func failed(_ failure: TokenFetchFailure, at now: Int64) {
        isFetching = false
        self.failure = failure
        failuresInARow += 1
        let wait = min(Self.longestWaitSeconds, Double(1 << min(failuresInARow - 1, 6)))
        let asked = min(Self.longestRetryAfterSeconds, failure.retryAfterSeconds ?? 0)
        retryAt = now + Int64(nanosecondsFromSeconds: max(wait, asked))
    }

    /// Notes that the service let a token pass.
    mutating func confirm(_ passed: ServiceToken) { if passed == token { isConfirmed = true } }

    /// Notes that the service refused a token as expired, and returns what there is instead; nil if
    /// the token was fetched because the last one was refused, and the service has not let it pass
    /// a single time: then it would refuse another one, too.
    @discardableResult
    mutating func refused(_ refused: ServiceToken, at now: Int64) -> TokenState? {
        guard let token, token == refused, !isRefused else { return state(at: now) }
        guard !replacesRefused || isConfirmed || now >= token.usableUntil else { return nil }
        isRefused = true
        return state(at: now)
    }
}
