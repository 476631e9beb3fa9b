import Glibc

/// The kind of thing that has a name.
public enum FileKind: Hashable, Sendable {
    /// A file in the usual sense: its content can be read to its end.
    case regular
    /// A directory.
    case folder
    /// A FIFO: a read waits for a process that writes into it.
    case namedPipe
    /// A socket of the file system.
    case socket
    /// A terminal, a disk, `/dev/zero`: a read may wait, or never end.
    case device
    /// A database that Volley keeps open (`ProtectedFiles`): to close it would take SQLite's locks.
    case record

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

    /// What a path leads to, with symbolic links followed; nil if nothing is there, or this user
    /// has no access to it.
    public init?(path: String) {
        var status = stat()
        guard !path.utf8.contains(0), stat(path, &status) == 0 else { return nil }
        self.init(mode: status.st_mode)
    }

    /// What an open descriptor leads to; nil if it is not open.
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
        case .record: "a record that Volley keeps"
        }
    }

    /// The error for something other than a file where a file is expected.
    /// - Parameters:
    ///   - wanted: what the file should be: `a file`, `a key file`.
    ///   - remedy: nil for the one that helps with most files. For a record there is only one.
    public func refusal(_ file: String, wanted: String = "a file", remedy: String? = nil) -> Diagnostic {
        if self == .record { return Diagnostic("this is \(text), not \(wanted)", file: file, remedy: Self.ofRecord) }
        let usual =
            self == .folder
            ? "Name a file in it." : "Volley reads only files: save its output as a file, and name that file instead."
        return Diagnostic("this is \(text), not \(wanted)", file: file, remedy: remedy ?? usual)
    }

    /// The error for something in the place of a file of Volley. A link is named as what it is:
    /// only the link may be removed, not what it leads to.
    /// - Parameter wanted: what the file should be: `a run file`.
    public func intrusion(_ file: String, wanted: String) -> Diagnostic {
        let link = Self.isLink(file)
        return Diagnostic(
            "this is \(link ? "a link to " : "")\(text), not \(wanted)", file: file,
            remedy: "Remove \(link ? "the link" : "it") or move it away: Volley did not create it.")
    }

    /// Whether a name is that of a symbolic link, wherever it leads.
    public static func isLink(_ path: String) -> Bool {
        var status = stat()
        return !path.utf8.contains(0) && lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// The error for a link that leads nowhere, or in a circle, where Volley keeps a file or
    /// folder; nil if the path leads to something, or nothing has its name. A link within the path
    /// counts too. Its target may be on a disk that is not mounted, so such a link differs from a
    /// missing file.
    public static func deadLink(_ path: String) -> Diagnostic? {
        var status = stat()
        guard !path.utf8.contains(0), stat(path, &status) != 0, errno == ENOENT || errno == ELOOP else { return nil }
        let ends = path.indices.filter { path[$0] == "/" && $0 != path.startIndex } + [path.endIndex]
        guard let link = ends.map({ String(path[..<$0]) }).first(where: { isLink($0) && stat($0, &status) != 0 }) else {
            return nil
        }
        if errno == ELOOP {
            return Diagnostic(
                "this is a link that leads in a circle", file: link,
                remedy: "Make it lead to the right place, or remove it.")
        }
        // Of links to links, the last one leads nowhere.
        var target = link
        while isLink(target), let next = FilePaths.target(ofLink: target) { target = next }
        return Diagnostic(
            "this is a link to \(TextFormat.inLine(target)), where nothing is", file: link,
            remedy:
                "Mount the disk that it leads to, or put back what was there. Remove the link only if that is gone for good."
        )
    }

    /// It does not say which record, which the reader may have no right to see.
    static let ofRecord =
        "Name another file. If this should be one, its name is a link to a wrong place: put a copy of the right file there."
}
