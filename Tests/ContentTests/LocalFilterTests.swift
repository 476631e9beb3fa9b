import Base
import Content
import Testing

@Suite("Filters that know languages")
struct LocalFilterTests {
    // MARK: date

    @Test(
        "directives write a date as strftime does",
        arguments: [
            ("%d.%m.%Y", "03.07.2026"), ("%-d.%-m.%y", "3.7.26"), ("%e %B %Y", " 3 July 2026"),
            ("%A, %b %-d", "Friday, Jul 3"),
            ("%a %d %h", "Fri 03 Jul"), ("%H:%M:%S", "09:05:07"), ("%I:%M %p", "09:05 AM"), ("%-I %p", "9 AM"),
            ("%l", " 9"), ("%k", " 9"),
            ("%j", "184"), ("%-j", "184"), ("%F", "2026-07-03"), ("%T", "09:05:07"), ("%R", "09:05"),
            ("%D", "07/03/26"),
            ("100%% %Y", "100% 2026"),
            ("%^a %^B", "FRI JULY"), ("%_m", " 7"), ("%-d\"%n", "3\"\n"),
        ])
    func directives(format: String, expected: String) throws {
        let quote = format.contains("\"") ? "'" : "\""
        #expect(try body("{{ d | date: \(quote)\(format)\(quote) }}", ["d": "2026-07-03T09:05:07Z"]) == expected)
    }

    @Test(
        "what exports hold is read, as it is written",
        arguments: [
            ("2026-12-24", "2026-12-24 00:00:00"), ("2026-12-24T20:15", "2026-12-24 20:15:00"),
            ("2026-12-24 20:15:30+01:00", "2026-12-24 20:15:30"),
            ("2026-12-24T20:15:30.123-0800", "2026-12-24 20:15:30"),
            ("2026-12-24 20:15:30 UTC", "2026-12-24 20:15:30"), (" 2026-12-24 ", "2026-12-24 00:00:00"),
            ("1798143330", "2026-12-24 20:15:30"),
            ("1798143330123", "2026-12-24 20:15:30"), ("2024-02-29", "2024-02-29 00:00:00"),
            ("999999999", "2001-09-09 01:46:39"),
        ])
    func inputs(cell: String, expected: String) throws {
        #expect(try body("{{ d | date: '%F %T' }}", ["d": cell]) == expected)
    }

    @Test(
        "what is no date is a failure that names column and place",
        arguments: [
            "never", "24.12.2026", "2026-13-01", "2026-02-30", "2026-2-3", "12345678", "2026-12-24T25:00",
            "2026-12-24x", "2025-02-29",
        ])
    func notDates(cell: String) throws {
        #expect(try body("On {{ d | date: 'long' | default: 'x' }}", ["d": cell]) == "c.yaml:1:7: d is not a date")
        var bytes: [UInt8] = []
        let template = try PayloadTemplate(content { $0.body = plain("{{ d | date: 'long' }}") })
        #expect(template.render([cell], into: &bytes)?.skipReason == .renderError)
    }

    @Test(
        "named styles are the device's language's own",
        arguments: [
            ("en", "7/3/26", "Jul 3, 2026", "July 3, 2026", "Friday, July 3, 2026"),
            ("en-GB", "03/07/2026", "3 Jul 2026", "3 July 2026", "Friday, 3 July 2026"),
            ("de", "03.07.26", "03.07.2026", "3. Juli 2026", "Freitag, 3. Juli 2026"),
            ("fr", "03/07/2026", "3 juil. 2026", "3 juillet 2026", "vendredi 3 juillet 2026"),
            ("es", "3/7/26", "3 jul 2026", "3 de julio de 2026", "viernes, 3 de julio de 2026"),
            ("ru", "03.07.2026", "3 июл. 2026\u{202F}г.", "3 июля 2026\u{202F}г.", "пятница, 3 июля 2026\u{202F}г."),
            ("zh-Hans-CN", "2026/7/3", "2026年7月3日", "2026年7月3日", "2026年7月3日星期五"),
            ("ja", "2026/07/03", "2026/07/03", "2026年7月3日", "2026年7月3日金曜日"),
            ("fa", "۲۰۲۶/۷/۳", "۳ ژوئیه ۲۰۲۶", "۳ ژوئیهٔ ۲۰۲۶", "جمعه ۳ ژوئیهٔ ۲۰۲۶"),
        ])
    func styles(language: String, short: String, medium: String, long: String, full: String) throws {
        for (style, expected) in [("short", short), ("medium", medium), ("long", long), ("full", full)] {
            #expect(try body("{{ d | date: '\(style)' }}", ["d": "2026-07-03"], language: language) == expected)
        }
    }

