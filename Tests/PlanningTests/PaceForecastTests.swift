import Base
import TestCommands
import Testing

@testable import Planning

@Suite("how long services take that share a pace")
struct PaceForecastTests {
    private func seconds(_ devices: [Int], _ rates: [Double?], shared: Double?) -> [Double?] {
        PaceForecast(devices: devices, ownRates: rates, shared: shared).seconds.map {
            $0.map { ($0 * 1000).rounded() / 1000 }
        }
    }

    @Test("by their parts they end together")
    func together() { #expect(seconds([3000, 1000], [nil, nil], shared: 400) == [10, 10]) }

    @Test("what a slow one does not use goes to the others, which end sooner")
    func slow() {
        #expect(seconds([500, 500], [50, nil], shared: 300) == [10, 2])
        #expect(seconds([500, 500, 500], [50, nil, 100], shared: 300) == [10, 3.333, 5])
    }

    @Test("one that is alone in the end gets all")
    func alone() { #expect(seconds([900, 100], [nil, 10], shared: 100) == [10, 10]) }

    @Test("without a shared pace each has its own time, or none")
    func own() { #expect(seconds([500, 500, 0], [50, nil, nil], shared: nil) == [10, nil, nil]) }

    @Test("a service without devices takes no time")
    func empty() { #expect(seconds([0, 100], [5, nil], shared: 10) == [0, 10]) }
}

@Suite("an audience next to that of the last run")
struct RunComparisonTests {
    @Test(
        "a change by more than a third is worth a warning, in both directions",
        arguments: [
            (90, 50, true), (90, 60, false), (90, 120, false), (90, 121, true), (0, 5, true), (0, 0, false),
            (5, 0, true),
        ])
    func warnings(then: Int, now: Int, isWarned: Bool) {
        let comparison = RunComparison(
            run: "20261201-090000-c-7f3a", plannedAt: .now(), audienceThen: then, audienceNow: now,
            selected: .init(then: (then, [:]), now: (now, [:])), shifts: [])
        #expect(comparison.warnings.isEmpty != isWarned)
    }
}

@Suite("a pace over several time zones")
struct ZonePaceTests {
    @Test(
        "a zone waits for the one before: what is then too late, or quiet, is counted", arguments: [(10, 0), (9, 60)])
    func zones(hours: Int, lost: Int) throws {
        // At one a minute the 540 devices of Tokyo take nine hours, and those of Berlin should
        // begin eight hours after Tokyo's.
        let rows = (0..<1080).map {
            "\(String(repeating: "0", count: 60))\(String(1000 + $0)),\($0 < 540 ? "Asia/Tokyo" : "Europe/Berlin")"
        }
        let folder = try ProjectFolder(export: "device_token,timezone\n\(rows.joined(separator: "\n"))\n")
        try folder.write(
            "campaign.yaml",
            """
            name: sale
            app: shop
            audience: {everyone: true, devices: devices.csv}
            content: {body: Sale}
            schedule: {at: 2030-12-02 09:00, timezone: recipient, fallback_timezone: Europe/Berlin}
            delivery: {pace: 1/min, expires: \(hours)h}
            """)
        let said = try folder.preview("campaign.yaml").errors
        #expect(
            said.contains("the push expires") == (lost > 0)
                && (lost == 0 || said.contains(" \(lost) devices would get none")), "\(said)")
    }

    @Test(
        "a pace is too slow for the next time only if a faster one would end before it: not where devices wait for their own morning",
        arguments: [
            ("timezone: recipient, fallback_timezone: UTC", "500/s", false), ("timezone: UTC", "500/s", false),
            ("timezone: UTC", "1/min", true),
        ])
    func nextTime(zone: String, pace: String, isSlow: Bool) throws {
        let rows = (0..<120).map {
            "\(String(repeating: "0", count: 60))\(String(1000 + $0)),\($0 < 60 ? "Pacific/Kiritimati" : "Pacific/Pago_Pago")"
        }
        let folder = try ProjectFolder(export: "device_token,timezone\n\(rows.joined(separator: "\n"))\n")
        try folder.write(
            "campaign.yaml",
            """
            name: sale
            app: shop
            audience: {everyone: true, devices: devices.csv}
            content: {body: Sale}
            schedule: {repeat: "0 \(zone.contains("recipient") ? "9" : "*") * * *", \(zone)}
            delivery: {pace: \(pace)}
            """)
        let said = try folder.preview("campaign.yaml").errors
        #expect(said.contains("it would not be finished by then") == isSlow, "\(said)")
    }
}
