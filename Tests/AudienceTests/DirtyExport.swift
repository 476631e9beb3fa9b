import Base
import TestSupport

@testable import Audience

/// A small export in which everything collides: few tokens, few aliases, few tags, and every kind
/// of dirt.
struct DirtyExport {
    static let header = [
        "device_token", "registration_id", "alias", "tags", "language", "last_active", "registered_at", "first_name",
        "app_version",
    ]
    private var rows: [[String]] = []
    private static let tags = ["discount", "daily", "news", "beta", "数码", "Daily"]
    private static let versions = [
        "3.2", "3.2.0", "v3.10.0", "3.9", "4.0.0-beta", "4.0.0-alpha", "4", "", "latest", "2026-01-01", "10", "9",
    ]
    private static let dates = [
        "2026-11-20", "2026-11-01T09:00:00Z", "2026-11-01 09:00", "2026-10-21T12:00:00+08:00", "1795000000",
        "1795000000000", "", "never",
        "2026-02-30", "2026-10-21T12:00:00Z", "2024-02-29T23:59:59Z", "2026-1-1", "2062-11-10",
    ]

    init(random: inout SeededRandom) {
        for _ in 0..<Int.random(in: 50...250, using: &random) { rows.append(Self.row(&random)) }
    }

    private static func row(_ random: inout SeededRandom) -> [String] {
        func pick(_ texts: [String]) -> String { texts[Int.random(in: 0..<texts.count, using: &random)] }
        var text = token(Int.random(in: 0..<120, using: &random) + 0xABC0)
        switch Int.random(in: 0..<20, using: &random) {
        case 0: text = ""
        case 1: text = pick(["null", "7.28E+15", "abc", "xyz12345", "1234567", " "])
        case 2...5: text = text.uppercased()
        case 6: text = " \(text) "
        case 7:
            text = pick([
                "<\(text)>", "'\(text)", "0x\(text)", "\u{A0}\(text)", "\(text.prefix(32)) \(text.suffix(32))",
                "\" \(text)\"",
                "\u{200B}\(text)",
            ])
        default: break
        }
        let tagCount = Int.random(in: 0...4, using: &random)
        let tagText = (0..<tagCount).map { _ in pick([" ", ""]) + pick(tags) + pick([" ", "", ""]) }.joined(
            separator: pick([";", ";;"]))
        return [
            text, pick(["", "r1", "r2", "r3", "abcdef01", "ABCDEF01"]), pick(["", "", "u1", "u2", "u3", "u4"]), tagText,
            pick(["en", "de", "EN", "zh-Hans", ""]), pick(dates), pick(dates),
            pick(["Anna", "", "O\"Neil", "a,b", "x\ny", "小明", " "]),
            pick(versions),
        ]
    }

    /// The export as one file of a kind, or as several that share some devices, in the order of
    /// their names.
    func files(in folder: TemporaryFolder, named name: String, _ random: inout SeededRandom) -> [String] {
        let count = [1, 1, 2, 3].randomElement(using: &random) ?? 1
        return (0..<count).map { number in
            var part = self
            if count > 1 { part.rows = rows.filter { _ in Bool.random(using: &random) } }
            let isCSV = Bool.random(using: &random)
            let bytes = isCSV ? part.csv(&random) : part.jsonLines(&random)
            let isCompressed = Int.random(in: 0..<4, using: &random) == 0
            let kind = (isCSV ? "csv" : "jsonl") + (isCompressed ? ".gz" : "")
            return folder.file("\(name)-\(number).\(kind)", isCompressed ? StoredGzip.member(bytes) : bytes)
        }
    }

    func csv(_ random: inout SeededRandom) -> [UInt8] {
        let lineEnd = ["\n", "\r\n", "\r"].randomElement(using: &random) ?? "\n"
        var bytes =
            Array((Bool.random(using: &random) ? "\u{FEFF}" : "").utf8)
            + Array((Self.header.joined(separator: ",") + lineEnd).utf8)
        for row in rows {
            var cells = row
            let dirt = Int.random(in: 0..<150, using: &random)
            if dirt == 0 { cells.removeLast() }
            if dirt == 1 { cells.append("more") }
            if dirt == 2 { bytes += Array(lineEnd.utf8) }
            let line = cells.map { cell in
                let needsQuotes = cell.contains { "\",\r\n".contains($0) } || Int.random(in: 0..<4, using: &random) == 0
                return needsQuotes
                    ? "\"" + cell.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
                        + "\"" : cell
            }.joined(separator: ",")
            var lineBytes = Array(line.utf8)
            if dirt == 3 { lineBytes[lineBytes.count / 2] = 0xFF }
            if dirt == 4 { lineBytes.append(0) }
            if dirt == 5, !line.contains("\n") { lineBytes = Array("\"a\"b,".utf8) + lineBytes }
            bytes += lineBytes + Array(lineEnd.utf8)
        }
        if Bool.random(using: &random) { bytes += Array("x,\"never closed".utf8) + Array(lineEnd.utf8) }
        return bytes
    }

