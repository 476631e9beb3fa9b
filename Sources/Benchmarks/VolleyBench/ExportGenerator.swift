import Base
import Glibc

/// Writes a typical device export: eleven columns, about 160 bytes a row. A fifth of the rows has
/// the tags that the benchmark's campaign selects, and one row in a hundred repeats an earlier
/// device. The bytes depend only on the number of rows.
struct ExportGenerator {
    enum Format: String { case csv, jsonl }

    let rows: Int
    let format: Format
    private var random = SplitMix(seed: 0x5EED)
    private var bytes: [UInt8] = []

    init(rows: Int, format: Format) {
        self.rows = rows
        self.format = format
    }

    private static let header =
        "device_token,registration_id,alias,tags,language,timezone,last_active,registered_at,first_name,store,app_version\n"
    private static let tags = [
        "sports", "fashion", "news", "beta", "garden", "music", "travel", "kids", "books", "games", "wine", "数码", "折扣",
        "bikes", "pets",
        "health", "unsubscribed",
    ].map { Array($0.utf8) }
    private static let wanted = ["discount", "daily"].map { Array($0.utf8) }
    private static let languages = ["en", "de", "fr", "zh-Hans", "ja", "en", "de", ""].map { Array($0.utf8) }
    private static let zones = ["Europe/Berlin", "Europe/London", "America/New_York", "Asia/Shanghai"].map {
        Array($0.utf8)
    }
    private static let names = ["Anna", "James", "Olivia", "Zoë", "Jürgen", "小明", "さくら", ""].map { Array($0.utf8) }
    private static let stores = ["Berlin", "Hamburg", "London", "Paris", "Lyon", "Köln, Dom", "上海", "Leeds"].map {
        Array($0.utf8)
    }
    private static let versions = ["2.9.0", "3.0.1", "3.2.0", "3.10.2", "4.0.0"].map { Array($0.utf8) }

    /// Writes the file.
    mutating func write(to path: String) throws {
        guard let stream = fopen(path, "w") else {
            throw Diagnostic("cannot be written: \(String(cString: strerror(errno)))", file: path)
        }
        if format == .csv { bytes += Self.header.utf8 }
        for row in 0..<rows {
            append(row)
            if bytes.count > 1 << 20 || row == rows - 1 {
                fwrite(bytes, 1, bytes.count, stream)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        guard fclose(stream) == 0 else {
            throw Diagnostic("cannot be written: \(String(cString: strerror(errno)))", file: path)
        }
    }

    private mutating func pick(_ texts: [[UInt8]]) -> [UInt8] { texts[Int(random.next() >> 33) % texts.count] }

    private mutating func append(_ row: Int) {
        // One row in a hundred repeats a device of an earlier row.
        let device = row % 100 == 99 ? UInt64(row / 2) : UInt64(row)
        var token = SplitMix(seed: device)
        field("device_token", isFirst: true) { bytes, _ in for _ in 0..<4 { Self.hex(token.next(), 16, &bytes) } }
        field("registration_id") { bytes, random in Self.hex(random.next() >> 20, 11, &bytes) }
        let hasAlias = random.next() % 10 < 7
        field("alias") { bytes, _ in if hasAlias { bytes += Array("user\(1_000_000 + row)".utf8) } }
        appendTags()
        field("language") { bytes, random in bytes += Self.languages[Int(random.next() >> 61)] }
        let zone = pick(Self.zones)
        field("timezone") { bytes, _ in bytes += zone }
        field("last_active") { bytes, random in Self.date(random.next(), &bytes) }
        field("registered_at") { bytes, random in Self.date(random.next(), &bytes) }
        field("first_name") { bytes, random in bytes += Self.names[Int(random.next() >> 61)] }
        let store = pick(Self.stores)
        field("store", isQuoted: store.contains(UInt8(ascii: ","))) { bytes, _ in bytes += store }
        let version = pick(Self.versions)
        field("app_version") { bytes, _ in bytes += version }
        bytes += format == .csv ? [0x0A] : [UInt8(ascii: "}"), 0x0A]
    }

    private mutating func field(
        _ name: String, isFirst: Bool = false, isQuoted: Bool = false, _ value: (inout [UInt8], inout SplitMix) -> Void
    ) {
        switch format {
        case .csv:
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            if isQuoted { bytes.append(UInt8(ascii: "\"")) }
            value(&bytes, &random)
            if isQuoted { bytes.append(UInt8(ascii: "\"")) }
        case .jsonl:
            bytes += Array("\(isFirst ? "{" : ",")\"\(name)\":\"".utf8)
            value(&bytes, &random)
            bytes.append(UInt8(ascii: "\""))
        }
    }

    private mutating func appendTags() {
        var tags: [[UInt8]] = []
        for _ in 0..<(random.next() >> 62) { tags.append(pick(Self.tags)) }
        if random.next() % 100 < 22 { tags.append(pick(Self.wanted)) }
        if format == .csv {
            field("tags") { bytes, _ in bytes += tags.joined(separator: [UInt8(ascii: ";")]) }
        } else {
            bytes += Array(",\"tags\":[".utf8)
            for (index, tag) in tags.enumerated() {
                bytes += (index == 0 ? [] : [UInt8(ascii: ",")]) + [UInt8(ascii: "\"")] + tag + [UInt8(ascii: "\"")]
            }
            bytes.append(UInt8(ascii: "]"))
        }
    }

    private static func hex(_ number: UInt64, _ digits: Int, _ bytes: inout [UInt8]) {
        for place in (0..<digits).reversed() {
            let digit = UInt8(truncatingIfNeeded: number >> (4 * UInt64(place))) & 15
            bytes.append(digit < 10 ? digit + 0x30 : digit + 0x57)
        }
    }

    /// Returns a moment in 2026.
    private static func date(_ number: UInt64, _ bytes: inout [UInt8]) {
        func two(_ value: UInt64) { bytes += [UInt8(value / 10) + 0x30, UInt8(value % 10) + 0x30] }
        // A past year: future days do not count as activity for Volley, but do for the others.
        bytes += Array("2025-".utf8)
        two(number % 12 + 1)
        bytes.append(UInt8(ascii: "-"))
        two((number >> 8) % 28 + 1)
        bytes.append(UInt8(ascii: "T"))
        two((number >> 16) % 24)
        bytes.append(UInt8(ascii: ":"))
        two((number >> 24) % 60)
        bytes.append(UInt8(ascii: ":"))
        two((number >> 32) % 60)
        bytes.append(UInt8(ascii: "Z"))
    }
}