    @Test("months and weekdays are named in the device's language; beside a day a month has the form that stands there")
    func names() throws {
        #expect(
            try body("{{ d | date: '%A, %d. %B' }}", ["d": "2026-03-03"], language: "de-AT") == "Dienstag, 03. März")
        #expect(try body("{{ d | date: '%d %B' }}", ["d": "2026-01-03"], language: "ru") == "03 января")
        #expect(try body("{{ d | date: '%B %Y' }}", ["d": "2026-01-03"], language: "ru") == "январь 2026")
        #expect(try body("{{ d | date: '%^B' }}", ["d": "2026-04-03"], language: "tr") == "NİSAN")
        #expect(try body("{{ d | date: '%I %p' }}", ["d": "2026-04-03T15:00"], language: "ja") == "03 午後")
        #expect(try body("{{ d | date: '%d %B %Y' }}", ["d": "2026-04-03"], language: "fa") == "03 آوریل 2026")
        #expect(try body("{{ d | date: '%A' }}", ["d": "1969-07-20"]) == "Sunday")
        #expect(try body("{{ d | date: '%A %j' }}", ["d": "1600-02-29"]) == "Tuesday 060")
    }

    // MARK: number

    @Test(
        "numbers are grouped as the device's language does",
        arguments: [
            ("en", "1234567.5", "1,234,567.5"), ("de", "1234567.5", "1.234.567,5"),
            ("de-CH", "1234567.5", "1’234’567.5"),
            ("fr", "1234567.5", "1\u{202F}234\u{202F}567,5"), ("es", "1234", "1234"), ("es", "12345", "12.345"),
            ("es-MX", "1234", "1,234"),
            ("hi", "1234567.5", "12,34,567.5"), ("en-IN", "123456", "1,23,456"), ("sv", "-1234", "−1\u{A0}234"),
            ("fa", "1234.5", "۱٬۲۳۴٫۵"),
            ("ar-EG", "1234.5", "١٬٢٣٤٫٥"), ("ja", "1234", "1,234"), ("", "1234", "1,234"), ("xx", "1234", "1,234"),
            ("pl", "1234", "1234"),
        ])
    func grouping(language: String, cell: String, expected: String) throws {
        #expect(try body("{{ n | number }}", ["n": cell], language: language) == expected)
    }

    @Test(
        "without an argument there are as many decimals as needed, three at most; with one, exactly so many, rounded half up",
        arguments: [
            ("number", "1.5000", "1.5"), ("number", "3.0", "3"), ("number", "0.12345", "0.123"),
            ("number", "0.9996", "1"),
            ("number: 2", "1", "1.00"), ("number: 2", "1.005", "1.01"), ("number: 2", "-1.005", "-1.01"),
            ("number: 0", "2.5", "3"),
            ("number: 0", "-0.4", "0"), ("number: 0", "999.5", "1,000"), ("number: 1", "9.95", "10.0"),
            ("number", "+5", "5"),
            ("number", "007", "7"), ("number", "0", "0"), ("number", "-0.0", "0"), ("number", " 12 ", "12"),
            ("number: 9", "0.1", "0.100000000"),
            ("number", "123456789012345678901234567890", "123,456,789,012,345,678,901,234,567,890"),
        ])
    func decimals(filter: String, cell: String, expected: String) throws {
        #expect(try body("{{ n | \(filter) }}", ["n": cell]) == expected)
    }

    @Test(
        "what is no number is a failure that names column and place",
        arguments: ["abc", "1,234", "1.234,5", "1e3", "12 %", ".5", "5.", "--1", "1 2", "∞"])
    func notNumbers(cell: String) throws {
        #expect(try body("{{ n | number }}", ["n": cell]) == "c.yaml:1:4: n is not a number")
        #expect(try body("{{ n | pluralize: 'a', 'b' }}", ["n": cell]) == "c.yaml:1:4: n is not a number")
        #expect(try body("{{ n | pluralize: one: 'a', other: 'b' }}", ["n": cell]) == "c.yaml:1:4: n is not a number")
    }

    // MARK: pluralize

    @Test("of two words the first is for 1, in every language, and the word alone is printed")
    func pair() throws {
        for language in ["en", "fr", "ja", "ar", "ru"] {
            for (cell, expected) in [
                ("1", "item"), ("1.0", "item"), ("0", "items"), ("2", "items"), ("21", "items"), ("1.5", "items"),
            ] {
                #expect(try body("{{ n | pluralize: 'item', 'items' }}", ["n": cell], language: language) == expected)
            }
        }
    }

    @Test("of words with forms the one is printed that the device's language has for the number")
    func forms() throws {
        let russian = "{{ n }} {{ n | pluralize: one: 'файл', few: 'файла', many: 'файлов', other: 'файла' }}"
        for (cell, expected) in [
            ("1", "1 файл"), ("21", "21 файл"), ("3", "3 файла"), ("11", "11 файлов"), ("5", "5 файлов"),
            ("1.5", "1.5 файла"),
        ] {
            #expect(try body(russian, ["n": cell], language: "ru-RU") == expected)
        }
        let french = "{{ n | pluralize: one: 'article', other: 'articles' }}"
        #expect(try body(french, ["n": "0"], language: "fr") == "article")
        #expect(try body(french, ["n": "0"], language: "en") == "articles")
        #expect(try body(french, ["n": "-1"], language: "en") == "article")
    }

    @Test("words that cannot be of the device's language follow English")
    func otherLanguage() throws {
        let english = "{{ n | pluralize: one: 'item', other: 'items' }}"
        // Japanese has one form and Russian four: two words cannot be meant for either.
        #expect(try body(english, ["n": "1"], language: "ja") == "item")
        #expect(try body(english, ["n": "21"], language: "ru") == "items")
        #expect(try body(english, ["n": "2"], language: "ar") == "items")
        #expect(try body("{{ n | pluralize: other: '個' }}", ["n": "1"], language: "ja") == "個")
        #expect(try body("{{ n | pluralize: one: 'a', two: 'b', other: 'c' }}", ["n": "2"], language: "ar") == "b")
    }

    // MARK: Languages

    @Test(
        "a tag falls back part by part, in any case and with either sign",
        arguments: [
            ("zh-Hans-CN", "1.2.2026"), ("zh_Hant_TW", "1.2.2026"), ("DE-at", "1. Februar 2026"),
            ("de-XX", "1. Februar 2026"),
            ("nb-NO", "1. februar 2026"),
            ("no", "1. februar 2026"), ("en-NZ", "1 February 2026"), ("en-US", "February 1, 2026"),
            ("xx", "February 1, 2026"),
            ("", "February 1, 2026"),
            ("-", "February 1, 2026"), ("de-", "1. Februar 2026"),
            ("verylonglanguagetagthatisnone", "February 1, 2026"),
            ("es-AR", "1 de febrero de 2026"),
        ])
    func tags(tag: String, expected: String) throws {
        let text = try body("{{ d | date: 'long' }}", ["d": "2026-02-01"], language: tag)
        #expect(text == (tag.hasPrefix("zh") ? "2026年2月1日" : expected))
    }

    @Test("languages that are not known are told, if it matters")
    func unknown() throws {
        let template = try PayloadTemplate(content { $0.body = plain("{{ d | date: 'long' }}") })
        #expect(template.unknownLanguages(among: ["en", "", "xx", "zh-Hans-CN", "tlh", "de_CH"]) == ["tlh", "xx"])
        let upper = try PayloadTemplate(content { $0.body = plain("{{ d | upcase }}") })
        #expect(upper.unknownLanguages(among: ["xx"]).isEmpty)
    }
}
