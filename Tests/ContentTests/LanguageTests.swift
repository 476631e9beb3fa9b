import Base
import Foundation
import Testing

@testable import Content

@Suite("The language tables")
struct LanguageTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    private static let tables = LanguageTables.shared

    private static func number(_ tag: String) -> Int? {
        var tag = tag
        return tag.withUTF8 { tables.find($0) }
    }

    /// The lines of plurals.tsv: a tag, and `number=form` for many numbers.
    private static let samples: [(tag: String, forms: [(number: String, form: String)])] = {
        guard let text = try? String(contentsOf: folder.appendingPathComponent("Fixtures/plurals.tsv"), encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").dropFirst().map { line in
            let parts = line.split(separator: "\t")
            let forms = parts[1].split(separator: " ").map { $0.split(separator: "=").map(String.init) }
            return (String(parts[0]), forms.map { ($0[0], $0[1]) })
        }
    }()

    @Test("plural forms are those that another reader of CLDR's rules finds")
    func plurals() {
        #expect(Self.samples.count >= 80)
        for (tag, forms) in Self.samples {
            guard let language = Self.number(tag) else {
                Issue.record("\(tag) is missing")
                continue
            }
            for (text, expected) in forms {
                let form = Array(text.utf8).withUnsafeBufferPointer {
                    DecimalText($0)?.pluralOperands.form(Self.tables.languages[language].pluralRule).name
                }
                #expect(form == expected, "\(tag) \(text)")
            }
        }
    }

    @Test("there are more than forty languages, each with every name")
    func names() {
        let languages = Set(Self.samples.map { $0.tag.prefix { $0 != "-" } })
        #expect(languages.count >= 60)
        #expect(Self.tables.names.allSatisfy { $0.end > $0.start })
        #expect(Self.tables.names.count == Self.tables.languages.count * LanguageTable.nameCount)
    }

    @Test("numbers and dates of each of CLDR's locales are those that another writer of them writes")
    func locales() throws {
        let text = try String(contentsOf: Self.folder.appendingPathComponent("Fixtures/locales.tsv"), encoding: .utf8)
        let lines = text.split(separator: "\n").dropFirst().map { $0.split(separator: "\t").map(String.init) }
        #expect(lines.count > 400)
        for line in lines {
            #expect(try body("{{ n | number }}", ["n": "1234567.891"], language: line[0]) == line[1], "\(line[0])")
            for (style, date) in zip(["short", "medium", "long", "full"], line[2...]) {
                #expect(
                    try body("{{ d | date: '\(style)' }}", ["d": "2026-03-05"], language: line[0]) == date,
                    "\(line[0]) \(style)")
            }
        }
    }

    @Test(
        "a device without the script in its tag, or with a region that CLDR does not list, has its nearest relative's marks",
        arguments: [
            ("es-AR", "1.234,5"), ("es-XX", "1234,5"), ("es_MX", "1,234.5"), ("pt-AO", "1\u{A0}234,5"),
            ("pt-MZ", "1234,5"),
            ("de-LI", "1’234.5"),
            ("zh-SG", "1,234.5"), ("sr-BA", "1.234,5"), ("ms-BN", "1.234,5"), ("en-ZA", "1\u{A0}234,5"),
            ("ar-DZ", "1.234,5"),
            ("en-US", "1,234.5"),
            ("pa-PK", "۱٬۲۳۴٫۵"),
        ])
    func regions(tag: String, number: String) throws {
        #expect(try body("{{ n | number }}", ["n": "1234.5"], language: tag) == number)
    }

    private func string(_ range: TextRange) -> String {
        String(decoding: Self.tables.pool[Int(range.start)..<Int(range.end)], as: UTF8.self)
    }

    /// ICU's data are from another release of CLDR, and abbreviations change: only what has long
    /// been the same is compared.
    @Test(
        "months, weekdays and decimal marks are those of ICU",
        arguments: ["en", "de", "fr", "es", "it", "nl", "pl", "ru", "tr", "ja", "ko", "zh", "ar", "he", "th"])
    func icu(tag: String) throws {
        let language = try #require(Self.number(tag))
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: tag)
        formatter.calendar = Calendar(identifier: .gregorian)
        formatter.calendar.locale = formatter.locale
        func names(_ kind: LanguageNames) -> [String] {
            (0..<kind.count).map { string(Self.tables.names[language * LanguageTable.nameCount + kind.start + $0]) }
        }
        #expect(names(.months) == formatter.monthSymbols)
        #expect(names(.monthsAlone) == formatter.standaloneMonthSymbols)
        #expect(names(.weekdays) == formatter.weekdaySymbols)
        #expect(names(.weekdaysAlone) == formatter.standaloneWeekdaySymbols)
        let numbers = NumberFormatter()
        numbers.locale = Locale(identifier: tag)
        #expect(string(Self.tables.languages[language].decimal) == numbers.decimalSeparator)
        #expect(string(Self.tables.languages[language].group) == numbers.groupingSeparator)
    }

    @Test("a date is read as everywhere else, offsets left out")
    func dates() {
        for text in [
            "2026-11-01", "2026-11-01 09:30", "2026-11-01T09:30:15Z", "2026-11-01T09:30:15.5", "1795219200",
            "1795219200123", "99999999",
            "2026-02-29",
        ] {
            let moment = Array(text.utf8).withUnsafeBufferPointer { CivilMoment($0) }
            let expected = Timestamp(text)?.description
            let found = moment.map { moment in
                String(
                    format: "%04d-%02d-%02dT%02d:%02d:%02dZ", moment.year, moment.month, moment.day, moment.hour,
                    moment.minute,
                    moment.second)
            }
            #expect(found == expected)
        }
    }
}
