import Glibc

/// What stands under a name.
public enum FileKind: Hashable, Sendable {
    /// A file in the usual sense: what it holds can be read to its end.
    case regular
    /// A directory.
    case folder
    /// A FIFO: reading it waits for a process that writes into it.
    case namedPipe
    /// A socket of the file system.
    case socket
    /// A terminal, a disk, `/dev/zero`: it may wait, or have no end.
    case device

    /// - Parameter mode: `st_mode` of stat(2).
    init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .folder
        case S_IFIFO: self = .namedPipe
        case S_IFSOCK: self = .socket
        default: self = .device
        }
    }

    /// What a path leads to, symbolic links followed; nil when nothing is there, or nothing that this user may look at.
    public init?(path: String) {
        var status = stat()
        guard !path.utf8.contains(0), stat(path, &status) == 0 else { return nil }
        self.init(mode: status.st_mode)
    }

    /// What an open descriptor leads to; nil when it is not open.
    public init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(mode: status.st_mode)
    }

    /// `a named pipe`
    public var text: String {
        switch self {
        case .regular: "a file"
        case .folder: "a folder"
        case .namedPipe: "a named pipe"
        case .socket: "a socket"
        case .device: "a device"
        }
    }

    /// What is said when something else than a file stands where one is to be read.
    /// - Parameters:
    ///   - wanted: what the file should be: `a file`, `a key file`.
    ///   - remedy: nil for what helps with most files.
    public func refusal(_ file: String, wanted: String = "a file", remedy: String? = nil) -> Diagnostic {
        let usual =
            self == .folder ? "Name a file in it." : "Volley reads only files: save its output as a file, and name that file instead."
        return Diagnostic("this is \(text), not \(wanted)", file: file, remedy: remedy ?? usual)
    }
}
