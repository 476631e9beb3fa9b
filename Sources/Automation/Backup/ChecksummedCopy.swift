import Base
import Cryptography
import Glibc

/// Reads files a piece at a time, and computes their SHA-256 while reading.
enum ChecksummedCopy {
    private static let pieceBytes = 1 << 20

    /// The size and the sum of a file.
    struct Sum: Hashable {
        var bytes = 0
        /// 64 hex digits.
        var digits = ""
    }

    /// Sums a file up.
    /// - Parameter step: receives the number of bytes of each piece; an error that it throws ends
    ///   the reading.
    static func sum(of path: String, step: (Int) throws -> Void) throws -> Sum {
        try read(path, admit: { _ in }, step: step) { _ in }
    }

    /// Copies a file to a new one, and flushes it to the disk.
    /// - Parameters:
    ///   - mode: the permissions of the new file, regardless of the umask.
    ///   - admit: gets the descriptor of the open file before anything is read from it; an error
    ///     that it throws ends the copying.
    ///   - step: as with `sum`.
    static func make(
        of path: String, at copy: String, mode: mode_t = 0o600, admit: (Int32) throws -> Void = { _ in },
        step: (Int) throws -> Void
    ) throws -> Sum {
        let descriptor = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("written", copy, errno) }
        defer { close(descriptor) }
        do {
            let sum = try read(path, admit: admit, step: step) { piece in
                let code = WriteAll.write(piece, to: descriptor)
                guard code == 0 else { throw failure("written", copy, code) }
            }
            guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else { throw failure("written", copy, errno) }
            return sum
        } catch {
            unlink(copy)
            throw error
        }
    }

    private static func read(
        _ path: String, admit: (Int32) throws -> Void, step: (Int) throws -> Void, each: ([UInt8]) throws -> Void
    ) throws -> Sum {
        var sum = Sum(), hash = SHA256()
        do {
            let file = try RegularFile(path: path)
            try admit(file.descriptor)
            while true {
                var failed: FileError?
                let piece = [UInt8](unsafeUninitializedCapacity: pieceBytes) { room, count in
                    do throws(FileError) { count = try file.read(into: UnsafeMutableRawBufferPointer(room)) } catch {
                        (count, failed) = (0, error)
                    }
                }
                if let failed { throw failed }
                if piece.isEmpty { break }
                hash.update(piece)
                sum.bytes += piece.count
                try each(piece)
                try step(piece.count)
            }
        } catch let error as FileError { throw error.diagnostic("the file cannot be read", file: path) }
        sum.digits = hash.finalizeHex()
        return sum
    }

    private static func failure(_ doing: String, _ path: String, _ code: Int32) -> Diagnostic {
        Diagnostic(
            "the file cannot be \(doing): \(SystemError.words(code))", file: path,
            remedy: SystemError.remedy(code))
    }
}
