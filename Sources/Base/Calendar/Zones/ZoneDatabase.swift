import Glibc

/// The tz database of the system: Debian's package tzdata, updated like any other.
///
/// ```swift
/// let shanghai = try ZoneDatabase.system.zone(named: "Asia/Shanghai")
/// ```
public struct ZoneDatabase: Sendable {
    /// The folder with the zones' files.
    public let folder: String

    /// A database in a folder.
    public init(folder: String) { self.folder = folder }

    /// `TZDIR`, as in the C library, otherwise /usr/share/zoneinfo.
    public static var system: ZoneDatabase {
        ZoneDatabase(folder: EnvironmentVariables.filled("TZDIR") ?? "/usr/share/zoneinfo")
    }

    /// The rules of a zone, by its name in the tz database. Names are case-sensitive.
    /// - Throws: a `Mistake` if there is no such zone (with the nearest one), or no database.
    public func zone(named name: String) throws(Mistake) -> ZoneRules {
        if Self.isName(name), let file = Self.bytes(of: path(of: name)).flatMap(ZoneFile.init) {
            return ZoneRules(name: name, file)
        }
        // UTC is available even without the database.
        if name == "UTC" { return .utc }
        throw mistake(name)
    }

    /// Whether a text may be a name, and not a path to somewhere else. Zones below `right` count
    /// leap seconds, and those below `posix` repeat the usual ones; the rest are the machine's own
    /// settings.
    static func isName(_ name: String) -> Bool {
        guard (1...64).contains(name.utf8.count), !["localtime", "posixrules", "Factory"].contains(name) else {
            return false
        }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, first != "right", first != "posix" else { return false }
        return parts.allSatisfy { part in
            guard let start = part.utf8.first, isLetter(start) else { return false }
            return part.utf8.allSatisfy { isLetter($0) || "0123456789_+-".utf8.contains($0) }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte < 0x80
    }

    /// All names, including older names for other zones; empty without a database.
    public func names() -> [String] {
        if let compiled = Self.bytes(of: path(of: "tzdata.zi")) {
            let names = lines(compiled, startingWith: [UInt8(ascii: "Z"), UInt8(ascii: "L")]).compactMap { words in
                switch words.first {
                case "Z" where words.count > 1: words[1]
                case "L" where words.count > 2: words[2]
                default: nil
                }
            }
            if !names.isEmpty { return names.filter(Self.isName).sorted() }
        }
        let table = Self.bytes(of: path(of: "zone1970.tab")) ?? Self.bytes(of: path(of: "zone.tab")) ?? []
        let names = lines(table, separator: UInt8(ascii: "\t")).compactMap {
            $0.count > 2 && !$0[0].hasPrefix("#") ? $0[2] : nil
        }
        return Set(names + ["UTC"]).filter(Self.isName).sorted()
    }

    /// The words of each line; of those that start with one of some letters, if there are any.
    private func lines(_ bytes: [UInt8], separator: UInt8 = UInt8(ascii: " "), startingWith letters: [UInt8] = [])
        -> [[String]]
    {
        bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.filter { line in
            letters.isEmpty || letters.contains(line[line.startIndex])
        }.map { $0.split(separator: separator).map { String(decoding: $0, as: UTF8.self) } }
    }

    private func mistake(_ name: String) -> Mistake {
        let names = names()
        let shown = name.unicodeScalars.prefix(60).map { $0.value < 0x20 ? " " : String($0) }.joined()
        if names.count < 10 {
            return Mistake(
                "there is no time zone database in \(folder), so the zone '\(shown)' is not known",
                remedy: Self.databaseRemedy)
        }
        if names.contains(name) {
            return Mistake(
                "the file of the zone '\(shown)' in \(folder) cannot be read", remedy: "Reinstall the package tzdata.")
        }
        return Mistake(
            "there is no time zone '\(shown)'",
            remedy: nearest(to: name.replacingSpaces(), among: names).map { "Did you mean '\($0)'?" }
                ?? "Zones are named after a continent and a city, for example Europe/Berlin, America/New_York or Asia/Shanghai."
        )
    }

    static let databaseRemedy = "Install the package tzdata, or name its folder in TZDIR."

    /// The existing zone that a text probably means; nil if none is near.
    func nearestZone(to text: String) -> String? { nearest(to: text.replacingSpaces(), among: names()) }

    /// The zone that was probably meant: the same name in another case, the same city elsewhere, or
    /// a name with a slip.
    private func nearest(to name: String, among names: [String]) -> String? {
        guard !name.isEmpty, name.utf8.count <= 64 else { return nil }
        // A campaign may not name these.
        let names = names.filter { !$0.hasPrefix("Etc/GMT") && ZoneAbbreviation.places($0) == nil }
        let small = name.lowercased()
        if let same = names.first(where: { $0.lowercased() == small }) { return same }
        let city = small.split(separator: "/").last.map(String.init) ?? small
        if let zone = ZoneCity.zones[city], names.contains(zone) { return zone }
        func cityOf(_ name: String) -> String {
            (name.split(separator: "/").last.map(String.init) ?? name).lowercased()
        }
        if let same = names.first(where: { cityOf($0) == city && $0.contains("/") }) { return same }
        // For a city that is not a zone, the name of another city is no hint, even if the rest is
        // the same.
        if let near = nearestName(to: name, among: names), nearestName(to: city, among: [cityOf(near)]) != nil {
            return near
        }
        let cities = names.filter { $0.contains("/") }.map(cityOf)
        return nearestName(to: city, among: cities).flatMap { near in
            names.first { $0.contains("/") && cityOf($0) == near }
        }
    }

    /// The largest file is the compiled source, about 110 KB.
    private static let largestFile = 1 << 18

    /// The path of a zone's file.
    public func path(of name: String) -> String { "\(folder)/\(name)" }

    /// The bytes of a file; nil without one, or it is too long for one of the database. TZDIR and
    /// TZ may name anything.
    static func bytes(of path: String) -> [UInt8]? {
        guard let bytes = try? RegularFile.bytes(of: path, atMost: largestFile), bytes.count <= largestFile else {
            return nil
        }
        return bytes
    }
}

extension String {
    /// `New York` as the tz database writes it.
    fileprivate func replacingSpaces() -> String { String(map { $0 == " " ? "_" : $0 }) }
}

/// Large cities that are not zones of the tz database, which names one city for each area of equal
/// clocks.
enum ZoneCity {
    /// Zones by city, in lower-case letters with `_` for spaces.
    static let zones: [String: String] = {
        let cities = [
            "Asia/Shanghai":
                "beijing peking shenzhen guangzhou canton chengdu hangzhou wuhan nanjing tianjin xian suzhou china",
            "Asia/Kolkata":
                "mumbai bombay delhi new_delhi bangalore bengaluru chennai madras hyderabad pune ahmedabad india",
            "Asia/Tokyo": "osaka kyoto yokohama nagoya sapporo fukuoka japan",
            "Asia/Seoul": "busan incheon daegu korea",
            "Asia/Ho_Chi_Minh": "hanoi da_nang vietnam", "Asia/Karachi": "islamabad lahore pakistan",
            "Asia/Dubai": "abu_dhabi sharjah",
            "Asia/Riyadh": "jeddah mecca dammam", "Asia/Manila": "cebu davao", "Asia/Jakarta": "bandung surabaya",
            "Asia/Jerusalem": "haifa", "Europe/Istanbul": "ankara izmir turkey",
            "Europe/Berlin":
                "munich muenchen hamburg frankfurt cologne koeln stuttgart dusseldorf duesseldorf leipzig germany",
            "Europe/Paris": "lyon marseille nice toulouse bordeaux france",
            "Europe/Madrid": "barcelona valencia sevilla seville bilbao spain",
            "Europe/Rome": "milan milano naples napoli turin torino florence venice italy",
            "Europe/Zurich": "geneva basel bern lausanne switzerland",
            "Europe/London": "manchester edinburgh birmingham liverpool glasgow leeds england uk",
            "Europe/Amsterdam": "rotterdam the_hague utrecht eindhoven", "Europe/Brussels": "antwerp ghent",
            "Europe/Vienna": "graz salzburg linz",
            "Europe/Warsaw": "krakow wroclaw gdansk poznan", "Europe/Moscow": "st_petersburg saint_petersburg",
            "Europe/Lisbon": "porto",
            "Europe/Kyiv": "lviv odesa kharkiv", "Europe/Stockholm": "gothenburg malmo",
            "Europe/Oslo": "bergen trondheim",
            "America/New_York": "washington boston philadelphia miami atlanta orlando baltimore charlotte",
            "America/Chicago": "houston dallas austin san_antonio minneapolis new_orleans nashville memphis",
            "America/Los_Angeles": "san_francisco seattle san_diego las_vegas portland sacramento san_jose",
            "America/Denver": "salt_lake_city albuquerque", "America/Toronto": "ottawa quebec",
            "America/Edmonton": "calgary",
            "America/Sao_Paulo": "rio_de_janeiro rio brasilia belo_horizonte", "America/Bogota": "medellin cali",
            "America/Mexico_City": "guadalajara puebla", "America/Argentina/Buenos_Aires": "rosario",
            "America/Guayaquil": "quito",
            "Africa/Johannesburg": "cape_town durban pretoria", "Africa/Casablanca": "rabat marrakesh marrakech",
            "Africa/Lagos": "abuja",
            "Africa/Cairo": "alexandria giza", "Pacific/Auckland": "wellington christchurch",
        ]
        var zones: [String: String] = [:]
        for (zone, names) in cities { for name in names.split(separator: " ") { zones[String(name)] = zone } }
        return zones
    }()
}
