@testable import Base
import Foundation
import Testing

@Suite("The zone of the machine")
final class MachineZoneTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-zone-\(UUID().uuidString)"
    ).path
    private let zones = ZoneDatabase.system

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static let readable = [
        "CST-8", "HST10", "<+0330>-3:30", "<-03>3", "EST5", "GMT+5", "UTC-3", "XXX-8:30:15", "AAA24", "AAA+08",
        ":CST-8", "aaa-05:45",
        "CET-1CEST,M3.5.0,M10.5.0/3", "NZST-12NZDT,M9.5.0,M4.1.0/3", "<-04>4<-03>,M9.1.6/24,M4.1.6/24",
        "IST-1GMT0,M10.5.0,M3.5.0/1",
        "EET-2EEST,M3.4.4/50,M10.4.4/50", "AAA3BBB,J60/0,J300", "AAA3BBB2:30,59/1:30:00,299/-1", "AAA3BBB", "AAA3BBB,",
        "AAA-8BBB1:30",
        "EST5EDT", "Europe/Berlin", ":Europe/Berlin", "Asia/Kolkata", "posix/Europe/Berlin", "Etc/GMT+5", "GMT0",
        "GMT-0",
        "../zoneinfo/Asia/Tokyo",
        "/usr/share/zoneinfo/Europe/Berlin", ":/usr/share/zoneinfo/America/St_Johns", "", ":", "UTC", "utc", "GMT",
        "Etc/UTC", "Universal",
        ":/etc/localtime", "/etc/localtime",
    ]

    @Test(
        "is the C library's for every form of TZ: rules, names, paths, blank",
        .enabled(if: Python.isThere, "python3 is not installed"))
    func asTheCLibrary() throws {
        // Until 2037: for rules without days, the C library takes the days from a file that ends
        // there.
        let moments = stride(from: 1_767_225_600, to: 2_114_380_800, by: 997 * 3600).map { $0 }
        let script = """
            import os, time
            os.environ.pop('TZDIR', None)
            for text in \(Self.readable):
                os.environ['TZ'] = text
                time.tzset()
                print(*[time.localtime(second).tm_gmtoff for second in \(moments)])
            """
        let lines = try Python.lines(script)
        #expect(lines.count == Self.readable.count)
        for (text, line) in zip(Self.readable, lines) {
            let zone = try zones.machineZone(text)
            let offsets = moments.map { String(zone.offset(at: Timestamp(epochSeconds: Int64($0)))) }
            #expect(offsets.joined(separator: " ") == line, "\(text)")
        }
    }

    @Test(
        "is refused, and not UTC, where TZ cannot be read; its value is shown",
        arguments: [
            "Europe/Berln", "Europe/Berlin ", "\"Europe/Berlin\"", "CST", "CST-8x,", "CST-8 ", "CST-", "A12", "<A>5",
            "CST-25",
            "AAA3BBB,M3.5.0",
            "AAA3BBB,M13.1.0,M10.1.0", "+02:00", "UTC+", "GMT+5:75", "/nonexistent", "/etc/hostname", "/dev/zero",
            "/tmp", "tzdata.zi",
            "right",
            "Europe", "../../../etc/passwd", "örtlich", " ", "CST-8\u{1B}[31m",
        ])
    func unreadable(_ text: String) throws {
        let mistake = #expect(throws: Mistake.self) { try self.zones.machineZone(text) }
        #expect(mistake?.message.hasPrefix("the time zone of this machine cannot be read: TZ is '") == true)
        #expect(mistake?.message.contains(text.replacing("\u{1B}", with: " ")) == true, "\(mistake?.message ?? "")")
        #expect(mistake?.remedy?.hasPrefix("Set TZ to a zone, for example TZ=") == true)
    }

    @Test("a zone that counts leap seconds is refused with its reason, and one that was probably meant is named")
    func reasons() throws {
        let leap = #expect(throws: Mistake.self) { try self.zones.machineZone("right/Europe/Berlin") }
        #expect(
            leap?.message
                == "the time zone of this machine cannot be read: TZ is 'right/Europe/Berlin', which counts leap seconds"
        )
        let near = #expect(throws: Mistake.self) { try self.zones.machineZone("Europe/Berln") }
        #expect(near?.remedy?.contains("TZ=Europe/Berlin,") == true)
        let none = #expect(throws: Mistake.self) { try ZoneDatabase(folder: self.folder).machineZone("Europe/Berlin") }
        #expect(none?.remedy == "Install the package tzdata, or name its folder in TZDIR.")
    }

    @Test(
        "UTC needs no database, and neither does a rule",
        arguments: ["UTC", "Etc/UTC", "GMT", "Zulu", "Universal", "", "UTC0", "CST-8"])
    func withoutDatabase(_ text: String) throws {
        #expect(
            try ZoneDatabase(folder: "/nonexistent").machineZone(text).offset(at: .now())
                == (text == "CST-8" ? 28_800 : 0))
    }

    @Test("/etc/localtime may be a link, a chain of links, or a copy; its name is shown where links have it")
    func usualFile() throws {
        func usual(_ name: String) throws -> ZoneRules { try zones.machineZone(nil, usualFile: "\(folder)/\(name)") }
        let files = FileManager.default
        try files.createSymbolicLink(atPath: folder + "/link", withDestinationPath: zones.path(of: "Asia/Tokyo"))
        try files.createSymbolicLink(atPath: folder + "/chain", withDestinationPath: "link")
        try files.copyItem(atPath: zones.path(of: "Asia/Kathmandu"), toPath: folder + "/copy")
        #expect(try usual("link").name == "Asia/Tokyo" && usual("link").offset(at: .now()) == 32_400)
        #expect(try usual("chain").name == "Asia/Tokyo" && usual("chain").offset(at: .now()) == 32_400)
        #expect(try usual("copy").name == folder + "/copy" && usual("copy").offset(at: .now()) == 20_700)
        #expect(try usual("missing").offset(at: .now()) == 0, "as localtime(5) says")
        try files.createSymbolicLink(
            atPath: folder + "/container", withDestinationPath: "/nonexistent/zoneinfo/Etc/UTC")
        #expect(try usual("container").offset(at: .now()) == 0)
    }

    @Test(
        "a named pipe in the place of the machine's zone, by any way that leads to it, is refused when a process begins; nothing else is"
    )
    func pipe() throws {
        #expect(mkfifo(folder + "/pipe", 0o600) == 0 && symlink("pipe", folder + "/link") == 0)
        let here = ZoneDatabase(folder: folder)
        for file in ["pipe", "link"] {
            #expect(throws: Diagnostic.self) { try here.refusePipe(nil, usualFile: "\(folder)/\(file)") }
            for variable in [file, ":\(file)", "\(folder)/\(file)", ":\(folder)/\(file)"] {
                #expect(throws: Diagnostic.self, "\(variable)") { try here.refusePipe(variable) }
            }
        }
        for variable: String? in [nil, "", ":", "Europe/Berlin", "CST-8", "/nonexistent", "/dev/null"] {
            try zones.refusePipe(variable)
        }
        try zones.refusePipe("Europe/Berlin", usualFile: folder + "/pipe")
    }

    @Test("/etc/localtime that leads nowhere, is damaged or is no file is refused, and nothing waits for it")
    func unusableFile() throws {
        let files = FileManager.default
        try files.createSymbolicLink(
            atPath: folder + "/nowhere", withDestinationPath: "/nonexistent/zoneinfo/Europe/Berlin")
        try files.createSymbolicLink(atPath: folder + "/circle", withDestinationPath: "circle")
        try files.createSymbolicLink(atPath: folder + "/leap", withDestinationPath: zones.path(of: "right/Asia/Tokyo"))
        try Data("Europe/Berlin\n".utf8).write(to: URL(fileURLWithPath: folder + "/text"))
        #expect(mkfifo(folder + "/pipe", 0o600) == 0)
        try Data([0x54]).write(to: URL(fileURLWithPath: folder + "/locked"))
        #expect(chmod(folder + "/locked", 0) == 0)
        for (name, words) in [
            ("nowhere", "which is not there"), ("circle", "cannot be read: links lead in a circle"),
            ("leap", "counts leap seconds"),
            ("text", "is no file of a time zone"), ("pipe", "is no file of a time zone"),
            (".", "is no file of a time zone"),
            ("locked", geteuid() == 0 ? "is no file of a time zone" : "may not be read by this user"),
        ] {
            let mistake = #expect(throws: Mistake.self) {
                try self.zones.machineZone(nil, usualFile: "\(self.folder)/\(name)")
            }
            #expect(
                mistake?.message.hasSuffix(words) == true
                    || name == "circle" && mistake?.message.contains(words) == true,
                "\(mistake?.message ?? "")")
            #expect(mistake?.message.contains("\(folder)/\(name) ") == true, "\(mistake?.message ?? "")")
        }
    }
}
