public import Base
import Cryptography
public import PushServices
import Synchronization

/// Tokens that a server gives out for a time, fetched and renewed on a thread of its own while runs
/// are sent.
///
/// The first token is fetched by `start`, so that a wrong secret is known before anything is sent.
/// Later ones are fetched in the background: `TokenExchange.renewEarlySeconds` before the present
/// one ends, or when the service refused it; never sooner than `shortestRenewalSeconds` after the
/// last, and after a failure only with growing waits. Senders that wait for a token are woken when
/// it comes. All senders of an app share one source.
public final class FetchedTokenSource: Sendable {
    private let sharedToken: SharedToken
    private let thread = Mutex<WorkerThread<Void>?>(nil)
    private let noun: String

    /// A source without a token yet; sends nothing before `start`.
    /// - Parameters:
    ///   - exchange: the service's facts.
    ///   - identity: the identity of the sender.
    ///   - server: the endpoint of the pushes, if it gives out the tokens: at a path of its own
    ///     (without `:PORT` if it is 443), which is also the claim `aud` of an assertion, and
    ///     `certificateAuthorityFile`, if there is one, is the only authority to trust. The file is
    ///     read here. nil if the service has a server of its own for tokens: the token comes from
    ///     `AssertionFacts.address`, and the system's authorities are trusted.
    ///   - proxy: as `SenderSettings.proxy`; nil for none, whatever the environment says.
    ///   - file: where the key comes from, for messages; nil for no file.
    ///   - clock: dates the requests.
    /// - Throws: a `Diagnostic` when the private key cannot be used, the proxy is not an address,
    ///   or no more files can be opened.
    public convenience init(
        exchange: TokenExchange, identity: TokenIdentity, server: Endpoint? = nil, proxy: String? = nil,
        file: String? = nil,
        clock: CommonClock = CommonClock()
    ) throws(Diagnostic) {
        let question = try TokenRequest(exchange, identity, at: server, file: file)
        var route: ProxyAddress?
        if let proxy {
            do throws(Mistake) { route = try ProxyAddress(proxy, .asInEnvironment) } catch { throw Diagnostic(error) }
        }
        let fetcher = TokenFetcher(
            address: question.address, authority: server?.certificateAuthorityFile.map(CurlAuthority.init),
            proxy: route,
            question: question,
            clock: clock)
        try self.init(exchange, at: question.address, fetch: fetcher.fetch)
    }

    /// - Parameters:
    ///   - address: for messages.
    ///   - fetch: sends one request; returns early when it is cancelled.
    ///   - clock: nanoseconds; counts while the machine sleeps.
    init(
        _ exchange: TokenExchange, at address: String,
        fetch: @escaping @Sendable (FetchCancellation) -> TokenFetchResult,
        clock: @escaping @Sendable () -> Int64 = bootNanoseconds
    ) throws(Diagnostic) {
        noun = "\(exchange.noun) from \(address)"
        sharedToken = SharedToken(
            FetchSchedule(exchange), cancellation: try FetchCancellation(), fetch: fetch, clock: clock)
    }

    deinit { stop() }

    /// Fetches the first token and begins to renew it. Blocks the calling thread for at most
    /// fifteen seconds, or until `stop`. Call it once.
    /// - Parameters:
    ///   - failure: what becomes of a failure.
    ///   - cancellation: ends the fetch.
    /// - Throws: a `Diagnostic` that says why there is no token, or that no thread can be started;
    ///   a `CancellationError`.
    public func start(_ failure: FirstFailure = .isError, until cancellation: Cancellation? = nil) throws {
        let wakeup = try Wakeup()
        sharedToken.attach(wakeup)
        defer { sharedToken.detach(wakeup) }
        let started = try WorkerThread("token") { [sharedToken] in sharedToken.work() }
        thread.withLock { $0 = started }
        do {
            while try isAwaited(failure) {
                if cancellation?.isRequested == true { throw CancellationError() }
                if let cancellation {
                    cancellation.wait(milliseconds: Self.longestLook, orUntil: wakeup)
                } else {
                    wakeup.wait(atMost: Double(Self.longestLook) / 1000)
                }
                wakeup.clear()
            }
        } catch {
            stop()
            throw error
        }
    }

    /// What becomes of a failure to get the first token.
    public enum FirstFailure: Sendable {
        /// It is an error.
        case isError
        /// One that may pass, such as a network that is down, is no error: then the senders wait
        /// for the token, as they wait for a later one, and as long as for any outage.
        case isWaitedOut
        /// The senders wait for the token, or stop without one: for a run with other services that
        /// can be sent to.
        case isLeftToSenders
    }

    private static let longestLook = 20_000

