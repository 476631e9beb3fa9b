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
        guard let text = try? String(contentsOf: folder.appendingPathComponent("Fixtures/plurals.tsv"), encoding: .utf8) else { return [] }
        return text.split(separator: "\n").dropFirst().map { line in
            let parts = line.split(separator: "\t")
            let forms = parts[1].split(separator: " ").map { $0.split(separator: "=").map(String.init) }
            return (String(parts[0]), forms.map { ($0[0], $0[1]) })
        }
    }()

    @Test("plural forms are those that another reader of CLDR's rules finds")
    func plurals() {
        #expect(Self.samples.count == Self.tables.languages.count)
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

    private func string(_ range: TextRange) -> String {
        String(decoding: Self.tables.pool[Int(range.start)..<Int(range.end)], as: UTF8.self)
    }

    /// ICU's data are of another release of CLDR, and abbreviations change: what is compared has been the same for long.
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
            "2026-11-01", "2026-11-01 09:30", "2026-11-01T09:30:15Z", "2026-11-01T09:30:15.5", "1795219200", "1795219200123", "99999999",
            "2026-02-29",
        ] {
            let moment = Array(text.utf8).withUnsafeBufferPointer { CivilMoment($0) }
            let expected = Timestamp(text)?.description
            let found = moment.map { moment in
                String(
                    format: "%04d-%02d-%02dT%02d:%02d:%02dZ", moment.year, moment.month, moment.day, moment.hour, moment.minute,
                    moment.second)
            }
            #expect(found == expected)
        }
    }
}
