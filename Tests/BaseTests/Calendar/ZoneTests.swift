@testable import Base
import Foundation
import Testing

@Suite("Zones")
struct ZoneTests {
    @Test("a folder of zones may hold pipes, devices and folders: nothing is waited for, and there is no such zone")
    func pipes() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-zones-\(UUID().uuidString)")
            .path
        try FileManager.default.createDirectory(atPath: folder + "/Asia", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["Berlin", "UTC", "tzdata.zi", "zone1970.tab"] { #expect(mkfifo("\(folder)/\(name)", 0o600) == 0) }
        try FileManager.default.createSymbolicLink(atPath: folder + "/Zero", withDestinationPath: "/dev/zero")
        let zones = ZoneDatabase(folder: folder)
        for name in ["Berlin", "Zero", "Asia"] { #expect(throws: Mistake.self) { _ = try zones.zone(named: name) } }
        #expect(try zones.zone(named: "UTC").offset(at: Timestamp(epochSeconds: 0)) == 0)
    }

    @Test(
        "every change of every zone from 2020 to 2045 is the one that Python knows",
        .enabled(if: Python.isThere, "python3 is not installed"))
    func changes() throws {
        let start = try moment("2020-01-01")
        let end = try moment("2046-01-01")
        let printed = try Python.lines(
            """
            from zoneinfo import ZoneInfo, available_timezones
            from datetime import datetime, timezone
            first, last, day = \(start.epochSeconds), \(end.epochSeconds), 86400
            for name in sorted(available_timezones()):
                if name in ('localtime', 'posixrules', 'Factory'): continue
                zone = ZoneInfo(name)
                offset = lambda second: int(datetime.fromtimestamp(second, zone).utcoffset().total_seconds())
                before, text = offset(first), [name, str(offset(first))]
                for second in range(first, last, day):
                    after = offset(second + day)
                    if after == before: continue
                    low, high = second, second + day
                    while high - low > 1:
                        middle = (low + high) // 2
                        if offset(middle) == before: low = middle
                        else: high = middle
                    text.append(f'{high}={after}')
                    before = after
                print(' '.join(text))
            """)
        #expect(printed.count > 400)
        for line in printed {
            let name = try #require(line.split(separator: " ").first.map(String.init))
            let rules = try zone(name)
            let changes = rules.changes(after: start, through: end).map { "\($0.epochSeconds)=\(rules.offset(at: $0))" }
            #expect(([name, String(rules.offset(at: start))] + changes).joined(separator: " ") == line)
        }
    }

    @Test(
        "offsets at moments all over those years are Python's", .enabled(if: Python.isThere, "python3 is not installed")
    )
    func offsets() throws {
        let start = try moment("2020-01-01")
        let step = 997 * 3600
        let printed = try Python.lines(
            """
            from zoneinfo import ZoneInfo, available_timezones
            from datetime import datetime
            for name in sorted(available_timezones()):
                if name in ('localtime', 'posixrules', 'Factory'): continue
                zone = ZoneInfo(name)
                moments = range(\(start.epochSeconds), \(start.epochSeconds) + 26 * 366 * 86400, \(step))
                print(name, *[int(datetime.fromtimestamp(second, zone).utcoffset().total_seconds()) for second in moments])
            """)
        for line in printed {
            let words = line.split(separator: " ")
            let rules = try zone(String(words[0]))
            let offsets = (0..<words.count - 1).map { rules.offset(at: start.adding(seconds: Double($0 * step))) }
            #expect(offsets == words.dropFirst().compactMap { Int($0) }, "\(rules.name)")
        }
    }

    private static let changing = [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Pacific/Auckland",
        "Asia/Kathmandu",
        "Africa/Casablanca", "Antarctica/Troll", "Europe/Dublin", "Pacific/Apia", "America/Nuuk", "Asia/Gaza",
    ]

    @Test(
        "local times around each change come never, once or twice, as Python says",
        .enabled(if: Python.isThere, "python3 is not installed"),
        arguments: changing)
    func localTimes(_ name: String) throws {
        let rules = try zone(name)
        let changes = rules.changes(after: try moment("2011-01-01"), through: try moment("2045-01-01"))
        var times = [try local("2026-07-01 12:00")]
        for change in changes {
            let middle = LocalTime(minutes: Int(change.epochSeconds) / 60 + rules.offset(at: change) / 60)
            times += stride(from: -240, through: 240, by: 15).map { middle.adding(minutes: $0) }
        }
        let printed = try Python.lines(
            """
            from zoneinfo import ZoneInfo
            from datetime import datetime, timezone
            zone = ZoneInfo('\(name)')
            for text in '\(times.map(\.description).joined(separator: " "))'.split():
                wall = datetime.fromisoformat(text)
                found = {wall.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc) for fold in (0, 1)}
                found = sorted(m for m in found if m.astimezone(zone).replace(tzinfo=None, fold=0) == wall)
                print(text, *[int(m.timestamp()) for m in found])
            """)
        let ours = times.map {
            ([$0.description] + rules.moments(of: $0).map { String($0.epochSeconds) }).joined(separator: " ")
        }
        #expect(ours == printed)
    }

    @Test("a time in a gap means the first moment after it, a time that comes twice the first one")
    func gaps() throws {
        #expect(try zone("Europe/Berlin").firstMoment(of: local("2026-03-29 02:30")) == moment("2026-03-29 01:00"))
        #expect(try zone("Europe/Berlin").firstMoment(of: local("2026-10-25 02:30")) == moment("2026-10-25 00:30"))
        #expect(try zone("America/New_York").firstMoment(of: local("2027-03-14 02:00")) == moment("2027-03-14 07:00"))
        // Half an hour.
        #expect(
            try zone("Australia/Lord_Howe").firstMoment(of: local("2026-10-04 02:15")) == moment("2026-10-03 15:30"))
        #expect(
            try zone("Australia/Lord_Howe").firstMoment(of: local("2027-04-04 01:45")) == moment("2027-04-03 14:45"))
        // A whole day, 2011-12-30, was left out.
        #expect(try zone("Pacific/Apia").firstMoment(of: local("2011-12-30 09:00")) == moment("2011-12-30 10:00"))
        #expect(try zone("Asia/Kathmandu").firstMoment(of: local("2026-12-01 09:00")) == moment("2026-12-01 03:15"))
        #expect(
            try zone("Asia/Kathmandu").localTime(at: moment("2026-12-01 03:15:59")).description == "2026-12-01T09:00")
        // Long after the last change in the file itself.
        #expect(try zone("America/Santiago").firstMoment(of: local("2099-07-01 12:00")) == moment("2099-07-01 16:00"))
        #expect(try zone("Europe/Berlin").firstMoment(of: local("2099-03-29 02:30")) == moment("2099-03-29 01:00"))
    }

    @Test("rules at the end of files: hours beyond a day, days of the year, no summer time")
    func posixRules() throws {
        let godthab = try #require(PosixZone("<-02>2<-01>,M3.5.0/-1,M10.5.0/0"))
        #expect(
            godthab.changes(inYears: 2026...2026).map(\.at)
                == [try moment("2026-03-29 01:00"), try moment("2026-10-25 01:00")].map(\.epochSeconds))
        let gaza = try #require(PosixZone("EET-2EEST,M3.4.4/50,M10.4.4/50"))
        #expect(
            gaza.changes(inYears: 2026...2026).map(\.at)
                == [try moment("2026-03-28 00:00"), try moment("2026-10-23 23:00")].map(\.epochSeconds))
        let byDay = try #require(PosixZone("AAA3BBB,J60/0,300"))
        #expect(
            byDay.changes(inYears: 2028...2028).map(\.at)
                == [try moment("2028-03-01 03:00"), try moment("2028-10-27 04:00")].map(\.epochSeconds))
        #expect(PosixZone("<+0545>-5:45") == PosixZone(standardOffset: 20_700, summer: nil))
        let always = try #require(PosixZone("XXX3EDT4,0/0,J365/23"))
        #expect(always.offset(at: try moment("2028-01-01 04:30").epochSeconds) == -4 * 3600)
        for text in [
            "", "A3", "AAA", "AAA3BBB", "AAA3BBB,M3.5.0", "AAA3BBB,M13.5.0,M10.5.0", "AAA3BBB,M3.6.0,M1.1.0", "AAA200",
            "<AAA3",
        ] {
            #expect(PosixZone(text) == nil, "\(text)")
        }
    }

    @Test("damaged files are no zones, and never a crash")
    func damage() throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(ZoneDatabase.system.folder)/Europe/Berlin")))
        #expect(ZoneFile(bytes) != nil)
        for length in 0..<bytes.count { #expect(ZoneFile(Array(bytes.prefix(length))) == nil, "\(length) bytes") }
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 0xFF
            if let file = ZoneFile(changed) {
                _ = ZoneRules(name: "x", file).firstMoment(of: try local("2027-03-28 02:30"))
            }
        }
    }

    @Test(
        "an unknown zone is said with the one that was probably meant",
        arguments: [
            ("Europe/Berln", "Europe/Berlin"), ("europe/berlin", "Europe/Berlin"), ("Berlin", "Europe/Berlin"),
            ("New York", "America/New_York"),
            ("US/New_York", "America/New_York"), ("Asia/Beijing", "Asia/Shanghai"), ("Asia/Mumbai", "Asia/Kolkata"),
            ("San Francisco", "America/Los_Angeles"), ("Europe/Munich", "Europe/Berlin"), ("Asia/Xyzabc", nil),
            ("Shangai", "Asia/Shanghai"), ("../../etc/passwd", nil), ("", nil),
            ("Europe/", nil), ("Europe", nil), ("posix/Europe/Berlin", "Europe/Berlin"),
            ("right/Europe/Berlin", "Europe/Berlin"),
            ("/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"), ("localtime", nil), ("Mars/Olympus_Mons", nil),
            ("tzdata.zi", nil),
        ] as [(String, String?)])
    func unknown(_ name: String, _ meant: String?) throws {
        let mistake = #expect(throws: Mistake.self) { try zone(name) }
        #expect(mistake?.message == "there is no time zone '\(name)'")
        #expect(mistake?.remedy?.contains("Did you mean") == (meant != nil), "\(mistake?.remedy ?? "")")
        if let meant { #expect(mistake?.remedy == "Did you mean '\(meant)'?") }
    }

    @Test("without a database it is said how to get one; UTC needs none")
    func noDatabase() throws {
        let none = ZoneDatabase(folder: "/nonexistent")
        let mistake = #expect(throws: Mistake.self) { try none.zone(named: "Europe/Berlin") }
        #expect(mistake?.remedy == "Install the package tzdata, or name its folder in TZDIR.")
        #expect(try none.zone(named: "UTC").offset(at: .now()) == 0)
    }

    @Test("every name that is listed can be read")
    func names() throws {
        let names = ZoneDatabase.system.names()
        #expect(names.count > 400 && names.contains("Asia/Calcutta") && names.contains("Etc/GMT+12"))
        for name in names { #expect(throws: Never.self) { try zone(name) } }
    }
}
