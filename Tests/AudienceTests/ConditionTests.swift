import Base
import TestSupport
import Testing

@testable import Audience

@Suite struct ConditionTests {
    private let folder = TemporaryFolder()

    private func answer(_ test: ColumnTest, _ cell: String, in column: String = "x", isLanguage: Bool = false)
        -> ConditionTest.Answer
    {
        var (cell, value) = (cell, 0)
        return cell.withUTF8 {
            ConditionTest(condition(column, test), now: noon, isLanguage: isLanguage).answer($0, value: &value)
        }
    }

    private func holds(_ test: ColumnTest, _ cell: String, in column: String = "x", isLanguage: Bool = false) -> Bool {
        answer(test, cell, in: column, isLanguage: isLanguage) == .yes
    }

    @Test(
        "signs that programs export for nothing are missing, and no value; other texts are there",
        arguments: [
            ("NULL", true), ("null", true), (#"\N"#, true), ("N/A", true), ("n/a", true), ("#N/A", true), ("-", true),
            ("–", true),
            ("NaN", true), ("nan", true), ("None", true), ("undefined", true), ("(null)", true), ("[NULL]", true),
            ("<null>", true),
            ("#NAME?", true), ("#REF!", true), ("--", true), ("Nan", false), ("none", false), ("undef", false),
            ("[x]", false),
            ("\u{200B}", true), ("Null", false), ("NA", false), ("-5", false), ("0", false),
        ])
    func signsForNothing(cell: String, isBlank: Bool) {
        #expect(holds(.missing, cell) == isBlank)
        #expect(holds(.present, cell) != isBlank)
        #expect(holds(.oneOf([cell]), cell) != isBlank)
    }

    @Test(
        "a cell that is no number, version or date satisfies no comparison with one but !=, and is no silent no",
        arguments: [
            ("3.2.x", "3.2.0"), ("unknown", "3.2.0"), ("x/y", "9"), ("never", "2026-01-01"),
            ("soon", "2026-01-01 10:00"), ("3.2.0", "3.2"),
            ("1,5", "1"), ("2026-11-01", "3.2.0"), ("2026-11-01", "5"), ("01.11.2026", "2026-01-01"), ("10 EUR", "5"),
            ("..", "5"),
            ("v", "v2"),
        ])
    func unreadableCells(cell: String, right: String) {
        for comparison in ComparisonOperator.allCases {
            let expected: ConditionTest.Answer = comparison == .notEqual ? .unlike : .unreadable
            #expect(answer(.comparison(comparison, right), cell) == expected, "\(cell) \(comparison.rawValue) \(right)")
        }
        #expect(
            answer(.within(seconds: 9), "soon") == .unreadable
                && answer(.olderThan(seconds: 9), "01.11.2026") == .unreadable)
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
        "numbers compare as numbers, versions number by number, dates as dates, everything else as text",
        arguments: [
            ("10.25", "<", "10.5"), ("-5", "<", "0"), ("-3.5", "<", "-3"), ("+7", "==", "7.0"), ("007", "==", "7"),
            ("10", ">", "9"),
            ("18446744073709551617", ">", "2"), ("0.1", ">", "-0.1"), ("3.20", "==", "3.2"),
            ("3.10", ">", "3.9.0"), ("3.2", "==", "3.2.0"), ("v3.2.1", ">", "v3.2"), ("3.2.0-beta", "<", "3.2.0"),
            ("3.2.0-beta", "<", "3.2.0-rc"), ("4.0.0", ">=", "3.99.99"), ("2.0", "!=", "2.0.1"),
            ("3.2-beta", "<", "3.2-rc"),
            ("2026-11-01", "<", "2026-11-01T00:00:01Z"), ("2026-11-01T08:00:00+08:00", "==", "2026-11-01"),
            ("2026-02-10", ">", "2026-01-20 10:00"), ("1795176000", "==", "2026-11-20T12:00:00Z"),
            ("beta", "<", "gamma"),
            ("Zoë", ">", "Zob"),
        ])
    func comparisons(left: String, symbol: String, right: String) throws { try compare(left, symbol, right, "x") }

