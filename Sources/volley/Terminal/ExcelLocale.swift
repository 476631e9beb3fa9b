import Base
import Content
import Glibc

/// How the user's Excel expects a CSV.
enum ExcelLocale {
    /// By the locale of the environment. It is looked up in Volley's own tables, as setlocale(3) knows only locales that are installed, and a server mostly has none.
    static var form: CSVForm {
        form { name in getenv(name).map { String(cString: $0) } }
    }

    /// - Parameter value: of a variable of the environment; the first of those that count in POSIX that is set and not empty decides.
    static func form(_ value: (String) -> String?) -> CSVForm {
        let locale = ["LC_ALL", "LC_NUMERIC", "LANG"].lazy.compactMap(value).first { !$0.isEmpty } ?? ""
        // `de_DE.UTF-8@euro` is German as in Germany.
        return .excel(hasDecimalComma: NumberMarks.hasDecimalComma(String(locale.prefix { $0 != "." && $0 != "@" })))
    }

    /// Says when Excel would not show all of it.
    /// - Parameter count: of lines below the header.
    static func warn(ofLines count: Int, _ form: CSVForm, _ console: Console) {
        guard form.isForExcel, count >= CSVForm.excelRows else { return }
        console.say(
            "Excel shows the first \(TextFormat.count(CSVForm.excelRows)) lines of a file, and this one has \(TextFormat.count(count + 1)). "
                + "Choose fewer: `volley report` takes --outcome, --language and --variant.")
    }
}
