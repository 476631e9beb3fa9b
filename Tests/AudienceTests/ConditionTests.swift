import Base
import TestSupport
import Testing

@testable import Audience

@Suite struct ConditionTests {
    private func holds(_ test: ColumnTest, _ cell: String, ignoresCase: Bool = false) -> Bool {
        var cell = cell
        return cell.withUTF8 { ConditionTest(test, now: noon, ignoresCase: ignoresCase).holds($0) }
    }

    @Test(
        "signs that programs export for nothing are missing, and no value; other texts are there",
        arguments: [
            ("NULL", true), ("null", true), (#"\N"#, true), ("N/A", true), ("n/a", true), ("#N/A", true), ("-", true), ("–", true),
            ("\u{200B}", true), ("Null", false), ("NA", false), ("--", false), ("-5", false), ("0", false),
        ])
    func signsForNothing(cell: String, isBlank: Bool) {
        #expect(holds(.missing, cell) == isBlank)
        #expect(holds(.present, cell) != isBlank)
        #expect(holds(.oneOf([cell]), cell) != isBlank)
    }

    @Test(
        "a cell that is no version or date satisfies no comparison with one but !=",
        arguments: [("3.2.x", "3.2"), ("unknown", "3.2.0"), ("x/y", "9"), ("never", "2026-01-01"), ("soon", "2026-01-01 10:00")])
    func unreadableCells(cell: String, right: String) {
        for comparison in ComparisonOperator.allCases {
            #expect(holds(.comparison(comparison, right), cell) == (comparison == .notEqual), "\(cell) \(comparison.rawValue) \(right)")
        }
    }

    @Test("a date without a time is as old as its day")
    func wholeDays() {
        let today = noon.epochSeconds / 86_400 * 86_400
        let date = String(Timestamp(epochSeconds: today - 30 * 86_400).description.prefix(10))
        #expect(holds(.within(seconds: 30 * 86_400), date))
        #expect(!holds(.olderThan(seconds: 30 * 86_400), date))
        let before = String(Timestamp(epochSeconds: today - 31 * 86_400).description.prefix(10))
        #expect(!holds(.within(seconds: 30 * 86_400), before))
        #expect(holds(.olderThan(seconds: 30 * 86_400), before))
    }

    @Test(
        "versions compare number by number, dates as dates, everything else as text",
        arguments: [
            ("3.10", ">", "3.9"), ("3.2", "==", "3.2.0"), ("v3.2.1", ">", "3.2"), ("3.2.0-beta", "<", "3.2.0"),
            ("3.2.0-beta", "<", "3.2.0-rc"),
            ("10", ">", "9"), ("4.0.0", ">=", "3.99.99"), ("007", "==", "7"), ("2.0", "!=", "2.0.1"), ("18446744073709551617", ">", "2"),
            ("2026-11-01", "<", "2026-11-01T00:00:01Z"), ("2026-11-01T08:00:00+08:00", "==", "2026-11-01"),
            ("2026-02-10", ">", "2026-01-20 10:00"),
            ("1795176000", "==", "2026-11-20T12:00:00Z"), ("beta", "<", "gamma"), ("Zoë", ">", "Zob"),
            ("3.", "!=", "3"),
            ("v", "!=", "0"), ("..", "!=", "0"), ("3-", "!=", "3"),
        ])
    func comparisons(left: String, symbol: String, right: String) throws {
        let comparison = try #require(ComparisonOperator(rawValue: symbol))
        #expect(holds(.comparison(comparison, right), left))
        let opposites: [ComparisonOperator: ComparisonOperator] = [
            .less: .greaterOrEqual, .lessOrEqual: .greater, .equal: .notEqual, .notEqual: .equal, .greaterOrEqual: .less,
            .greater: .lessOrEqual,
        ]
        #expect(!holds(.comparison(try #require(opposites[comparison]), right), left))
    }

    @Test("values are compared to the letter; only languages ignore capitals")
    func values() {
        #expect(holds(.oneOf(["en", "de"]), "de") && !holds(.oneOf(["en"]), "EN") && !holds(.oneOf(["en"]), "en-US"))
        #expect(holds(.oneOf(["zh-hans"]), "zh-Hans", ignoresCase: true))
        #expect(holds(.comparison(.equal, "EN"), "en", ignoresCase: true) && !holds(.comparison(.equal, "EN"), "en"))
        #expect(!holds(.oneOf(["3.2.0"]), "3.2"))
    }

    @Test("within and older than split the past at one moment; the future is within")
    func ages() {
        let day = 86400
        #expect(holds(.within(seconds: 30 * day), "2026-10-21T12:00:00Z") && !holds(.within(seconds: 30 * day), "2026-10-21T11:59:59Z"))
        #expect(
            !holds(.olderThan(seconds: 30 * day), "2026-10-21T12:00:00Z") && holds(.olderThan(seconds: 30 * day), "2026-10-21T11:59:59Z"))
        #expect(
            holds(.within(seconds: day), "2026-12-24") && !holds(.within(seconds: day), "soon") && !holds(.olderThan(seconds: day), "soon"))
    }

    @Test("a blank cell satisfies nothing but missing")
    func blank() {
        let tests: [ColumnTest] = [
            .oneOf([""]), .comparison(.notEqual, "x"), .comparison(.less, "9"), .within(seconds: 9), .olderThan(seconds: 9), .present,
        ]
        for test in tests { #expect(!holds(test, ""), "\(test)") }
        #expect(holds(.missing, "") && !holds(.missing, "x") && holds(.present, "x"))
    }

    @Test("all conditions must hold, on columns by header or standard name, and blank means white space too")
    func conditionsOnRows() throws {
        let folder = TemporaryFolder()
        let position = SourcePosition(file: "volley.yaml", line: 1, column: 1)
        let columns = ExportColumns(names: [.language: SourceText("lang", at: position)])
        let path = folder.file(
            "a.csv",
            "registration_id,token,lang,city\nr1,\(token(1)),EN,Berlin\nr2,\(token(2)),en,\nr3,\(token(3)),de,Berlin\nr4,\(token(4)),en,\" \n\"\n"
        )
        let query = AudienceQuery(path, columns: columns).with {
            $0.everyone = true
            $0.conditions = [condition("language", .oneOf(["en"])), condition("city", .missing)]
        }
        #expect(try query.run().sink.ids == ["r2", "r4"])
        #expect(
            try query.with { $0.conditions = [condition("lang", .oneOf(["en"])), condition("city", .present)] }.run().sink.ids == ["r1"])
    }

    @Test("a condition that no selected row satisfies is worth a warning at its place, even behind another one")
    func unsatisfied() throws {
        let folder = TemporaryFolder()
        let path = folder.file("a.csv", "token,city,shop\n\(token(1)),Berlin,x\n\(token(2)),Lyon,y\n")
        let query = AudienceQuery(path).with {
            $0.everyone = true
            $0.conditions = [condition("city", .oneOf(["berlin"])), condition("shop", .oneOf(["x"])), condition("shop", .oneOf(["z"]))]
            $0.conditions[0].column.position.line = 4
        }
        let warnings = try query.run().result.warnings
        #expect(warnings.map(\.position?.line) == [4, 7])
        #expect(warnings.allSatisfy { $0.severity == .warning })
    }

    @Test("tags given as a list can be compared as the text that a CSV would hold")
    func listColumn() throws {
        let folder = TemporaryFolder()
        let path = folder.file("a.jsonl", "{\"token\":\"\(token(1))\",\"tags\":[\"a\",\"b\"]}")
        let query = AudienceQuery(path).with {
            ($0.everyone, $0.fields) = (true, [place("tags")])
            $0.conditions = [condition("tags", .oneOf(["a;b"]))]
        }
        #expect(try query.run().sink.recipients.map(\.fields) == [["a;b"]])
    }

    @Test("dates read as Base reads them, quick way or not")
    func dates() {
        var random = SeededRandom(3)
        let digits = Array("0123456789".utf8)
        var texts = ["", "2026-02-30", "2024-02-29", "2026-11-01", "2026-11-01T25:00:00Z", "2026-11-01T09:30:15", "2026-11-01 09:30:15Z"]
        texts += [
            "2026-11-01T09:30:60Z", "2026-00-01", "2026-13-01", "1795176000", "1795176000123", "2026-11-01T09:30:15X", "20261101",
            "2026-11-1x",
        ]
        for _ in 0..<400 {
            var bytes = Array("2026-11-21T09:30:15Z".utf8)
            for _ in 0..<2 { bytes[Int.random(in: 0..<bytes.count, using: &random)] = digits.randomElement(using: &random) ?? 0 }
            texts.append(String(decoding: bytes, as: UTF8.self))
            texts.append(String(decoding: bytes.prefix(10), as: UTF8.self))
        }
        // Every sign at every place.
        for length in [10, 19, 20] {
            for place in 0..<length {
                for sign in UInt8(1)..<128 {
                    var bytes = Array("2026-11-21T09:30:15Z".utf8.prefix(length))
                    bytes[place] = sign
                    texts.append(String(decoding: bytes, as: UTF8.self))
                }
            }
        }
        for year in [1970, 1999, 2000, 2024, 2026, 2100] {
            for month in 1...12 { for day in 0...32 { texts.append("\(year)-\(Self.two(month))-\(Self.two(day))") } }
        }
        for text in texts {
            var copy = text
            #expect(copy.withUTF8(dateMilliseconds) == Timestamp(text)?.epochMilliseconds, "\(text)")
        }
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
