import Base
import Testing

@testable import Planning

@Suite("Dates in paths of exports")
struct DatedPathTests {
    private let place = SourcePosition(file: "campaign.yaml", line: 4, column: 12)
    // 2026-12-01T00:30 in Berlin, still November in UTC.
    private let now = Timestamp(epochSeconds: 1_796_081_400)

    private func filled(_ path: String, _ zone: String = "Europe/Berlin") throws -> String {
        try DatedPath(now: now, zone: try ZoneDatabase.system.zone(named: zone)).filled(SourceText(path, at: place))
    }

    @Test("are those of the zone")
    func zones() throws {
        #expect(try filled("exports/devices-{{ date }}.csv") == "exports/devices-2026-12-01.csv")
        #expect(try filled("exports/devices-{{date}}.csv", "America/New_York") == "exports/devices-2026-11-30.csv")
        #expect(try filled("a/{{ yesterday }}/*.csv") == "a/2026-11-30/*.csv")
        #expect(try filled("a/no date.csv") == "a/no date.csv")
    }

    @Test("are those of the machine without a schedule; a path without a date does not depend on it")
    func machine() throws {
        let here = try ZoneDatabase.system.machineZone.localTime(at: now)
        #expect(
            try DatedPath(now: now, zone: nil).filled(SourceText("{{ date }}", at: place))
                == String("\(here)".prefix(10)))
        #expect(try DatedPath(now: now, zone: nil).filled(SourceText("devices.csv", at: place)) == "devices.csv")
    }

    @Test("may be written otherwise, and more than once")
    func formats() throws {
        #expect(
            try filled("{{ date | date: '%Y/%m' }}/{{ date | date: \"%d-%H%M_%j%%\" }}.csv")
                == "2026/12/01-0030_335%.csv")
        #expect(try filled("{{ yesterday | date: '%Y%m%d' }}") == "20261130")
    }

    @Test(
        "with mistakes say what is known",
        arguments: [
            "{{ today }}", "{{ date", "{{ date | upcase }}", "{{ date | date: '%B' }}", "{{ date | date: '%' }}",
            "{{ date | date: }}",
        ])
    func mistakes(path: String) throws {
        let mistake = #expect(throws: Diagnostic.self) { try filled(path) }
        #expect(mistake?.position == place && mistake?.remedy != nil)
    }
}
