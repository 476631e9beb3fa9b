public import Base
import Glibc

/// A new file that rows are written to; only its owner may read it, as it holds device tokens.
public final class SpoolFile {
    private let descriptor: Int32
    private let path: String

    /// - Throws: `Diagnostic`: it cannot be made.
    public init(path: String) throws(Diagnostic) {
        self.path = path
        descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw Self.failure(errno, path) }
    }

    deinit { close(descriptor) }

    /// Writes bytes, and empties the buffer.
    /// - Throws: `Diagnostic`: they cannot be written.
    public func write(_ bytes: inout [UInt8]) throws(Diagnostic) {
        let code = WriteAll.write(bytes, to: descriptor)
        guard code == 0 else { throw Self.failure(code, path) }
        bytes.removeAll(keepingCapacity: true)
    }

    private static func failure(_ code: Int32, _ path: String) -> Diagnostic {
        let isFull = code == ENOSPC || code == EDQUOT
        return Diagnostic(
            isFull
                ? "\((Shortage(at: path) ?? .space).words): there is no space for the rows of the query"
                : "the rows of the query cannot be written: \(SystemError.words(code))",
            file: path,
            remedy: isFull ? "Make space, or let the query find fewer rows." : "Check that you may write into the folder of runs.")
    }
}
