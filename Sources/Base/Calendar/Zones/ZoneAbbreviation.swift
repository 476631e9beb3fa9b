/// Names of clocks rather than of places. Most do not say whether summer time is included (CET is
/// winter time only, but files in the database disagree), and some have several meanings (CST is
/// both Chicago's and Shanghai's), so a campaign names a place instead.
public enum ZoneAbbreviation {
    /// The places that an abbreviation may mean, the most populous first; nil if the abbreviation
    /// is not known.
    public static func places(_ name: String) -> [String]? { table[name.uppercased()] }

    /// Whether a zone of the database is UTC under a name that looks like British time, or like no
    /// place at all: `GMT`, `Zulu`.
    public static func isGreenwich(_ name: String) -> Bool {
        let small = name.lowercased()
        return ["gmt", "gmt0", "greenwich", "zulu"].contains(
            small.hasPrefix("etc/") ? String(small.dropFirst("etc/".count)) : small)
    }

    /// Whether a name means UTC even without a database: `UTC`, `Etc/UTC`, `GMT`.
    static func isUniversal(_ name: String) -> Bool {
        let small = name.lowercased()
        return isGreenwich(name)
            || ["utc", "uct", "universal"].contains(small.hasPrefix("etc/") ? String(small.dropFirst(4)) : small)
    }

    /// Whether a text is an offset from UTC (`+02:00`, `UTC+1`, `GMT-5`), which has no summer time.
    public static func isOffset(_ text: String) -> Bool {
        var rest = text.uppercased()[...]
        for prefix in ["UTC", "GMT"] where rest.hasPrefix(prefix) { rest = rest.dropFirst(prefix.count) }
        rest = rest.drop { $0 == " " }
        guard let sign = rest.first, sign == "+" || sign == "-" || sign == "\u{2212}" else { return false }
        rest = rest.dropFirst()
        return !rest.isEmpty && rest.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ":") }
    }

    /// A place with a clock ahead of UTC by an offset, in winter: `+08:00`, `UTC+8`, the reversed
    /// `Etc/GMT-8`, or as the variable TZ has it, `CST-8`. nil for other texts, and for offsets
    /// without a place.
    public static func place(ofOffset text: String) -> String? {
        let small = text.lowercased()
        if small.hasPrefix("etc/gmt"), let hours = Int(small.dropFirst("etc/gmt".count)) { return places[-60 * hours] }
        if isOffset(text) {
            let written = text.uppercased().trimmingPrefix(/UTC|GMT/).filter { $0 != " " }
            let digits = written.dropFirst().filter { $0 != ":" }
            guard (1...4).contains(digits.count), let number = Int(digits) else { return nil }
            let minutes = digits.count > 2 ? number / 100 * 60 + number % 100 : number * 60
            return places[written.first == "+" ? minutes : -minutes]
        }
        return PosixZone(variable: text).flatMap { places[$0.standardOffset / 60] }
    }

    /// By minutes east of UTC.
    private static let places: [Int: String] = [
        -600: "Pacific/Honolulu", -540: "America/Anchorage", -480: "America/Los_Angeles", -420: "America/Denver",
        -360: "America/Chicago",
        -300: "America/New_York", -240: "America/Halifax", -210: "America/St_Johns", -180: "America/Sao_Paulo",
        -60: "Atlantic/Azores",
        0: "Europe/London", 60: "Europe/Berlin", 120: "Europe/Athens", 180: "Europe/Istanbul", 210: "Asia/Tehran",
        240: "Asia/Dubai",
        270: "Asia/Kabul", 300: "Asia/Karachi", 330: "Asia/Kolkata", 345: "Asia/Kathmandu", 360: "Asia/Dhaka",
        390: "Asia/Yangon",
        420: "Asia/Bangkok", 480: "Asia/Shanghai", 540: "Asia/Tokyo", 570: "Australia/Adelaide",
        600: "Australia/Sydney",
        660: "Pacific/Noumea", 720: "Pacific/Auckland",
    ]

    private static let table: [String: [String]] = [
        "CET": ["Europe/Berlin"], "CEST": ["Europe/Berlin"], "MET": ["Europe/Berlin"], "MEZ": ["Europe/Berlin"],
        "MESZ": ["Europe/Berlin"],
        "EET": ["Europe/Athens"], "EEST": ["Europe/Athens"], "WET": ["Europe/Lisbon"], "WEST": ["Europe/Lisbon"],
        "BST": ["Europe/London", "Asia/Dhaka"], "MSK": ["Europe/Moscow"], "TRT": ["Europe/Istanbul"],
        "EST": ["America/New_York"], "EDT": ["America/New_York"], "ET": ["America/New_York"],
        "EST5EDT": ["America/New_York"],
        "CST": ["Asia/Shanghai", "America/Chicago"], "CDT": ["America/Chicago"], "CT": ["America/Chicago"],
        "CST6CDT": ["America/Chicago"],
        "MST": ["America/Denver", "America/Phoenix"], "MDT": ["America/Denver"], "MT": ["America/Denver"],
        "MST7MDT": ["America/Denver"],
        "PST": ["America/Los_Angeles"], "PDT": ["America/Los_Angeles"], "PT": ["America/Los_Angeles"],
        "PST8PDT": ["America/Los_Angeles"],
        "AKST": ["America/Anchorage"], "AKDT": ["America/Anchorage"], "HST": ["Pacific/Honolulu"],
        "AST": ["America/Halifax", "Asia/Riyadh"], "ADT": ["America/Halifax"], "NST": ["America/St_Johns"],
        "BRT": ["America/Sao_Paulo"], "ART": ["America/Argentina/Buenos_Aires"],
        "IST": ["Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"], "PKT": ["Asia/Karachi"], "GST": ["Asia/Dubai"],
        "WIB": ["Asia/Jakarta"], "ICT": ["Asia/Bangkok"], "SGT": ["Asia/Singapore"], "HKT": ["Asia/Hong_Kong"],
        "PHT": ["Asia/Manila"],
        "JST": ["Asia/Tokyo"], "KST": ["Asia/Seoul"],
        "AWST": ["Australia/Perth"], "ACST": ["Australia/Adelaide"], "ACDT": ["Australia/Adelaide"],
        "AEST": ["Australia/Sydney"],
        "AEDT": ["Australia/Sydney"], "NZST": ["Pacific/Auckland"], "NZDT": ["Pacific/Auckland"],
        "CAT": ["Africa/Maputo"], "EAT": ["Africa/Nairobi"], "WAT": ["Africa/Lagos"], "SAST": ["Africa/Johannesburg"],
    ]
}
