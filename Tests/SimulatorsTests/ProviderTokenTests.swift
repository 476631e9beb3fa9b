import Base
import Testing

@testable import Simulators

/// A checker with one or two trusted keys and a connection, used repeatedly.
private struct CheckerFixture {
    let provider = Provider()
    var checker: ProviderTokenChecker
    var trust = ConnectionTrust()

    init(scope: TokenUpdateScope = .connection, others: [Provider] = []) {
        checker = ProviderTokenChecker(keys: [provider.trusted] + others.map(\.trusted), scope: scope)
    }

    mutating func reason(_ authorization: String?, at now: Timestamp = noon) -> String? {
        checker.refusal(of: Push(authorization: authorization).request, trust: &trust, now: now)?.reason
    }

    mutating func connectAgain() { trust = ConnectionTrust() }
}

@Suite("A provider token")
struct ProviderTokenTests {
    @Test("that is right is accepted, again and again, and counted once") func right() {
        var fixture = CheckerFixture()
        let token = "bearer \(fixture.provider.token())"
        #expect(fixture.reason(token) == nil)
        #expect(fixture.reason(token) == nil)
        #expect(fixture.checker.acceptedTokens == 1)
    }

    @Test(
        "is missing when nothing or another scheme stands there",
        arguments: [nil, "", "bearer", "bearer ", "Basic YTpi"])
    func missing(_ value: String?) {
        var fixture = CheckerFixture()
        #expect(fixture.reason(value) == "MissingProviderToken")
    }

    @Test("with one changed byte anywhere is not accepted") func tampered() {
        var fixture = CheckerFixture()
        let token = Array(fixture.provider.token().utf8)
        for place in stride(from: 0, to: token.count, by: 7) {
            var changed = token
            changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            fixture.connectAgain()
            #expect(fixture.reason("bearer " + String(decoding: changed, as: UTF8.self)) == "InvalidProviderToken")
        }
    }

    @Test("signed by another key, or for another kid, team or algorithm, is invalid") func foreign() {
        var fixture = CheckerFixture()
        let provider = fixture.provider
        let foreign = [
            Provider().token(), provider.token(keyID: "ZZZZZZZZZZ"), provider.token(teamID: "ZZZZZZZZZZ"),
            provider.token(algorithm: "none"),
            provider.token(algorithm: "HS256"), "a.b", "a.b.c", "....",
        ]
        for token in foreign { #expect(fixture.reason("bearer \(token)") == "InvalidProviderToken") }
    }

    @Test("is good for an hour, and its age is checked even when it is known") func age() {
        var fixture = CheckerFixture()
        let token = "bearer \(fixture.provider.token())"
        #expect(fixture.reason(token, at: noon.adding(seconds: 3600)) == nil)
        #expect(fixture.reason(token, at: noon.adding(seconds: 3601)) == "ExpiredProviderToken")
    }

    @Test(
        "may say when it was issued with a fraction of a second, or as a text, as clients of others do",
        arguments: ["\(noon.epochSeconds).75", "\"\(noon.epochSeconds)\""])
    func writtenTimes(_ time: String) {
        var fixture = CheckerFixture()
        let token = "bearer \(fixture.provider.token(written: time))"
        #expect(fixture.reason(token) == nil)
        #expect(fixture.reason(token, at: noon.adding(seconds: 3601)) == "ExpiredProviderToken")
    }

    @Test("that does not say when it was issued is invalid", arguments: ["\"noon\"", "null", "1e300"]) func noTime(
        _ time: String
    ) {
        var fixture = CheckerFixture()
        #expect(fixture.reason("bearer \(fixture.provider.token(written: time))") == "InvalidProviderToken")
    }

    @Test("that has expired leaves the connection refusing newer ones") func wedged() {
        var fixture = CheckerFixture()
        #expect(
            fixture.reason("bearer \(fixture.provider.token(issuedAt: noon.epochSeconds - 4000))")
                == "ExpiredProviderToken")
        let fresh = "bearer \(fixture.provider.token())"
        #expect(fixture.reason(fresh) == "ExpiredProviderToken")
        fixture.connectAgain()
        #expect(fixture.reason(fresh) == nil)
    }

    @Test("from the future is invalid beyond a minute") func future() {
        var fixture = CheckerFixture()
        #expect(
            fixture.reason("bearer \(fixture.provider.token(issuedAt: noon.epochSeconds + 61))")
                == "InvalidProviderToken")
        #expect(fixture.reason("bearer \(fixture.provider.token(issuedAt: noon.epochSeconds + 60))") == nil)
    }

    @Test("issued within 20 minutes of the last is one update too many") func twentyMinutes() {
        var fixture = CheckerFixture()
        let start = noon.epochSeconds
        let later = noon.adding(seconds: 1200)
        #expect(fixture.reason("bearer \(fixture.provider.token(issuedAt: start))", at: later) == nil)
        #expect(
            fixture.reason("bearer \(fixture.provider.token(issuedAt: start + 1199))", at: later)
                == "TooManyProviderTokenUpdates")
        #expect(fixture.reason("bearer \(fixture.provider.token(issuedAt: start))", at: later) == nil)
        #expect(fixture.reason("bearer \(fixture.provider.token(issuedAt: start + 1200))", at: later) == nil)
        #expect(
            fixture.reason("bearer \(fixture.provider.token(issuedAt: start))", at: later) == nil,
            "streams on their way may still use the old one")
        #expect(
            fixture.reason("bearer \(fixture.provider.token(issuedAt: start - 1200))", at: later)
                == "TooManyProviderTokenUpdates")
    }

    @Test(
        "counts against the last of its connection, or of all connections, as configured",
        arguments: [TokenUpdateScope.connection, .simulator])
    func scope(_ scope: TokenUpdateScope) {
        var fixture = CheckerFixture(scope: scope)
        #expect(fixture.reason("bearer \(fixture.provider.token())") == nil)
        fixture.connectAgain()
        let expected = scope == .connection ? nil : "TooManyProviderTokenUpdates"
        #expect(fixture.reason("bearer \(fixture.provider.token(issuedAt: noon.epochSeconds + 5))") == expected)
    }

    @Test("of a second team is refused on the same connection") func secondTeam() {
        let other = Provider(keyID: "OTHER12345", teamID: "TEAM123456")
        var fixture = CheckerFixture(others: [other])
        #expect(fixture.reason("bearer \(fixture.provider.token())") == nil)
        #expect(fixture.reason("bearer \(other.token())") == "InvalidProviderToken")
        fixture.connectAgain()
        #expect(fixture.reason("bearer \(other.token())") == nil)
    }

    @Test("is not asked for with a client certificate, unless that has expired") func certificate() {
        var checker = RequestChecker(SimulatorConfiguration())
        var trust = ConnectionTrust(certificate: .inForce)
        #expect(checker.check(Push(authorization: nil).request, trust: &trust, now: noon) == .accepted)
        trust = ConnectionTrust(certificate: .expired)
        #expect(
            checker.check(Push(authorization: nil).request, trust: &trust, now: noon) == .forbidden("BadCertificate"))
    }
}