    func jsonLines(_ random: inout SeededRandom) -> [UInt8] {
        var bytes: [UInt8] = []
        for row in rows {
            var pairs: [(String, JSONValue)] = zip(Self.header, row).map { ($0, $1.isEmpty ? .null : .string($1)) }
            if Bool.random(using: &random) {
                pairs[3].1 = .array(row[3].split(separator: ";").map { .string(String($0)) })
            }
            let dirt = Int.random(in: 0..<150, using: &random)
            if dirt == 0 { pairs[2].1 = .object(pairs: []) }
            if dirt == 1 { pairs.append(("alias", .string("u1"))) }
            if dirt == 2 { pairs.removeLast() }
            if dirt == 3 { pairs[1].1 = .integer(191) }
            if dirt == 4 { pairs.append(("extra", .string("\u{0}"))) }
            if dirt == 5 { pairs.shuffle(using: &random) }
            var line = Array(JSONValue.object(pairs: pairs).text.utf8)
            if dirt == 6 { line.removeLast(3) }
            if dirt == 7 { line.append(UInt8(ascii: "]")) }
            if dirt == 8 { bytes += Array(" \t\r\n".utf8) }
            if dirt == 9 { line = Array("[1]".utf8) }
            if dirt == 10 { line[line.count / 2] = 0xFF }
            if dirt == 11 {
                line = Array("{\"alias\": \"u\\u0031\", \"device_token\": \"abcd\\ud83d\", \"tags\": \"beta\"}".utf8)
            }
            if dirt == 12 {
                line = Array(
                    "{\"al\\u0069as\": \"u\\u0031\", \"device_token\": \"abcdabc\\u0064\", \"tags\": [\"bet\\u0061\"]}"
                        .utf8)
            }
            bytes += line + [0x0A]
        }
        return bytes
    }

    /// Tokens, some of which are in the export, with the time since when they are invalid: times in
    /// the export, or one more or less.
    private static func suppressed(_ random: inout SeededRandom) -> [(token: String, since: Int64)] {
        let moments = dates.compactMap { Timestamp($0)?.epochMilliseconds }
        return (0..<40).map { _ in
            let moment = (moments.randomElement(using: &random) ?? 0) + Int64.random(in: -1...1, using: &random)
            return (token(Int.random(in: 0..<150, using: &random) + 0xABC0), moment)
        }
    }

    private let listed = [token(0xABC0 + 5), token(0xABC0 + 6).uppercased(), "r3", "abcdef01"]

    func excludedList(_ random: inout SeededRandom) -> String {
        "# complaints\n\n" + listed.joined(separator: "\r\n") + "\n"
    }

    func query(files: [String], excludedList: String, _ random: inout SeededRandom) -> OracleQuery {
        var query = AudienceQuery(files: files, columns: ExportColumns(), now: noon)
        func some(_ texts: [String]) -> [String] { texts.filter { _ in Int.random(in: 0..<3, using: &random) == 0 } }
        (query.anyTags, query.allTags, query.noneTags) = (
            some(Self.tags), some(["news", "beta"]), some(["daily", "数码"])
        )
        (query.aliases, query.registrationIDs) = (some(["u1", "u2", "u3"]), some(["r1", "r2", "191"]))
        query.columns.rows = Bool.random(using: &random) ? .newest : .merge
        query.everyone = Int.random(in: 0..<8, using: &random) == 0
        query.aliasLimit = Int.random(in: 1...6, using: &random)
        (query.excludedTags, query.excludedAliases) = (some(["beta", "Daily"]), some(["u3", "u4"]))
        query.excludedRegistrationIDs = some(["r1"])
        let operators = ComparisonOperator.allCases
        let tests: [ColumnCondition] = [
            condition("language", .oneOf(["en", "zh-hans", "de"])),
            condition("last_active", .within(seconds: 30 * 86400)),
            condition("last_active", .olderThan(seconds: 86400)), condition("first_name", .present),
            condition("first_name", .missing),
            condition(
                "app_version",
                .comparison(
                    operators[Int.random(in: 0..<6, using: &random)], Self.versions.randomElement(using: &random) ?? "3"
                )),
            condition("last_active", .comparison(operators[Int.random(in: 0..<6, using: &random)], "2026-11-01")),
            condition("app_version", .oneOf(["3.2", "v3.10.0", "4"])),
        ]
        query.conditions = tests.filter { _ in Int.random(in: 0..<7, using: &random) == 0 }
        var result = OracleQuery(query)
        if Bool.random(using: &random) {
            result.query.excludedDevices = [excludedList]
            result.excludedEntries = listed
        }
        if Bool.random(using: &random) { result.suppress(Self.suppressed(&random)) }
        result.chunkSize = [7, 64, 1000, 256 << 10].randomElement(using: &random) ?? 64
        return result
    }
}