    @Test(
        "in a column that is called a version, and in one of dates, that is what values are",
        arguments: [
            ("app_version", "3.10", ">", "3.9"), ("appVersion", "3.2.1", ">", "3.2"), ("os_version", "10", ">", "9.3"),
            ("last_active", "2026-11-02", ">", "20261101"), ("x", "20261102", ">", "20261101"),
        ])
    func columns(column: String, left: String, symbol: String, right: String) throws {
        try compare(left, symbol, right, column)
    }

    private func compare(_ left: String, _ symbol: String, _ right: String, _ column: String) throws {
        let comparison = try #require(ComparisonOperator(rawValue: symbol))
        #expect(holds(.comparison(comparison, right), left, in: column))
        let opposites: [ComparisonOperator: ComparisonOperator] = [
            .less: .greaterOrEqual, .lessOrEqual: .greater, .equal: .notEqual, .notEqual: .equal,
            .greaterOrEqual: .less,
            .greater: .lessOrEqual,
        ]
        #expect(answer(.comparison(try #require(opposites[comparison]), right), left, in: column) == .no)
    }

    @Test("values are compared to the letter; languages hold for their regions and scripts")
    func values() {
        #expect(holds(.oneOf(["en", "de"]), "de") && !holds(.oneOf(["en"]), "EN") && !holds(.oneOf(["en"]), "en-US"))
        for (value, cell, column) in [
            ("1000", "1000.0", "points"), ("1000", "+1000", "x"), ("1.5", "1.50", "x"), ("3.2.0", "3.2", "x"),
            ("3.2.0", "v3.2.0", "x"),
            ("3.2", "3.2.0", "app_version"), ("2026-11-01", "2026-11-01T00:00:00Z", "x"),
        ] { #expect(holds(.oneOf([value]), cell, in: column) == (cell != "+1000"), "\(value) \(cell)") }
        // Post codes and telephone numbers are not numbers.
        for (value, cell) in [
            ("01067", "1067"), ("1067", "01067"), ("1000", "1,000"), ("1000", "1.000"), ("3.2", "3.2.0"),
            ("3.2.0", "3.2.1"),
        ] {
            #expect(answer(.oneOf([value]), cell) == .no, "\(value) \(cell)")
        }
        for (value, tag) in [
            ("en", "en-US"), ("de", "de_DE"), ("DE", "de"), ("zh-hans", "zh-Hans"), ("zh-Hant", "zh-TW"), ("he", "iw"),
            ("pt_BR", "pt-BR"),
        ] {
            #expect(holds(.oneOf(["fr", value]), tag, isLanguage: true), "\(value) \(tag)")
            #expect(
                holds(.comparison(.equal, value), tag, isLanguage: true)
                    && !holds(.comparison(.notEqual, value), tag, isLanguage: true))
        }
        #expect(
            answer(.oneOf(["en-US"]), "en", isLanguage: true) == .no
                && answer(.oneOf(["en"]), "English!", isLanguage: true) == .unreadable)
    }

    @Test("true and false hold for what exports write instead, in any case")
    func truth() {
        for cell in ["true", "TRUE", "yes", "Y", "t", "on", "1"] {
            #expect(holds(.oneOf(["true"]), cell) && answer(.oneOf(["False"]), cell) == .no, "\(cell)")
        }
        for cell in ["false", "No", "n", "F", "off", "0"] {
            #expect(holds(.oneOf(["false"]), cell) && !holds(.oneOf(["true"]), cell), "\(cell)")
        }
        #expect(answer(.oneOf(["true"]), "maybe") == .unreadable && answer(.oneOf(["true", "maybe"]), "maybe") == .yes)
        #expect(answer(.oneOf(["yes"]), "true") == .no && answer(.oneOf(["1"]), "yes") == .no)
        for cell in ["true", "TRUE", "1", "Y"] {
            #expect(
                holds(.comparison(.equal, "true"), cell) && answer(.comparison(.notEqual, "true"), cell) == .no,
                "\(cell)")
            #expect(
                holds(.comparison(.notEqual, "False"), cell) && answer(.comparison(.equal, "false"), cell) == .no,
                "\(cell)")
        }
        for comparison in [ComparisonOperator.equal, .notEqual] {
            #expect(
                answer(.comparison(comparison, "true"), "WAHR") == .unreadable
                    && !holds(.comparison(comparison, "true"), ""))
        }
    }

    @Test("within and older than split the past at one moment; what is more than a day ahead is neither")
    func ages() {
        let day = 86400
        #expect(
            holds(.within(seconds: 30 * day), "2026-10-21T12:00:00Z")
                && !holds(.within(seconds: 30 * day), "2026-10-21T11:59:59Z"))
        #expect(
            !holds(.olderThan(seconds: 30 * day), "2026-10-21T12:00:00Z")
                && holds(.olderThan(seconds: 30 * day), "2026-10-21T11:59:59Z"))
        #expect(
            holds(.within(seconds: day), "2026-11-21T12:00:00Z")
                && answer(.within(seconds: day), "2026-11-21T12:00:01Z") == .unreadable
                && answer(.within(seconds: day), "2569-11-22") == .unreadable
                && answer(.olderThan(seconds: day), "2569-11-22") == .no
                && !holds(.within(seconds: day), "soon") && !holds(.olderThan(seconds: day), "soon"))
    }

    @Test("a blank cell satisfies nothing but missing")
    func blank() {
        let tests: [ColumnTest] = [
            .oneOf([""]), .comparison(.notEqual, "x"), .comparison(.less, "9"), .within(seconds: 9),
            .olderThan(seconds: 9), .present,
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
            try query.with { $0.conditions = [condition("lang", .oneOf(["en"])), condition("city", .present)] }.run()
                .sink.ids == ["r1"])
    }

    @Test("a condition that no selected row satisfies is worth a warning at its place, even behind another one")
    func unsatisfied() throws {
        let folder = TemporaryFolder()
        let path = folder.file("a.csv", "token,city,shop\n\(token(1)),Berlin,x\n\(token(2)),Lyon,y\n")
        let query = AudienceQuery(path).with {
            $0.everyone = true
            $0.conditions = [
                condition("city", .oneOf(["berlin"])), condition("shop", .oneOf(["x"])),
                condition("shop", .oneOf(["z"])),
            ]
            $0.conditions[0].column.position.line = 4
        }
        let warnings = try query.run().result.warnings
        #expect(warnings.map(\.position?.line) == [4, 7])
        #expect(warnings.allSatisfy { $0.severity == .warning })
    }

    @Test("tags are no column of where, whatever the export calls them")
    func tagsColumn() {
        let columns = ExportColumns(names: [.tags: place("interests")])
        let path = folder.file("a.csv", "token,interests\n\(token(1)),a;b\n")
        let query = AudienceQuery(path, columns: columns).with {
            ($0.everyone, $0.conditions) = (true, [condition("interests", .oneOf(["a"]))])
        }
        #expect(
            query.mistakes().first?.message
                == "'where' compares whole cells, and a cell of 'interests' can hold several tags")
    }

    @Test("cells that cannot be compared are counted and shown, once their row came so far")
    func unreadable() throws {
        let rows = ["1,x", "abc,x", "\"12,5\",x", "n/a,x", "-,x", "7,x", "zzz,y", ",x"].enumerated().map {
            "\(token($0.offset + 1)),\($0.element)\n"
        }
        let query = AudienceQuery(folder.file("a.csv", "token,points,shop\n" + rows.joined())).with {
            $0.everyone = true
            $0.conditions = [condition("shop", .oneOf(["x"])), condition("points", .comparison(.greaterOrEqual, "1"))]
        }
        let result = try query.run(chunkSize: 64).result
        #expect(result.audience == 2 && result.skipped[.filtered] == 6)
        #expect(result.conditions.map(\.holdingRows) == [7, 2])
        #expect(result.conditions.map(\.rows) == [8, 7] && result.conditions.map(\.unreadableRows) == [0, 2])
        #expect(
            result.warnings.map(\.message) == [
                "in 'points' 2 rows hold something other than a number, so they cannot meet the condition: 'abc', '12,5'"
            ])
        #expect(result.warnings.map(\.name) == [.cellsNotCompared])
    }

    @Test("values of a list that no row has are warned of one by one, with the nearest")
    func unseenValues() throws {
        let rows = ["Berlin", "Lyon", "Paris"].enumerated().map { "\(token($0.offset + 1)),\($0.element),en-US\n" }
        let query = AudienceQuery(folder.file("a.csv", "token,city,language\n" + rows.joined())).with {
            $0.everyone = true
            $0.conditions = [
                condition("city", .oneOf(["Berlin", "lion", "Rome"])),
                condition("language", .oneOf(["en", "de", "en-US"])),
            ]
        }
        let result = try query.run().result
        let said: [String] = result.warnings.map { warning in
            warning.description.split(separator: ": ", maxSplits: 2).last.map { String($0) } ?? ""
        }
        #expect(
            said == [
                "no selected device has 'lion' in 'city'. Did you mean 'Lyon'? [value-not-found]",
                "no selected device has 'Rome' in 'city'. Other cells are, for example, 'Lyon', 'Paris'. [value-not-found]",
                "no selected device has 'de' in 'language' [value-not-found]",
            ], "\(result.warnings)")
    }

    private func warnings(_ cells: [String], _ test: ColumnTest, column: String = "level") throws -> [String] {
        let rows = cells.enumerated().map { "\(token($0.offset + 1)),\"\($0.element)\"\n" }
        let query = AudienceQuery(folder.file("w.csv", "token,\(column)\n" + rows.joined())).with {
            ($0.everyone, $0.conditions) = (true, [condition(column, test)])
        }
        return try query.run().result.warnings.map { "\($0.name?.rawValue ?? ""): \($0.message)|\($0.remedy ?? "")" }
    }

    @Test("what `!=` compares with and no row has is warned of, unless it is a number or a truth value")
    func unseenOperands() throws {
        #expect(
            try warnings(["gold", "silver"], .comparison(.notEqual, "godl")) == [
                "value-not-found: no selected device has 'godl' in 'level', so the condition leaves no device out|Did you mean 'gold'?"
            ])
        #expect(try warnings(["gold", "silver"], .comparison(.notEqual, "gold")).isEmpty)
        #expect(try warnings(["1", "2"], .comparison(.notEqual, "0")).isEmpty)
        #expect(try warnings(["no", "false"], .comparison(.notEqual, "true")).isEmpty)
    }

    @Test(
        "what is proposed for a value that is a month, a year or a range is accepted, and compares with what the cells are",
        arguments: [
            "2026-11", "11-2026", "2026/11", "11/2026", "Nov 2026", "2026", "3-5", "1.5-2", "5-3", "10:00-12:00", "Q1",
            "2026-11 to 2026-12",
            "between 3 and 5", "from 2026-11-01", "from 2026-11", "over 50", "50+", "1.5+", "2026-11-01..2026-11-05",
        ])
    func proposedComparisons(_ value: String) throws {
        let cells = ["last_active": "2026-01-05", "born": "1990-05-01", "price": "7", "app_version": "3.2.0"]
        for (column, cell) in cells {
            let said = try warnings([cell, cell], .oneOf([value]), column: column).joined()
            for match in said.matches(of: /"([<>=]+) ([^"]+)"/) {
                let (sign, operand) = (String(match.output.1), String(match.output.2))
                let comparison = try #require(ComparisonOperator(rawValue: sign), "\(said)")
                #expect(OperandRule.accepts(comparison, operand, column: column), "\(said)")
                let kind = ComparisonValue(operand, column: column).kind
                if ["last_active", "born"].contains(column) { #expect(kind == .date, "\(said)") }
            }
        }
        let month = "A column takes only one condition: write born: \">= 2026-11-01\" or born: \"< 2026-12-01\"."
        if ["2026-11", "11-2026", "2026/11", "11/2026", "Nov 2026"].contains(value) {
            #expect(try warnings(["1990-05-01"], .oneOf([value]), column: "born").joined().contains(month))
        }
        if value == "1.5-2" {
            #expect(
                try warnings(["7"], .oneOf([value]), column: "price").joined().contains(
                    "price: \">= 1.5\" or price: \"<= 2\""))
        }
    }

    @Test("cells that mean the operand of `==` and `!=`, or a value, and are written otherwise, are shown")
    func spellings() throws {
        for test in [ColumnTest.comparison(.notEqual, "gold"), .comparison(.equal, "gold"), .oneOf(["gold"])] {
            let found = try warnings(["gold", "Gold", "GOLD", "silver"], test)
            #expect(
                found.count == 1
                    && found[0].hasPrefix(
                        "tag-spelling: cells of 'level' hold 'Gold', 'GOLD', which do not count as 'gold'"),
                "\(found)")
        }
        let form = try warnings(["\u{130}zmir", "I\u{307}zmir"], .oneOf(["\u{130}zmir"]))
        #expect(form.count == 1 && form[0].contains("NFC and NFD"), "\(form)")
        let alone = try warnings(["I\u{307}zmir"], .oneOf(["\u{130}zmir"]))
        #expect(
            alone.count == 1 && alone[0].contains("A cell looks the same apart from the form of its letters"),
            "\(alone)")
        let groups = try warnings(["1000", "1,000", "1.000"], .oneOf(["1000"]))
        #expect(
            groups.count == 1 && groups[0].contains("'1,000', '1.000'") && groups[0].contains("without groups"),
            "\(groups)")
        let languages = try warnings(
            ["zh-CN", "zh-Hans-CN", "zh-Hans", "zh-TW", "en"], .oneOf(["zh-CN"]), column: "language")
        #expect(
            languages.count == 1 && languages[0].contains("'zh-Hans-CN', 'zh-Hans', which do not count as 'zh-CN'"),
            "\(languages)")
    }

    @Test(
        "several languages in one text are answered with a list", arguments: ["de, en", "de en", "de fr", "de and en"])
    func severalLanguages(_ text: String) throws {
        let parts = text.replacing("and", with: "").split { ", ".contains($0) }.joined(separator: ", ")
        #expect(
            try warnings(["de", "en"], .oneOf([text]), column: "language").joined().contains("language: [\(parts)]"))
    }

    @Test("cells that `!=` cannot compare pass, and are counted; moments that lie ahead are named")
    func counted() throws {
        #expect(
            try warnings(["0", "5", "0,0"], .comparison(.notEqual, "0")).map { $0.prefix { $0 != "|" } } == [
                "cells-not-compared: in 'level' 1 row holds something other than a number, which counts as different from it: '0,0'"
            ])
        let ahead = try warnings(["2026-11-19", "2569-11-22"], .within(seconds: 86_400 * 30))
        #expect(
            ahead.map { $0.prefix { $0 != "|" } } == [
                "cells-not-compared: in 'level' 1 row holds something other than a date in the past, so they cannot meet the condition: '2569-11-22'"
            ], "\(ahead)")
        let years = try warnings(["1990-12-01"], .comparison(.less, "1990"))
        #expect(
            years.count == 1 && years[0].hasSuffix("If you mean dates, write a full date: \"< 1990-01-01\"."),
            "\(years)")
        let version = try warnings(["3.2.0", "3.9"], .oneOf(["3.x"]), column: "app_version")
        #expect(
            version.count == 1
                && version[0].hasSuffix("For a version and all later ones, write app_version: \">= 3\"."), "\(version)")
        let list = try warnings(["Lyon", "Berlin", "Paris"], .oneOf(["!= Lyon", "!= Berlin"]))
        #expect(list.count == 1 && list[0].hasSuffix("List the values that you mean: level: [Paris, …]."), "\(list)")
    }

    @Test("dates read as Base reads them, quick way or not")
    func dates() {
        var random = SeededRandom(3)
        let digits = Array("0123456789".utf8)
        var texts = [
            "", "2026-02-30", "2024-02-29", "2026-11-01", "2026-11-01T25:00:00Z", "2026-11-01T09:30:15",
            "2026-11-01 09:30:15Z",
        ]
        texts += [
            "2026-11-01T09:30:60Z", "2026-00-01", "2026-13-01", "1795176000", "1795176000123", "2026-11-01T09:30:15X",
            "20261101",
            "2026-11-1x",
        ]
        for _ in 0..<400 {
            var bytes = Array("2026-11-21T09:30:15Z".utf8)
            for _ in 0..<2 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = digits.randomElement(using: &random) ?? 0
            }
            texts.append(String(decoding: bytes, as: UTF8.self))
            texts.append(String(decoding: bytes.prefix(10), as: UTF8.self))
        }
        // Every character at every place.
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
