import Base
import Content
import Glibc

/// The CSV form that the user's Excel expects.
enum ExcelLocale {
    /// The form for the locale of the environment. Volley looks it up in its own tables:
    /// setlocale(3) supports only installed locales, and most servers have none.
    static var form: CSVForm {
        form { name in EnvironmentVariables[name] }
    }

    /// Finds the form for an environment.
    /// - Parameter value: returns an environment variable's value. As in POSIX, the first of the
    ///   locale variables that is set and not empty decides.
    static func form(_ value: (String) -> String?) -> CSVForm {
        let locale = ["LC_ALL", "LC_NUMERIC", "LANG"].lazy.compactMap(value).first { !$0.isEmpty } ?? ""
        // Drop the encoding and the modifier: `de_DE.UTF-8@euro` means `de_DE`.
        return .excel(hasDecimalComma: NumberMarks.hasDecimalComma(String(locale.prefix { $0 != "." && $0 != "@" })))
    }

    /// Warns if Excel would not show every line.
    /// - Parameter count: how many lines are below the header.
    static func warn(ofLines count: Int, _ form: CSVForm, _ console: Console) {
        guard form.isForExcel, count >= CSVForm.excelRows else { return }
        console.say(
            "Excel shows the first \(TextFormat.count(CSVForm.excelRows)) lines of a file, and this one has \(TextFormat.count(count + 1)). "
                + "Choose fewer: `volley report` takes --outcome, --language and --variant.")
    }
}