    /// Whether the first answer has not come yet.
    /// - Throws: a `Diagnostic` that says why there will be no token.
    private func isAwaited(_ mode: FirstFailure) throws(Diagnostic) -> Bool {
        let failure: TokenFetchFailure
        switch sharedToken.state() {
        case .ready: return false
        case .pending(nil): return true
        case .pending(let trouble?): failure = trouble
        case .refused(let refusal): failure = .refused(refusal)
        }
        if mode == .isLeftToSenders || mode == .isWaitedOut && failure.mayPass { return false }
        throw Diagnostic("there is no \(noun): \(failure.text)", remedy: failure.remedy)
    }

    /// The header of requests as it is now, for a measurement of another sender; blank while there
    /// is no token. A secret.
    package var authorization: String { if case .ready(let token) = state() { token.value } else { "" } }

    /// Ends what `start` began, at once: a fetch under way is given up. Call it when no sender uses
    /// the source any more; more than once does no harm.
    public func stop() {
        sharedToken.cancellation.cancel()
        let ended = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ended?.join()
    }
}

extension FetchedTokenSource: TokenSource {
    func state() -> TokenState { sharedToken.state() }
    func renewed(after refused: ServiceToken) -> TokenState? { sharedToken.renewed(after: refused) }
    func confirm(_ token: ServiceToken) { sharedToken.confirm(token) }
    func age(of token: ServiceToken) -> Int64 { sharedToken.age(of: token) }
    func attach(_ wakeup: Wakeup) { sharedToken.attach(wakeup) }
    func detach(_ wakeup: Wakeup) { sharedToken.detach(wakeup) }
}

/// What the thread of a source shares with all users of the source. The thread does not hold the
/// source itself, so that the source ends with its last user, and the thread with the source.
private final class SharedToken: Sendable {
    private struct State {
        var schedule: FetchSchedule
        /// Notified when a token arrives, or when none will come.
        var listeners: [Wakeup] = []
    }

    let cancellation: FetchCancellation
    private let shared: Mutex<State>
    private let ask: @Sendable (FetchCancellation) -> TokenFetchResult
    private let clock: @Sendable () -> Int64

    init(
        _ schedule: FetchSchedule, cancellation: FetchCancellation,
        fetch: @escaping @Sendable (FetchCancellation) -> TokenFetchResult,
        clock: @escaping @Sendable () -> Int64
    ) {
        shared = Mutex(State(schedule: schedule))
        self.cancellation = cancellation
        ask = fetch
        self.clock = clock
    }

    // MARK: The thread

    /// Fetches whenever it is time, until it is cancelled.
    func work() {
        while !cancellation.isCancelled {
            let now = clock()
            let due = shared.withLock { $0.schedule.nextFetch } ?? now
            if due > now {
                // This sleep does not end earlier when the machine slept; then the next question
                // for the token's state rings.
                cancellation.wakeup.wait(atMost: Double(due - now) / 1e9)
            } else {
                fetch()
            }
        }
    }

    /// Requests a token now.
    private func fetch() {
        let askedAt = clock()
        shared.withLock { $0.schedule.begin() }
        let answer = ask(cancellation)
        let now = clock()
        switch answer {
        case .given(let token):
            note { $0.given(token, askedAt: askedAt) }
        case .failed(let failure):
            note { $0.failed(failure, at: now) }
        }
    }

    private func note(_ change: (inout FetchSchedule) -> Void) {
        let listeners = shared.withLock { state in
            change(&state.schedule)
            return state.listeners
        }
        for listener in listeners { listener.wake() }
    }

    // MARK: Its users

    func state() -> TokenState {
        let now = clock()
        return look(at: now) { $0.state(at: now) }
    }

    func renewed(after refused: ServiceToken) -> TokenState? {
        let now = clock()
        return look(at: now) { $0.refused(refused, at: now) }
    }

    func confirm(_ token: ServiceToken) { shared.withLock { $0.schedule.confirm(token) } }

    func age(of token: ServiceToken) -> Int64 { max(0, clock() - token.mintedAt) }

    func attach(_ wakeup: Wakeup) { shared.withLock { $0.listeners.append(wakeup) } }

    func detach(_ wakeup: Wakeup) { shared.withLock { $0.listeners.removeAll { $0 === wakeup } } }

    /// Uses the schedule, and wakes the thread if a fetch is due.
    private func look<Answer: Sendable>(at now: Int64, _ body: (inout FetchSchedule) -> Answer) -> Answer {
        let (answer, due) = shared.withLock { (body(&$0.schedule), $0.schedule.nextFetch) }
        if let due, due <= now { cancellation.wakeup.wake() }
        return answer
    }
}

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
