import Base
import Synchronization

@testable import Delivery
import PushServices

/// The nature of a server that gives out tokens. Rates are per thousand.
struct FetchNature {
    var lifetimeSeconds: Double
    var renewEarlySeconds: Double
    var shortestRenewalSeconds: Double
    /// How old the token is when the campaign begins.
    var startAge: Int64
    var longestAnswer: Int64
    /// No answer, or one without a token.
    var fails: Int
    /// It takes the app for another.
    var refuses: Int
    /// For how long it gives out nothing, from the end of the first token on.
    var outage: Int64

    init(from random: inout SplitMix, isLong: Bool) {
        lifetimeSeconds = Double(isLong ? random.between(120, 3600) : random.between(2, 60))
        renewEarlySeconds = random.oneIn(3) ? 0 : Double(random.between(1, 300))
        shortestRenewalSeconds = random.oneIn(2) ? 0 : Double(random.between(1, 60))
        startAge = random.span(0, Int64(lifetimeSeconds * 1e9))
        longestAnswer = random.oneIn(3) ? 15 * Span.second : 500 * Span.millisecond
        fails = random.rate(oneIn: 2, upTo: 900)
        refuses = random.rate(oneIn: 5, upTo: 300)
        outage = random.oneIn(6) ? random.span(Span.minute, 40 * Span.minute) : 0
    }

    var exchange: TokenExchange {
        let assertion = AssertionFacts(
            address: "https://tokens.example/token", path: "/token", scope: "push", seconds: 60
        ) { _ in
            AssertionKey(issuer: "", keyID: "", privateKeyPEM: "", topic: nil)
        }
        return TokenExchange(
            noun: "token", proof: .assertion(assertion), renewEarlySeconds: renewEarlySeconds,
            shortestRenewalSeconds: shortestRenewalSeconds)
    }
}

/// What the thread of `FetchedTokenSource` shares with the loops, on virtual time.
final class SimulatedTokens: TokenSource {
    private let clock: VirtualClock
    private let schedule: Mutex<FetchSchedule>

    init(_ nature: FetchNature, clock: VirtualClock) {
        self.clock = clock
        schedule = Mutex(FetchSchedule(nature.exchange))
    }

    func state() -> TokenState { schedule.withLock { $0.state(at: clock.now) } }
    func renewed(after refused: ServiceToken) -> TokenState? {
        schedule.withLock { $0.refused(refused, at: clock.now) }
    }
    func confirm(_ token: ServiceToken) { schedule.withLock { $0.confirm(token) } }
    func age(of token: ServiceToken) -> Int64 { clock.now - token.mintedAt }
    func attach(_ wakeup: Wakeup) {}
    func detach(_ wakeup: Wakeup) {}

    var token: ServiceToken? { schedule.withLock { $0.token } }
    var nextFetch: Int64? { schedule.withLock { $0.nextFetch } }
    func begin() { schedule.withLock { $0.begin() } }
    func given(_ token: IssuedToken, askedAt: Int64) { schedule.withLock { $0.given(token, askedAt: askedAt) } }
    func failed(_ failure: TokenFetchFailure) { schedule.withLock { $0.failed(failure, at: clock.now) } }
}

/// Fetching, as the source's thread does it.
extension SimulatedCampaign {
    /// One process begins: its first token was fetched a while ago.
    func startFetching(_ nature: FetchNature) {
        let tokens = SimulatedTokens(nature, clock: clock)
        (self.tokens, fetched) = (tokens, tokens)
        fetchOutageEnds = nil
        tokens.begin()
        give(nature, askedAt: clock.now - (epoch == 1 ? nature.startAge : 0))
        planFetch()
    }

    /// When the next fetch is due may have changed.
    func planFetch() {
        guard let next = fetched?.nextFetch else { return }
        fetchPlan += 1
        agenda.add(.fetchBegins(plan: fetchPlan), at: max(clock.now, next))
    }

    /// The server is asked.
    func beginFetch(_ plan: Int) {
        guard plan == fetchPlan, let fetched, let nature = nature.fetching, fetched.nextFetch != nil else { return }
        if let last = fetched.token, clock.now - last.mintedAt < Int64(nature.shortestRenewalSeconds * 1e9) {
            violate(.tokenMinted, "a token is fetched \((clock.now - last.mintedAt) / Span.second) s after the last")
        }
        fetched.begin()
        trace("a token is asked for")
        agenda.add(.fetchEnds(askedAt: clock.now), at: clock.now + random.span(0, nature.longestAnswer))
    }

    /// The server answers, or does not.
    func endFetch(askedAt: Int64) {
        guard let fetched, let nature = nature.fetching else { return }
        fetchOutageEnds = fetchOutageEnds ?? clock.now + nature.outage
        if clock.now < fetchOutageEnds ?? 0 || random.happens(nature.fails) {
            tally.note(.fetchFailed)
            trace("no token comes")
            fetched.failed(.noAnswer("reset by peer"))
        } else if random.happens(nature.refuses) {
            tally.note(.fetchRefused)
            trace("the server gives no token")
            fetched.failed(.refused(TokenRefusal(status: 400, error: "invalid_grant")))
        } else {
            tally.note(.fetched)
            give(nature, askedAt: askedAt)
        }
        planFetch()
        wakeAll(within: SimulatedLoop.wakeDelay)
    }

    private func give(_ nature: FetchNature, askedAt: Int64) {
        fetchedCount += 1
        fetched?.given(IssuedToken(text: "token\(fetchedCount)", seconds: nature.lifetimeSeconds), askedAt: askedAt)
        let last = tokenHistory.last?.text ?? ""
        guard let token = fetched?.token else { return }
        if refusedTokens.contains(last) || standInTokens.contains(last) && !passedTokens.contains(last) {
            standInTokens.insert(token.value)
        }
        trace("a token is given")
        let end = askedAt + Int64(nature.lifetimeSeconds * 1e9)
        tokenHistory.append(SeenToken(text: token.value, seenAt: askedAt, issuedAt: 0, endsAt: end))
    }
}

extension SimulatedCampaign {
    /// Notes that the service refused a token. Returns whether that is the end: the token stands in
    /// for one that was refused, and has never passed.
    func noteRefusal(of token: ServiceToken, hadPassed: Bool) -> Bool {
        let text = token.value
        guard text == fetched?.token?.value, !refusedTokens.contains(text) else { return false }
        let isSecond = standInTokens.contains(text) && !hadPassed && clock.now < token.usableUntil
        if isSecond { tally.note(.secondRefusal) } else { refusedTokens.insert(text) }
        return isSecond
    }
}
