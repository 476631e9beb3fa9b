import Glibc

/// Why a file or folder cannot be opened, read or written.
public enum FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An error number of the system: errno.
    case system(Int32)
    /// Something other than a regular file, from which reading might never end.
    case notAFile(FileKind)

    /// errno, or the number that the system would give for a file of the wrong kind.
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
