import Base
import Testing

@testable import Audience

@Suite("What templates compare cells with")
struct ComparisonTests {
    private let folder = TemporaryFolder()

    private func warnings(
        _ column: String, _ cells: [String], _ kinds: TemplateComparison.Kind...,
        more: (inout AudienceQuery) -> Void = { _ in }
    ) throws -> [String] {
        let rows = cells.enumerated().map { "\(token($0.offset + 1)),\"\($0.element)\"\n" }.joined()
        var query = AudienceQuery(folder.file("a.csv", "token,\(column)\n\(rows)")).with {
            ($0.everyone, $0.fields) = (true, [place(column, line: 9)])
            $0.comparisons = kinds.map { TemplateComparison(column: place(column), kind: $0) }
        }
        more(&query)
        let result = try query.run(chunkSize: 64).result
        return result.warnings.map {
            "\($0.position?.line ?? 0) \($0.name?.rawValue ?? ""): \($0.message). \($0.remedy ?? "")"
        }
    }

    @Test("cells that cannot be compared are counted and shown; blank ones count among versions only")
    func unreadable() throws {
        #expect(
            try warnings(
                "points", ["1500", "1,500", "", "1500 EUR", "1500 EUR", "-3"], .order(.greaterOrEqual, "1000")) == [
                    "7 cells-not-compared: in 'points' 3 rows hold something other than a number, so {% if points >= 1000 %} is false for them: '1,500', '1500 EUR'. Write numbers in the export as 1234.5, without units or groups."
                ])
        #expect(
            try warnings("app_version", ["3.2.0", "", "n/a", "latest"], .order(.less, "3.2.0")) == [
                "7 cells-not-compared: in 'app_version' 3 rows hold something other than a version, so {% if app_version < '3.2.0' %} is false for them: '', 'n/a', 'latest'. Write versions in the export as 3.2.0."
            ])
        #expect(
            try warnings("points", ["0,0", "1"], .order(.notEqual, "0"))[0].contains(
                "{% if points != 0 %} is true for them: '0,0'"))
        #expect(
            try warnings("member", ["TRUE", "1", "WAHR", ""], .truth(.equal, true))[0].contains(
                "1 row holds something other than true or false"))
        #expect(try warnings("points", ["1", "2.5", ""], .order(.less, "3"), .order(.equal, "7")).isEmpty)
    }

    @Test("a version or number is seen however it is written, and none is taken for one with similar letters")
    func otherForms() throws {
        #expect(try warnings("app_version", ["3.10.0", "3.9"], .text(.equal, "3.10")).isEmpty)
        #expect(try warnings("points", ["1500.50"], .text(.equal, "1500.5")).isEmpty)
        #expect(
            try warnings("app_version", ["3.1", "3.9"], .text(.equal, "3.10")) == [
                "7 value-not-found: no device of the audience has '3.10' in 'app_version'. Its cells are, for example, '3.1', '3.9'."
            ])
        #expect(try warnings("zip", ["01067", "10115"], .text(.equal, "1067"))[0].hasSuffix("Did you mean '01067'?"))
    }

    @Test("numbers that a text writes may be thousands; where a comparison says so already, once is enough")
    func writtenNumbers() throws {
        let cells = ["5", "1.000", "250"]
        #expect(try warnings("points", cells, .number)[0].contains("so '1.000' is 1 and not 1000"))
        #expect(try warnings("points", ["5", "1.5", "1.000"], .number).isEmpty)
        #expect(try warnings("points", cells, .number, .order(.less, "9")).count == 1)
    }

    @Test("cells of a column of names that are none are shown")
    func names() throws {
        let said = try warnings("first_name", ["Anna", "?", "", "Unknown", "?"])
        #expect(
            said.count == 1 && said[0].hasPrefix("9 text-not-ready:") && said[0].contains("unchanged: '?'."), "\(said)")
        #expect(try warnings("city", ["?", "Unknown"]).isEmpty)
    }

    @Test("the remedy for other spellings keeps the condition as it is")
    func remedies() throws {
        let levels = ["gold", "Gold", "silver"]
        #expect(
            try warnings("level", levels, .text(.notEqual, "gold"))[0].hasSuffix(
                "{% if level != 'gold' and level != 'Gold' %}."))
        #expect(try warnings("level", levels, .text(.equal, "gold"), .text(.equal, "Gold")).isEmpty)
        #expect(
            try warnings("member", ["true", "1", "Yes", "yes", "no"], .text(.notEqual, "yes"))[0].hasSuffix(
                "write member != true, without quotes."))
        let entangled = try warnings("level", levels) {
            $0.comparisons = [
                TemplateComparison(column: place("level"), kind: .text(.equal, "gold"), isEntangled: true)
            ]
        }
        #expect(entangled[0].contains("use {% if level == 'gold' or level == 'Gold' %} and"))
    }

    @Test("'no' where a column alone is asked for is warned of, in a column of truth values alone")
    func presence() throws {
        #expect(
            try warnings("member", ["true", "no", "No", ""], .presence)[0].contains(
                "in 'member' 2 rows hold 'no', 'No', for which"))
        #expect(try warnings("member", ["true", "false", "0", "FALSE", "1"], .presence).isEmpty)
        #expect(try warnings("name", ["Anna", "no", "On"], .presence).isEmpty)
    }

    @Test("a column of dates that is compared with a year is told so")
    func years() throws {
        let said = try warnings("birthday", ["1990-12-01"], .order(.greater, "1990"))
        #expect(said[0].hasSuffix("These are dates. Compare with a date: {% if birthday > '1990-12-31' %}."), "\(said)")
    }

    @Test("a value that no device has is warned of, with the nearest; one that others write otherwise with those")
    func values() throws {
        let levels = ["gold", "Gold", "GOLD", "silver", "gold "]
        #expect(
            try warnings("level", levels, .text(.equal, "glod")) == [
                "7 value-not-found: no device of the audience has 'glod' in 'level'. Did you mean 'gold'?"
            ])
        #expect(
            try warnings("level", levels, .text(.notEqual, "bronze")) == [
                "7 value-not-found: no device of the audience has 'bronze' in 'level'. Its cells are, for example, 'gold', 'Gold', 'GOLD'."
            ])
        #expect(
            try warnings("level", levels, .text(.equal, "gold")) == [
                "7 tag-spelling: cells of 'level' hold 'Gold', 'GOLD', which do not count as 'gold'. If it means the same, name it too: {% if level == 'gold' or level == 'Gold' or level == 'GOLD' %}."
            ])
        #expect(try warnings("level", levels, .text(.equal, "silver")).isEmpty)
        #expect(try warnings("level", ["", "NULL"], .text(.equal, "gold")).isEmpty)
    }

    @Test("languages are known with their regions, parts of cells by the letter")
    func languagesAndParts() throws {
        #expect(try warnings("language", ["de-AT", "EN"], .language(.equal, "de"), .language(.notEqual, "en")).isEmpty)
        #expect(
            try warnings("language", ["de-AT"], .language(.equal, "fr"))[0].hasPrefix(
                "7 value-not-found: no device of the audience has 'fr'"))
        #expect(try warnings("tags", ["news;vip", "daily"], .part("vip")).isEmpty)
        #expect(try warnings("tags", ["news;vip", "daily"], .part("VIP"))[0].hasSuffix("Did you mean 'vip'?"))
    }

    @Test("only what recipients have counts")
    func recipients() throws {
        let said = try warnings("level", ["gold", "silver"], .text(.equal, "gold")) {
            $0.conditions = [condition("level", .oneOf(["silver"]))]
        }
        #expect(said.map { $0.prefix(18) } == ["7 value-not-found:"])
    }

    @Test(
        "letters in the wrong encoding and HTML in columns that texts name are counted, wherever they stand among the rows"
    )
    func flaws() throws {
        let good = Array(repeating: "Zoë & Ann; AT&T", count: 40)
        #expect(
            try warnings("first_name", good + ["JÃ¼rgen", "M\u{FFFD}ller", "Zo&euml;", "JÃ¼rgen"]) == [
                "9 text-not-ready: in 'first_name' 3 rows hold letters that were read in the wrong encoding: 'JÃ¼rgen', 'M\u{FFFD}ller'. Save the export as UTF-8 again; otherwise people read these.",
                "9 text-not-ready: in 'first_name' 1 row holds HTML, which people would read unchanged: 'Zo&euml;'. Export the text itself.",
            ])
        #expect(try warnings("first_name", good + ["JOÃO", "Âge", "naïve", "Łódź", "Ñandú", "„Ö“", "ÃO", "ﬁ"]).isEmpty)
    }
}
