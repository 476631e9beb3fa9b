import Base
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Audience

private let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
private let oracleScript = root + "/Tests/Fixtures/audience_oracle.py"
private let isOracleAvailable = access(oracleScript, R_OK) == 0 && system("python3 -c '' 2>/dev/null") == 0
private let missingOracle: Comment = "python3 or Tests/Fixtures/audience_oracle.py is missing"

/// The rules, written a second time in Python, must give the same counts.
@Suite struct OracleTests {
    @Test(
        "the sample export gives the counts that the rules give when written a second time",
        .enabled(if: isOracleAvailable, missingOracle))
    func sampleExport() throws {
        let files = [root + "/campaigns/exports/devices.csv", root + "/campaigns/exports/devices.jsonl"]
        let queries = files.map(sampleQueries)
        // Without optimisation, a scan of the sample takes a while: each file gets half of the
        // queries.
        try compare(Array(queries[0][...1]) + Array(queries[1][2...3]))
    }

    /// How many exports are compared: `VOLLEY_EXPORTS`.
    private static let exports = ProcessInfo.processInfo.environment["VOLLEY_EXPORTS"].flatMap { Int($0) } ?? 40

    /// In parts that run in parallel; `make oracle` compares whole commands.
    @Test(
        "random dirty exports give the counts that the rules give when written a second time",
        .enabled(if: isOracleAvailable, missingOracle), arguments: 0..<4)
    func dirtyExports(part: Int) throws {
        let folder = TemporaryFolder()
        let queries = (part * Self.exports / 4..<(part + 1) * Self.exports / 4).map { seed in
            var random = SeededRandom(UInt64(seed))
            let export = DirtyExport(random: &random)
            let files = export.files(in: folder, named: "\(seed)", &random)
            return export.query(
                files: files, excludedList: folder.file("\(seed).txt", export.excludedList(&random)), &random)
        }
        try compare(queries)
    }

    private func sampleQueries(_ file: String) -> [OracleQuery] {
        var spring = OracleQuery(AudienceQuery(file))
        spring.query.anyTags = ["discount", "daily"]
        spring.query.aliases = ["user42", "user77", "user2000", "家庭"]
        spring.query.registrationIDs = ["191e35f7e07"]
        spring.query.excludedTags = ["unsubscribed"]
        spring.query.excludedAliases = ["user13"]
        var german = spring
        german.query.conditions = [
            condition("language", .oneOf(["de", "EN"])),
            condition("app_version", .comparison(.greaterOrEqual, "3.2.0")),
            condition("last_active", .within(seconds: 30 * 86400)),
        ]
        var aliases = OracleQuery(AudienceQuery(file))
        aliases.query.aliases = ["user42", "user100", "user2000", "user300", "user77"]
        aliases.query.registrationIDs = ["191e35f7e07", "191e35f7e08"]
        var everyone = OracleQuery(AudienceQuery(file))
        everyone.query.everyone = true
        everyone.query.conditions = [
            condition("store", .present), condition("last_active", .olderThan(seconds: 90 * 86400)),
        ]
        return [german, spring, aliases, everyone]
    }

    /// Runs all queries on both sides.
    private func compare(_ queries: [OracleQuery]) throws {
        let folder = TemporaryFolder()
        let answers = try oracle(folder.file("queries.json", JSONValue.array(queries.map(\.json)).text))
        try #require(answers.count == queries.count)
        for (query, expected) in zip(queries, answers) {
            let (result, sink) = try query.query.run(chunkSize: query.chunkSize)
            let comment = Comment(rawValue: query.json.text)
            #expect(result.isBalanced, comment)
            #expect(result.rows == counts(expected)["rows"], comment)
            #expect(result.audience == counts(expected)["audience"], comment)
            #expect(sink.recipients.count == result.audience, comment)
            let skipped = Dictionary(uniqueKeysWithValues: result.skipped.map { ($0.key.rawValue, $0.value) })
            #expect(skipped == counts(expected["skipped"]), comment)
            #expect(result.selectors.filter { $0.value > 0 } == counts(expected["selected_by"]), comment)
            #expect(result.languages == counts(expected["languages"]), comment)
            #expect(sink.recipients.map(\.summary).sorted() == texts(expected["recipients"]).sorted(), comment)
        }
    }

