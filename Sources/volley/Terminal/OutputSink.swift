import Base
import Content
import Glibc

/// Writes a result to standard output or into a file. The file appears under its name only when it
/// is complete.
final class OutputSink {
    private enum Target {
        case console(Console)
        case file(OutputFile)
    }

    private let target: Target
    private let file: String?
    private let what: String
    private let remedy: String

    /// Opens the destination of a result.
    /// - Parameters:
    ///   - file: the file; nil for standard output.
    ///   - isPrivate: whether only the owner may read a new file, regardless of the umask.
    ///   - what: the name of the result in messages.
    ///   - remedy: what to do if the result cannot be written.
    /// - Throws: a `Diagnostic` if it cannot be opened; of a pipe that gets no reader, after half a
    ///   minute.
    init(file: String?, console: Console, isPrivate: Bool = false, what: String, remedy: String) throws(Diagnostic) {
        self.file = file
        self.what = what
        self.remedy = remedy
        guard let file, case let place = try OutputPlace(file), place != .descriptor(STDOUT_FILENO) else {
            target = .console(console)
            return
        }
        do throws(FileError) {
            target = .file(try OutputFile(place, isPrivate: isPrivate, .command))
        } catch .system(ENXIO) {
            throw Diagnostic(
                "the \(what) cannot be written: no program has opened this pipe for reading within half a minute",
                file: file, remedy: "Start the program that reads it, then try again.")
        } catch { throw Self.failure(error, what: what, file: file, remedy: remedy) }
    }

    /// Whether a name means standard output, which may be anything: a file that is appended to, or
    /// a socket.
    static func isStandardOutput(_ file: String) -> Bool {
        ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(file)
    }

    func write(_ bytes: [UInt8]) throws {
        switch target {
        case .console(let console):
            try console.write(bytes)
            // The reader has gone: as with any filter, that is a normal end.
            if console.isReaderGone { throw ClosedOutput() }
        case .file(let output):
            do throws(FileError) { try output.write(bytes) } catch {
                throw Self.failure(error, what: what, file: file, remedy: remedy)
            }
        }
    }

    func finish() throws(Diagnostic) {
        guard case .file(let output) = target else { return }
        do throws(FileError) { try output.finish() } catch {
            throw Self.failure(error, what: what, file: file, remedy: remedy)
        }
    }

    private static func failure(_ failure: FileError, what: String, file: String?, remedy: String) -> Diagnostic {
        Diagnostic("the \(what) cannot be written: \(failure)", file: file, remedy: remedy)
    }
}

/// Standard output was closed by its reader.
struct ClosedOutput: Error {}

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
