import Base
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
