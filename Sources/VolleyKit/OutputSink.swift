import Base
import Glibc

/// Takes a result to standard output or into a file, which appears under its name only when it is whole.
final class OutputSink {
    private let console: Console
    private let file: String?
    private let what: String
    private let remedy: String
    private var isReplaced = false
    private var stream: UnsafeMutablePointer<FILE>?
    private var partial: String { "\(file ?? "").\(getpid()).partial" }

    /// - Parameters:
    ///   - file: nil for standard output.
    ///   - mode: permissions of a new file, before the umask.
    ///   - what: what it is, for messages.
    ///   - remedy: what to do when it cannot be written.
    init(file: String?, console: Console, mode: mode_t = 0o666, what: String, remedy: String) throws {
        (self.console, self.file, self.what, self.remedy) = (console, file, what, remedy)
        guard let file else { return }
        var status = stat()
        // A pipe or device is written to as it stands; only a regular file is replaced, and only by a whole one.
        isReplaced = stat(file, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
        let descriptor = open(isReplaced ? partial : file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure() }
        stream = fdopen(descriptor, "w")
        if stream == nil { throw failure() }
    }

    deinit {
        guard let stream else { return }
        fclose(stream)
        if isReplaced { unlink(partial) }
    }

    func write(_ bytes: [UInt8]) throws {
        guard let stream else {
            try console.write(bytes)
            // Nobody reads on: as with any filter, that is a fine end.
            if console.isReaderGone { throw ReaderGone() }
            return
        }
        if fwrite(bytes, 1, bytes.count, stream) != bytes.count { throw failure() }
    }

    func finish() throws {
        guard let stream, let file else { return }
        self.stream = nil
        guard fclose(stream) == 0, !isReplaced || rename(partial, file) == 0 else {
            let failure = failure()
            if isReplaced { unlink(partial) }
            throw failure
        }
    }

    private func failure() -> Diagnostic {
        Diagnostic("the \(what) cannot be written: \(String(cString: strerror(errno)))", file: file, remedy: remedy)
    }
}

/// Standard output was closed by its reader.
struct ReaderGone: Error {}
