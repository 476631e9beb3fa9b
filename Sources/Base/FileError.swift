import Glibc

/// Why a file or folder cannot be opened, read or written.
public enum FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An error number of the system: errno.
    case system(Int32)
    /// Something else than a regular file, which may be read from for ever.
    case notAFile(FileKind)

    /// errno, or what the system would say of a file that is of the wrong kind.
    public var errorNumber: Int32 {
        switch self {
        case .system(let code): code
        case .notAFile(let kind): kind == .folder ? EISDIR : EINVAL
        }
    }

    /// The system's words, or what is there instead of a file.
    public var description: String {
        switch self {
        case .system(let code): String(cString: strerror(code))
        case .notAFile(let kind): "this is \(kind.text), not a file"
        }
    }
}
