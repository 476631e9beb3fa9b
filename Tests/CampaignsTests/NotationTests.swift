import Base
import Testing

@testable import Campaigns

@Suite("Notations")
struct NotationTests {
    @Test(
        "lengths of time are read in every unit",
        arguments: [
            ("30s", 30), ("15min", 900), ("4h", 14_400), ("2d", 172_800), ("1w", 604_800), ("4 hours", 14_400),
            ("1 day", 86_400),
            ("2 weeks", 1_209_600), ("1 Minute", 60), ("90 sec", 90), ("0s", 0), ("007h", 25_200), (" 5 min ", 300),
            ("36500d", DurationNotation.maximumSeconds),
        ])
    func durations(_ text: String, _ seconds: Int) throws {
        #expect(try DurationNotation.seconds(text) == seconds)
    }

    @Test(
        "what is no length of time is refused",
        arguments: [
            "", "h", "4", "-4h", "4 h 30", "1h30min", "1.5h", "1,5h", "٣h", "4 fortnights", "5m", "1 month", "36501d",
            "4h h", "0x4h",
        ])
    func notDurations(_ text: String) {
        #expect(throws: Mistake.self) { try DurationNotation.seconds(text) }
    }

    @Test(
        "paces are read with or without spaces",
        arguments: [
            ("5000/s", 5000, 1), ("300000/min", 300_000, 60), ("100/h", 100, 3600), ("5000 / s", 5000, 1),
            (" 1/second ", 1, 1),
            ("7/hour", 7, 3600), ("7/minute", 7, 60), ("1000000000/s", 1_000_000_000, 1),
        ])
    func paces(_ text: String, _ pushes: Int, _ seconds: Int) throws {
        #expect(try PaceNotation.pace(text) == Pace(pushes: pushes, intervalSeconds: seconds))
    }

    @Test(
        "what is no pace is refused",
        arguments: [
            "", "/", "/s", "5000", "5/", "0/s", "-1/s", "1.5/s", "5,000/s", "5_000/s", "5k/s", "1000000001/s", "5/m",
            "5/s/s", "٥/s",
        ])
    func notPaces(_ text: String) {
        #expect(throws: Mistake.self) { try PaceNotation.pace(text) }
    }

    @Test("percentages are read", arguments: [("0%", 0.0), ("1%", 0.01), ("0.5 %", 0.005), ("100%", 1.0)])
    func percentages(_ text: String, _ share: Double) throws {
        #expect(try Percentage.share(text) == share)
    }

    @Test(
        "what is no percentage is refused",
        arguments: ["", "%", "1", "0.01", "-1%", "100.1%", "1e1%", "nan%", "1.1.1%", "0x1%"])
    func notPercentages(_ text: String) {
        #expect(throws: Mistake.self) { try Percentage.share(text) }
    }

    @Test(
        "an expiry is 0, a length of time, or a date and time in UTC unless it says otherwise",
        arguments: [
            ("0", Expiry.immediately), ("0h", .immediately), ("4h", .after(seconds: 14_400)),
            ("2 days", .after(seconds: 172_800)),
            ("2026-12-01 09:00", .at(Timestamp(epochSeconds: 1_796_115_600))),
            ("2026-12-01T09:00:30+08:00", .at(Timestamp(epochSeconds: 1_796_086_830))),
            ("2026-12-01 09:00 -01:00", .at(Timestamp(epochSeconds: 1_796_119_200))),
        ])
    func expiries(_ text: String, _ expiry: Expiry) throws {
        #expect(try DeliveryReader.expiry(text) == expiry)
    }

    @Test("an expiry beyond 30 days is a warning, one of exactly 30 days is not")
    func farExpiry() {
        let warning = """
            campaign.yaml:1:21: warning: the expiry is more than 30 days away, but APNs stores a push for 30 days at most. \
            Write expires: 30d, or remove the key. [expiry-too-long]
            """
        #expect(found { () throws(Diagnostics) in try readPart("delivery: {expires: 31d}\n") } == warning)
        #expect(found { () throws(Diagnostics) in try readPart("delivery: {expires: 2026-12-21 00:01}\n") } == warning)
        #expect(found { () throws(Diagnostics) in try readPart("delivery: {expires: 30d}\n") }.isEmpty)
        #expect(found { () throws(Diagnostics) in try readPart("delivery: {expires: 2026-12-21 00:00}\n") }.isEmpty)
    }