    private func oracle(_ queries: String) throws -> [JSONValue] {
        let process = try #require(popen("python3 '\(oracleScript)' '\(queries)'", "r"))
        defer { pclose(process) }
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&chunk, 1, chunk.count, process), count > 0 { output += chunk[..<count] }
        guard case .array(let answers) = try JSONValue(parsing: output) else { return [] }
        return answers
    }

    private func texts(_ value: JSONValue?) -> [String] {
        guard case .array(let texts) = value else { return [] }
        return texts.compactMap(\.stringValue)
    }

    private func counts(_ value: JSONValue?) -> [String: Int] {
        guard case .object(let members) = value else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: members.compactMap { member in
                member.value.integerValue.map { (member.name, Int($0)) }
            })
    }
}

/// A query for both sides.
struct OracleQuery {
    var query: AudienceQuery
    /// The contents of the lists of excluded devices.
    var excludedEntries: [String] = []
    var chunkSize = 256 << 10
    private var suppressed: [(token: String, since: Int64)] = []

    init(_ query: AudienceQuery) { self.query = query }

    /// Tokens, possibly repeated, and since when they are invalid, in milliseconds since 1970.
    mutating func suppress(_ devices: [(token: String, since: Int64)]) {
        suppressed = devices
        query.suppressed = SuppressedDevices(capacity: devices.count) { insert in
            for (token, since) in devices {
                Array(token.utf8).withUnsafeBufferPointer { insert($0, Timestamp(epochMilliseconds: since)) }
            }
        }
    }

    var json: JSONValue {
        func list(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }
        return .object(pairs: [
            ("files", list(query.files)), ("separator", .string(query.columns.tagSeparator)),
            ("rows", .string(query.columns.rows.rawValue)), ("any", list(query.anyTags)),
            ("all", list(query.allTags)), ("none", list(query.noneTags)), ("aliases", list(query.aliases)),
            ("registration_ids", list(query.registrationIDs)), ("everyone", .bool(query.everyone)),
            ("where", .array(query.conditions.map(json(of:)))), ("excluded_tags", list(query.excludedTags)),
            ("excluded_aliases", list(query.excludedAliases)),
            ("excluded_registration_ids", list(query.excludedRegistrationIDs)),
            ("excluded_devices", list(excludedEntries)),
            ("suppressed", .array(suppressed.map { .array([.string($0.token), .integer($0.since)]) })),
            ("alias_limit", .integer(Int64(query.aliasLimit))),
            ("now", .integer(query.now.epochMilliseconds)),
        ])
    }

    private func json(of condition: ColumnCondition) -> JSONValue {
        var pairs: [(String, JSONValue)] = [("column", .string(condition.column.value))]
        switch condition.test {
        case .oneOf(let values):
            pairs += [("kind", .string("one_of")), ("values", .array(values.map(JSONValue.string)))]
        case .comparison(let comparison, let value):
            pairs += [
                ("kind", .string("comparison")), ("operator", .string(comparison.rawValue)), ("value", .string(value)),
            ]
        case .within(let seconds): pairs += [("kind", .string("within")), ("seconds", .integer(Int64(seconds)))]
        case .olderThan(let seconds): pairs += [("kind", .string("older")), ("seconds", .integer(Int64(seconds)))]
        case .present: pairs.append(("kind", .string("present")))
        case .missing: pairs.append(("kind", .string("missing")))
        }
        return .object(pairs: pairs)
    }
}

extension Recipient {
    /// The device and its owner, in the oracle's form.
    fileprivate var summary: String { [token.text, registrationID, alias, language].joined(separator: " ") }
}
