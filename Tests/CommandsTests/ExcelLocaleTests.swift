import Base
import Testing

@testable import Commands

@Suite("the separator of a CSV for Excel")
struct ExcelLocaleTests {
    private func separator(_ environment: [String: String]) -> String {
        String(UnicodeScalar(ExcelLocale.form { environment[$0] }.separator))
    }

    @Test(
        "is a semicolon where the decimal mark is a comma",
        arguments: [
            ("de_DE.UTF-8", ";"), ("fr_FR", ";"), ("de_AT@euro", ";"), ("pt-BR", ";"), ("es_ES.ISO-8859-15", ";"),
            ("es_MX.UTF-8", ","),
            ("de_CH", ","),
            ("en_US.UTF-8", ","), ("en_ZA", ";"), ("ja_JP", ","), ("C", ","), ("C.UTF-8", ","), ("POSIX", ","),
            ("xx_YY", ","), ("", ","),
        ])
    func locales(locale: String, expected: String) {
        #expect(separator(["LANG": locale]) == expected)
    }

    @Test("the first variable that POSIX asks decides, unless it is empty")
    func order() {
        #expect(separator(["LC_ALL": "en_US", "LC_NUMERIC": "de_DE", "LANG": "fr_FR"]) == ",")
        #expect(separator(["LC_ALL": "", "LC_NUMERIC": "de_DE", "LANG": "en_US"]) == ";")
        #expect(separator(["LC_NUMERIC": "C", "LANG": "de_DE.UTF-8"]) == ",")
        #expect(separator([:]) == ",")
    }
}
