import Base
import TestSupport
import Testing

@testable import Audience

@Suite("Why a device gets a push, or not") struct TraceTests {
    /// The verdict of a judge, by the last digit of a token.
    @Sendable private static func reason(_ token: Target) -> SkipReason? {
        switch token.text.last {
        case "1", "8": .holdout
        case "2": .renderError
        case "3": .payloadTooLarge
        default: nil
        }
    }

    @Sendable private static func judge() -> RecipientChecker {
        { record in RecipientCheck(payloadBytes: 7, reason: Recipient(record).flatMap { reason($0.token) }) }
    }

    /// Everything that a trace says about an export, row by row, counted.
    private func traced(_ query: AudienceQuery) throws -> (
        reasons: [SkipReason: Int], recipients: Set<Target>, rows: Int
    ) {
        let preparation = try ScanPreparation(query, limits: ReadingLimits())
        let plan = ScanLayout(
            query: query, files: preparation.files, selectors: CompiledSelectors(query), excluded: preparation.excluded,
            hash: preparation.hash, limits: ReadingLimits(), makeChecker: Self.judge)
        let all = try RowTracer(plan).rows(asksJudge: false, where: { _ in true }, tick: {})
        var (reasons, recipients, rows) = (
            [SkipReason.badRow: all.badRows], Set<Target>(), all.rows.count + all.badRows
        )
        for row in all.rows where row.digits == nil {
            let reason = try #require(row.ownReason)
            reasons[reason, default: 0] += 1
        }
        for token in Set(all.rows.compactMap(\.traced.token)) {
            let trace = try query.trace(TraceSubject(token.text), checking: Self.judge)
            for row in trace.rows where row.token == token {
                if let verdict = row.verdict { reasons[verdict, default: 0] += 1 } else { recipients.insert(token) }
            }
            rows += trace.rows.count { $0.token != token }
        }
        return (reasons.filter { $0.value > 0 }, recipients, rows)
    }

    @Test("of every row of dirty exports the verdict is what planning makes of it", arguments: 0..<20)
    func verdicts(seed: Int) throws {
        let folder = TemporaryFolder()
        var random = SeededRandom(UInt64(seed) + 7000)
        let export = DirtyExport(random: &random)
        let files = export.files(in: folder, named: "a", &random)
        var query = export.query(
            files: files, excludedList: folder.file("list.txt", export.excludedList(&random)), &random
        ).query
        query.maximumBadRowShare = 1
        let (result, sink) = try query.run { Self.reason($0.token) }
        let traced = try traced(query)
        #expect(traced.reasons == result.skipped)
        #expect(traced.recipients == Set(sink.recipients.map(\.token)))
        #expect(traced.rows == result.rows)
    }

    private let folder = TemporaryFolder()

    private func query() -> AudienceQuery {
        let rows = [
            "\(token(1)),r1,u1,a,en,2026-11-01,1.0", "\(token(1).uppercased()),r1,u1,b,en,2026-11-03,2.0",
            "\(token(2)),r2,u1,,de,2026-11-05,2.0", "\(token(3)),r3,u1,,de,2026-11-04,2.0",
            "\(token(4)),r4,u1,,de,2026-11-02,2.0",
            "\(token(5)),r5,u5,a;no,en,2026-11-01,2.0", ",r6,u6,a,en,2026-11-01,2.0", "what,r7,u6,a,en,2026-11-01,2.0",
            "\(token(8)),r8,u8,a,en,2026-11-01,2.0", "\(token(8)),r8,u8,no,en,2026-11-02,2.0",
            "\(token(9)),r9,,a,,2026-11-01,2.0",
        ]
        let path = folder.file(
            "devices.csv",
            "token,registration_id,alias,tags,language,last_active,app_version\n" + rows.joined(separator: "\n"))
        return AudienceQuery(path).with {
            ($0.anyTags, $0.aliases, $0.excludedTags, $0.aliasLimit) = (["a"], ["u1"], ["no"], 2)
            $0.conditions = [
                condition("app_version", .comparison(.greaterOrEqual, "2.0")),
                condition("language", .oneOf(["en", "de"])),
            ]
            $0.suppressed = SuppressedDevices(capacity: 1) { insert in
                Array(token(3).utf8).withUnsafeBufferPointer { insert($0, noon) }
            }
        }
    }

