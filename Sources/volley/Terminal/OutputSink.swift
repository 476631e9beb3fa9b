import Base
import Glibc

/// Writes a result to standard output or into a file. The file appears under its name only when it is complete.
final class OutputSink {
    private enum Target {
        case console(Console)
        case whole(AtomicFile)
        /// A pipe or a device, which is written to directly.
        case stream(Int32)
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
    init(file: String?, console: Console, isPrivate: Bool = false, what: String, remedy: String) throws(Diagnostic) {
        self.file = file
        self.what = what
        self.remedy = remedy
        do throws(FileError) {
            guard let file, !Self.isStandardOutput(file) else {
                target = .console(console)
                return
            }
            target =
                Self.isRegular(file)
                ? .whole(try AtomicFile(file, isPrivate: isPrivate)) : .stream(try Self.openAsItIs(file))
        } catch { throw Self.failure(error, what: what, file: file, remedy: remedy) }
    }

    deinit {
        if case .stream(let descriptor) = target { close(descriptor) }
    }

    /// Whether a name means standard output, which may be anything: a file that is appended to, or a socket.
    static func isStandardOutput(_ file: String) -> Bool { ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(file) }

    /// Whether a complete file can be put under the name: nothing has the name yet, or a regular file has it.
    private static func isRegular(_ file: String) -> Bool {
        var status = stat()
        guard stat(file, &status) == 0 else { return true }
        guard status.st_mode & S_IFMT == S_IFREG else { return false }
        // A link of the system, such as /dev/stderr or /dev/fd/3, leads to a file that a process has open.
        let folder = FilePaths.absolute(FilePaths.folder(of: file))
        guard folder == "/dev" || folder.hasPrefix("/proc/") else { return true }
        return lstat(file, &status) != 0 || status.st_mode & S_IFMT != S_IFLNK
    }

    private static func openAsItIs(_ file: String) throws(FileError) -> Int32 {
        let descriptor = open(file, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(errno) }
        return descriptor
    }

    func write(_ bytes: [UInt8]) throws {
        switch target {
        case .console(let console):
            try console.write(bytes)
            // The reader has gone: as with any filter, that is a normal end.
            if console.isReaderGone { throw ReaderGone() }
        case .whole(let whole):
            do throws(FileError) { try whole.write(bytes) } catch { throw Self.failure(error, what: what, file: file, remedy: remedy) }
        case .stream(let descriptor):
            let code = WriteAll.write(bytes, to: descriptor)
            guard code == 0 else { throw Self.failure(.system(code), what: what, file: file, remedy: remedy) }
        }
    }

    func finish() throws(Diagnostic) {
        guard case .whole(let whole) = target else { return }
        do throws(FileError) { try whole.finish() } catch { throw Self.failure(error, what: what, file: file, remedy: remedy) }
    }

    private static func failure(_ failure: FileError, what: String, file: String?, remedy: String) -> Diagnostic {
        Diagnostic("the \(what) cannot be written: \(failure)", file: file, remedy: remedy)
    }
}

/// Standard output was closed by its reader.
struct ReaderGone: Error {}
