import Base
import Testing

@testable import Simulators

/// A checker with one or two trusted keys and a connection, used repeatedly.
private struct Desk {
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
        var desk = Desk()
        let token = "bearer \(desk.provider.token())"
        #expect(desk.reason(token) == nil)
        #expect(desk.reason(token) == nil)
        #expect(desk.checker.acceptedTokens == 1)
    }

    @Test("is missing when nothing or another scheme stands there", arguments: [nil, "", "bearer", "bearer ", "Basic YTpi"])
    func missing(_ value: String?) {
        var desk = Desk()
        #expect(desk.reason(value) == "MissingProviderToken")
    }

    @Test("with one changed byte anywhere is not accepted") func tampered() {
        var desk = Desk()
        let token = Array(desk.provider.token().utf8)
        for place in stride(from: 0, to: token.count, by: 7) {
            var changed = token
            changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            desk.connectAgain()
            #expect(desk.reason("bearer " + String(decoding: changed, as: UTF8.self)) == "InvalidProviderToken")
        }
    }

    @Test("signed by another key, or for another kid, team or algorithm, is invalid") func foreign() {
        var desk = Desk()
        let provider = desk.provider
        let foreign = [
            Provider().token(), provider.token(keyID: "ZZZZZZZZZZ"), provider.token(teamID: "ZZZZZZZZZZ"),
            provider.token(algorithm: "none"),
            provider.token(algorithm: "HS256"), "a.b", "a.b.c", "....",
        ]
        for token in foreign { #expect(desk.reason("bearer \(token)") == "InvalidProviderToken") }
    }

    @Test("is good for an hour, and its age is checked even when it is known") func age() {
        var desk = Desk()
        let token = "bearer \(desk.provider.token())"
        #expect(desk.reason(token, at: noon.adding(seconds: 3600)) == nil)
        #expect(desk.reason(token, at: noon.adding(seconds: 3601)) == "ExpiredProviderToken")
    }

    @Test("that has expired leaves the connection refusing newer ones") func wedged() {
        var desk = Desk()
        #expect(desk.reason("bearer \(desk.provider.token(issuedAt: noon.epochSeconds - 4000))") == "ExpiredProviderToken")
        let fresh = "bearer \(desk.provider.token())"
        #expect(desk.reason(fresh) == "ExpiredProviderToken")
        desk.connectAgain()
        #expect(desk.reason(fresh) == nil)
    }

    @Test("from the future is invalid beyond a minute") func future() {
        var desk = Desk()
        #expect(desk.reason("bearer \(desk.provider.token(issuedAt: noon.epochSeconds + 61))") == "InvalidProviderToken")
        #expect(desk.reason("bearer \(desk.provider.token(issuedAt: noon.epochSeconds + 60))") == nil)
    }

    @Test("issued within 20 minutes of the last is one update too many") func twentyMinutes() {
        var desk = Desk()
        let start = noon.epochSeconds
        let later = noon.adding(seconds: 1200)
        #expect(desk.reason("bearer \(desk.provider.token(issuedAt: start))", at: later) == nil)
        #expect(desk.reason("bearer \(desk.provider.token(issuedAt: start + 1199))", at: later) == "TooManyProviderTokenUpdates")
        #expect(desk.reason("bearer \(desk.provider.token(issuedAt: start))", at: later) == nil)
        #expect(desk.reason("bearer \(desk.provider.token(issuedAt: start + 1200))", at: later) == nil)
        #expect(
            desk.reason("bearer \(desk.provider.token(issuedAt: start))", at: later) == nil,
            "streams on their way may still use the old one")
        #expect(desk.reason("bearer \(desk.provider.token(issuedAt: start - 1200))", at: later) == "TooManyProviderTokenUpdates")
    }

    @Test(
        "counts against the last of its connection, or of all connections, as configured",
        arguments: [TokenUpdateScope.connection, .simulator])
    func scope(_ scope: TokenUpdateScope) {
        var desk = Desk(scope: scope)
        #expect(desk.reason("bearer \(desk.provider.token())") == nil)
        desk.connectAgain()
        let expected = scope == .connection ? nil : "TooManyProviderTokenUpdates"
        #expect(desk.reason("bearer \(desk.provider.token(issuedAt: noon.epochSeconds + 5))") == expected)
    }

    @Test("of a second team is refused on the same connection") func secondTeam() {
        let other = Provider(keyID: "OTHER12345", teamID: "TEAM123456")
        var desk = Desk(others: [other])
        #expect(desk.reason("bearer \(desk.provider.token())") == nil)
        #expect(desk.reason("bearer \(other.token())") == "InvalidProviderToken")
        desk.connectAgain()
        #expect(desk.reason("bearer \(other.token())") == nil)
    }

    @Test("is not asked for with a client certificate, unless that has expired") func certificate() {
        var checker = RequestChecker(SimulatorConfiguration())
        var trust = ConnectionTrust(certificate: .inForce)
        #expect(checker.check(Push(authorization: nil).request, trust: &trust, now: noon) == .accepted)
        trust = ConnectionTrust(certificate: .expired)
        #expect(checker.check(Push(authorization: nil).request, trust: &trust, now: noon) == .forbidden("BadCertificate"))
    }
}