    @Test("each step is told: selectors, conditions, exclusions, tokens, newer rows, limits")
    func steps() throws {
        func trace(_ who: String) throws -> [TracedRow] { try query().trace(TraceSubject(who)).rows }
        func lines(_ rows: [TracedRow]) -> [Int] { rows.map(\.position.line) }
        let first = try trace("r1")
        #expect(
            lines(first) == [2, 3] && first.map(\.verdict) == [.duplicateToken, nil] && first[0].decidedBy?.line == 3)
        #expect(first[0].selectors == ["tag:a", "alias"] && first[1].selectors == ["alias"])
        #expect(
            first[0].failedConditions.map(\.condition.column.value) == ["app_version"]
                && first[0].failedConditions.map(\.cell) == ["1.0"])
        #expect(first[1].recipient?.token.text == token(1) && first[1].lastActive == "2026-11-03")

        // The second most recently active device of the alias is suppressed, and does not take a
        // place.
        let alias = try trace("u1")
        #expect(
            lines(alias) == [2, 3, 4, 5, 6]
                && alias.map(\.verdict) == [.duplicateToken, nil, nil, .suppressed, .aliasLimit])
        #expect(alias[3].suppressedSince == noon)
        #expect(alias[4].chosenInstead.map(\.token.text) == [token(2), token(1)])
        #expect(alias[4].chosenInstead.map(\.lastActive) == ["2026-11-05", "2026-11-03"])

        let excluded = try trace("r5")
        #expect(excluded.map(\.verdict) == [.excluded] && excluded[0].exclusions == ["tag:no"])
        #expect(try trace("u6").map(\.verdict) == [.missingToken, .badToken])
        #expect(try trace("u6").map(\.token) == [nil, nil])

        // The older row is selected, but the newest decides.
        let unsubscribed = try trace(token(8))
        #expect(unsubscribed.map(\.verdict) == [.duplicateToken, .notMatched])
        #expect(unsubscribed[1].exclusions == ["tag:no"] && unsubscribed[0].decidedBy?.line == 11)

        let unknown = try trace("r9")
        #expect(unknown.map(\.verdict) == [.filtered] && unknown[0].failedConditions.map(\.cell) == [""])
        #expect(try trace("nobody").isEmpty)
    }

    @Test("where rows are united, the newest speaks for the tags of all")
    func united() throws {
        let rows = try query().with { $0.columns.rows = .merge }.trace(TraceSubject(token(8))).rows
        #expect(rows.map(\.verdict) == [.duplicateToken, .excluded] && rows[1].selectors == ["tag:a"])
        #expect(rows[1].exclusions == ["tag:no"] && rows[1].tags == "a;no")
    }

    @Test("a subject is a token, its ends, an alias or a registration id")
    func subjects() throws {
        func lines(_ who: String) throws -> [Int] { try query().trace(TraceSubject(who)).rows.map(\.position.line) }
        #expect(try lines(" \(token(2).uppercased()) ") == [4])
        #expect(try lines("0000…0002") == [4])
        #expect(try lines("00000000...00000002") == [4])
        #expect(try lines("0000…00ff").isEmpty)
        #expect(try lines("r2") == [4] && lines("u8") == [10, 11])
        #expect(try TraceSubject(token(2)).shown == "0000…0002" && TraceSubject("user42").shown == "user42")
        for wrong in ["", "  ", "…", "12…34", "000…0002", "0000…000"] {
            #expect(throws: Diagnostic.self) { try TraceSubject(wrong) }
        }
    }

    @Test("a cell that is not a token names its row, too, and what is wrong with it is known")
    func badToken() throws {
        let odd = String(token(2).dropLast())
        let path = folder.file("bad.csv", "token,alias\n\(token(1)),u1\n\(odd),u2\n{\(token(3))},u3\n,u4\n")
        func trace(_ who: String) throws -> [TracedRow] {
            try AudienceQuery(path).with { $0.aliases = ["u1", "u2"] }.trace(TraceSubject(who)).rows
        }
        let rows = try trace(odd)
        #expect(rows.map(\.position.line) == [3] && rows.map(\.verdict) == [.badToken])
        #expect(rows[0].tokenFlaw?.shown == "0000…0000")
        #expect(rows[0].tokenFlaw?.clause == "its 63 digits are no even number: it is cut off, or one is too many")
        // Not named by the campaign either, but the owner of the row comes first.
        let copied = try trace("{\(token(3))}")
        #expect(copied.map(\.verdict) == [.badToken] && copied[0].tokenFlaw?.clause == "it is in brackets")
        #expect(try trace("u1")[0].tokenFlaw == nil && trace("u4")[0].tokenFlaw == nil)
    }

    @Test("rows of JSON are named by the line they begin on")
    func json() throws {
        let object = { (number: Int) in "{\n\"token\": \"\(token(number))\",\n \"tags\": [\"a\", \"no\"]\n}" }
        let array = folder.file("array.json", "[\n\(object(1)),\n\n\(object(2)), \(object(3))\n]")
        let lines = folder.file("lines.jsonl", "\n{\"token\": \"\(token(1))\", \"tags\": \"a\"}\n")
        func found(_ path: String, _ number: Int) throws -> [TracedRow] {
            try AudienceQuery(path).with { ($0.anyTags, $0.excludedTags) = (["a"], ["no"]) }.trace(
                TraceSubject(token(number))
            ).rows
        }
        #expect(try (1...3).map { try found(array, $0).map(\.position.line) } == [[2], [7], [10]])
        #expect(try found(array, 2)[0].exclusions == ["tag:no"] && found(array, 2)[0].verdict == .excluded)
        #expect(try found(lines, 1).map(\.position.line) == [2])
    }
}
