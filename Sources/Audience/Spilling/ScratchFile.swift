import Base
import Glibc

/// A file without a name, which is gone when it is closed, however the process ends. It is in `TMPDIR`, otherwise in /var/tmp or /tmp:
/// the same places that SQLite uses.
struct ScratchFile: ~Copyable {
    /// -1 before anything is in it.
    private var descriptor: Int32 = -1
    private let folders: [String]
    private var folder = ""
    /// Bytes in it.
    private(set) var count = 0

    /// - Parameter folders: where it may be; the first in which files can be created is used.
    init(folders: [String] = FilePaths.temporaryFolders) { self.folders = folders }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private mutating func open() throws {
        var code: Int32 = 0
        for folder in folders {
            self.folder = folder
            descriptor = Self.open(in: folder)
            if descriptor >= 0 { return }
            code = errno
        }
        throw Self.failure("temporary files cannot be written", code: code, folder: folder)
    }

    /// O_TMPFILE of fcntl.h: an expression, which Swift does not import.
    private static let withoutName = 0o20000000 | O_DIRECTORY

    private static func open(in folder: String) -> Int32 {
        let unnamed = Glibc.open(folder, withoutName | O_RDWR | O_CLOEXEC, 0o600)
        // Not every file system supports files without a name.
        guard unnamed < 0, errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL else { return unnamed }
        var path = Array("\(folder)/volley-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        if descriptor >= 0 { unlink(path) }
        return descriptor
    }

    fileprivate static func failure(_ message: String, code: Int32, folder: String) -> Diagnostics {
        let isFull = code == ENOSPC || code == EDQUOT
        return Diagnostics(
            Diagnostic(
                isFull
                    ? "\((Shortage(at: FilePaths.join(folder, name: "volley")) ?? .space).words): there is no space for temporary files"
                    : "\(message): \(SystemError.words(code))",
                file: folder,
                remedy: "Set the environment variable TMPDIR to a folder with free space, or let Volley use more memory: --memory.",
                [.ask(.giveMemory)]))
    }

    /// - Returns: where the bytes begin in the file.
    @discardableResult mutating func append(_ bytes: UnsafeRawBufferPointer) throws -> Int {
        if descriptor < 0 { try open() }
        let start = count
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = pwrite(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, off_t(count))
            if written > 0 {
                rest = rest.dropFirst(written)
                count += written
            } else if written == 0 || errno != EINTR {
                throw Self.failure("a temporary file cannot be written", code: written == 0 ? EIO : errno, folder: folder)
            }
        }
        return start
    }

    /// A reader of it. Must not be used once the file is gone.
    var reader: Reader { Reader(descriptor: descriptor, folder: folder) }

    /// Reads what was written.
    struct Reader {
        fileprivate let descriptor: Int32
        fileprivate let folder: String

        /// Fills `target` with the bytes from `start` on, all of which were written.
        func read(from start: Int, into target: UnsafeMutableRawBufferPointer) throws {
            var filled = 0
            while filled < target.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: target[filled...])
                let count = pread(descriptor, rest.baseAddress, rest.count, off_t(start + filled))
                if count > 0 {
                    filled += count
                } else if count == 0 || errno != EINTR {
                    throw ScratchFile.failure("a temporary file cannot be read", code: count == 0 ? EIO : errno, folder: folder)
                }
            }
        }
    }
}
