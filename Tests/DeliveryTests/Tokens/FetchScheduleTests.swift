import Base
import Testing

@testable import Delivery

@Suite("when a token is fetched")
struct FetchScheduleTests {
    private static let second: Int64 = 1_000_000_000
    private static let start = 1000 * second

    private func schedule(early: Double = 300, shortest: Double = 60, lifetime: Double = 3600) -> FetchSchedule {
        var schedule = FetchSchedule(TokenServer.exchange(early: early, shortest: shortest))
        schedule.begin()
        schedule.given(IssuedToken(text: "first", seconds: lifetime), askedAt: Self.start)
        return schedule
    }

    private func seconds(_ time: Int64?) -> Int64? { time.map { ($0 - Self.start) / Self.second } }

    @Test("a token is replaced so long before its end, and nothing leaves with it in its last ten seconds")
    func renewal() throws {
        let schedule = schedule()
        #expect(seconds(schedule.nextFetch) == 3300)
        let token = try #require(schedule.token)
        #expect(token.value == "Bearer first")
        #expect(schedule.state(at: Self.start + 3590 * Self.second - 1) == .ready(token))
        #expect(schedule.state(at: Self.start + 3590 * Self.second) == .pending(nil))
    }

    @Test("a token of a short life is replaced after half of it, but never sooner than the service allows")
    func shortLifetimes() {
        #expect(seconds(schedule(lifetime: 200).nextFetch) == 100)
        #expect(seconds(schedule(lifetime: 30).nextFetch) == 60)
    }

    @Test("failures are retried after 1, 2, 4 … 60 s, or when the server says; while the token is good, nobody waits")
    func failures() throws {
        var schedule = schedule()
        let token = try #require(schedule.token)
        var now = Self.start + 3300 * Self.second
        for wait: Int64 in [1, 2, 4, 8, 16, 32, 60, 60] {
            #expect(try #require(schedule.nextFetch) <= now)
            schedule.begin()
            #expect(schedule.nextFetch == nil, "never two at a time")
            schedule.failed(.noAnswer("reset"), at: now)
            #expect(schedule.nextFetch == now + wait * Self.second)
            #expect(schedule.state(at: now) == .ready(token))
            now += wait * Self.second
        }
        schedule.failed(.refused(TokenRefusal(status: 429, retryAfterSeconds: 90)), at: now)
        #expect(schedule.nextFetch == now + 90 * Self.second)
        #expect(
            schedule.state(at: now + 3600 * Self.second)
                == .pending(.refused(TokenRefusal(status: 429, retryAfterSeconds: 90))))
        schedule.given(IssuedToken(text: "second", seconds: 3600), askedAt: now)
        #expect(schedule.nextFetch == now + 3300 * Self.second)
        now += 3300 * Self.second
        schedule.failed(.noAnswer("reset"), at: now)
        #expect(schedule.nextFetch == now + Self.second, "a token ends the row of failures")
    }

    @Test("a refusal for good counts once there is no token to use")
    func refusals() throws {
        var schedule = schedule()
        let token = try #require(schedule.token)
        let refusal = TokenRefusal(status: 400, error: "invalid_grant")
        schedule.failed(.refused(refusal), at: Self.start + 3300 * Self.second)
        #expect(schedule.state(at: Self.start + 3301 * Self.second) == .ready(token))
        #expect(schedule.state(at: Self.start + 3600 * Self.second) == .refused(refusal))
        for status in [408, 429, 500, 503] { #expect(!TokenRefusal(status: status).isFinal) }
        #expect(!TokenRefusal(status: 400, error: "temporarily_unavailable").isFinal)
        for status in [400, 401, 403, 404] { #expect(TokenRefusal(status: status).isFinal) }
    }

    @Test("a token that the service refuses is replaced as soon as that is allowed")
    func refusedTokens() throws {
        var schedule = schedule()
        let first = try #require(schedule.token)
        let now = Self.start + 5 * Self.second
        #expect(schedule.refused(first, at: now) == .pending(nil))
        #expect(seconds(schedule.nextFetch) == 60)
        #expect(schedule.refused(first, at: now) == .pending(nil), "another connection that used it")
        schedule.begin()
        schedule.given(IssuedToken(text: "second", seconds: 3600), askedAt: now)
        let second = try #require(schedule.token)
        #expect(schedule.refused(first, at: now) == .ready(second), "an answer that was late")
    }

    @Test(
        "if the new token is refused before it has passed, there is no other; once it has passed, it is renewed like any",
        arguments: [true, false])
    func secondRefusal(hasPassed: Bool) throws {
        var schedule = schedule()
        var now = Self.start
        schedule.refused(try #require(schedule.token), at: now)
        now += 60 * Self.second
        schedule.given(IssuedToken(text: "second", seconds: 3600), askedAt: now)
        let second = try #require(schedule.token)
        if hasPassed { schedule.confirm(second) }
        #expect(schedule.refused(second, at: now + 1800 * Self.second) == (hasPassed ? .pending(nil) : nil))
    }

    @Test("a token that stands in for a refused one stays suspect when its time is over without use")
    func unused() throws {
        var schedule = schedule()
        schedule.refused(try #require(schedule.token), at: Self.start)
        schedule.given(IssuedToken(text: "second", seconds: 3600), askedAt: Self.start + 60 * Self.second)
        let later = Self.start + 3500 * Self.second
        schedule.given(IssuedToken(text: "third", seconds: 3600), askedAt: later)
        #expect(schedule.refused(try #require(schedule.token), at: later) == nil)
    }

    @Test("a token that is refused every hour of a day is renewed every time")
    func everyHour() throws {
        var schedule = schedule()
        var now = Self.start
        for hour in 1...24 {
            let token = try #require(schedule.token)
            schedule.confirm(token)
            now += 3000 * Self.second
            #expect(schedule.refused(token, at: now) == .pending(nil))
            schedule.begin()
            schedule.given(IssuedToken(text: "token\(hour)", seconds: 3600), askedAt: now)
        }
    }

    @Test("a token that ended before another is allowed is awaited, not called refused")
    func endedEarly() throws {
        var schedule = schedule(lifetime: 30)
        let first = try #require(schedule.token)
        #expect(schedule.refused(first, at: Self.start + 28 * Self.second) == .pending(nil))
        #expect(seconds(schedule.nextFetch) == 60)
    }
}