    @Test(
        "conditions are told apart",
        arguments: [
            ("en", ColumnTest.oneOf(["en"])), ("3.20", .oneOf(["3.20"])), ("true", .oneOf(["true"])),
            ("present", .present),
            ("missing", .missing), (">= 3.2.0", .comparison(.greaterOrEqual, "3.2.0")),
            ("<=3", .comparison(.lessOrEqual, "3")),
            ("> 2026-01-01", .comparison(.greater, "2026-01-01")), ("!= a b", .comparison(.notEqual, "a b")),
            ("== x", .comparison(.equal, "x")),
            ("!= x", .comparison(.notEqual, "x")), ("!= 'a, b'", .comparison(.notEqual, "a, b")),
            ("within 30 days", .within(seconds: 2_592_000)), ("within 2h", .within(seconds: 7200)),
            ("Within 1 week", .within(seconds: 604_800)), ("older than 90 days", .olderThan(seconds: 7_776_000)),
            ("older", .oneOf(["older"])), ("withinside", .oneOf(["withinside"])),
        ])
    func conditions(_ text: String, _ test: ColumnTest) throws {
        #expect(try ConditionReader.test(text, column: "x") == test)
    }

    @Test("a list of values is taken literally")
    func literalValues() throws {
        let conditions = try readPart("audience: {tags: [a], where: {status: [missing], n: [1, 2.50, true]}}\n").0
            .audience.conditions
        #expect(conditions.map(\.test) == [.oneOf(["missing"]), .oneOf(["1", "2.50", "true"])])
    }

    @Test(
        "a campaign's name is repaired for the error",
        arguments: [
            ("Spring Sale", "spring-sale"), ("--x--y--", "x-y"), ("a_b.c", "a-b-c"), ("été 2026", "t-2026"),
            ("双十一", nil), ("---", nil),
        ])
    func names(_ name: String, _ suggestion: String?) {
        #expect(CampaignName.suggestion(for: name) == suggestion)
    }

    @Test(
        "server addresses are read",
        arguments: ["https://localhost", "https://localhost:2197", "HTTPS://10.0.0.1:1", "https://[::1]:65535"])
    func servers(_ url: String) throws {
        try ServerURL.check(url, example: "https://localhost:2197")
    }

    @Test(
        "what is no server address is refused",
        arguments: [
            "", "localhost", "http://a", "https://", "https://a/", "https://a?b", "https://a#b", "https://a:",
            "https://a:0",
            "https://a:65536",
            "https://a:b", "https://a b", "https://u@a", "https://[::1", "https://ä", "https://a:1:2",
        ])
    func notServers(_ url: String) {
        #expect(throws: Mistake.self) { try ServerURL.check(url, example: "https://localhost:2197") }
    }

    @Test("a device token in an error is cut to its ends")
    func redaction() {
        #expect(quoted(String(repeating: "ab", count: 32)) == "'abab…abab'")
    }

    @Test(
        "how often",
        arguments: [
            ("at most 2 per 7 days", FrequencyCap(pushes: 2, seconds: 604_800)),
            ("At most 1 per day", FrequencyCap(pushes: 1, seconds: 86_400)),
            ("3 per week", FrequencyCap(pushes: 3, seconds: 604_800)),
            ("at most 1 push in 12 hours", FrequencyCap(pushes: 1, seconds: 43_200)),
            ("at most 2 times a day", FrequencyCap(pushes: 2, seconds: 86_400)),
            ("1 per 24h", FrequencyCap(pushes: 1, seconds: 86_400)),
        ])
    func frequency(text: String, cap: FrequencyCap) throws {
        #expect(try FrequencyNotation.cap(text) == cap)
        #expect(try FrequencyNotation.cap(cap.description) == cap)
    }

    @Test(
        "what does not say how often",
        arguments: [
            "weekly", "2", "at most 2", "at most per day", "at most 0 per day", "at most 999 per day", "2 per 30min",
            "2 per 90min",
            "2 per 400 days",
            "two per day", "at most 2 per", "per 7 days", "2 per fortnight", "",
        ])
    func noFrequency(text: String) { #expect(throws: Mistake.self) { try FrequencyNotation.cap(text) } }
}
