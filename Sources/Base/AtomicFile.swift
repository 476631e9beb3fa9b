public import Glibc

/// A file that appears under its name only when it is whole, in place of whatever had the name. Until then it has no name, so that a process that
/// is killed leaves nothing behind; where the file system knows no such files it has a random one. A link under its name is replaced, never followed.
public final class AtomicFile {
    private let path: String
    /// The name that it has meanwhile; nil for none.
    private var temporaryPath: String?
    private var descriptor: Int32

    /// - Parameters:
    ///   - mode: permissions, before the umask.
    ///   - isPrivate: for its owner alone, whatever the umask.
    /// - Throws: it cannot be made, for want of permission or room as a rule.
    public init(_ path: String, mode: mode_t = 0o666, isPrivate: Bool = false) throws(FileError) {
        self.path = path
        descriptor = Self.openWithoutName(inFolder: FilePaths.folder(of: path), mode: isPrivate ? 0o600 : mode)
        if descriptor < 0 {
            let temporaryPath = Self.randomPath(beside: path)
            descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, isPrivate ? 0o600 : mode)
            guard descriptor >= 0 else { throw .system(errno) }
            self.temporaryPath = temporaryPath
        }
        // A umask may take away what the owner needs.
        if isPrivate { fchmod(descriptor, 0o600) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if let temporaryPath { unlink(temporaryPath) }
    }

    /// Adds to it.
    public func write(_ bytes: [UInt8]) throws(FileError) {
        let code = WriteAll.write(bytes, to: descriptor)
        guard code == 0 else { throw .system(code) }
    }

    /// Gives it its name.
    public func finish() throws(FileError) {
        let name = temporaryPath ?? Self.randomPath(beside: path)
        if temporaryPath == nil {
            // Source: open(2) about O_TMPFILE.
            guard linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 else {
                throw .system(errno)
            }
            temporaryPath = name
        }
        // Some file systems say only now that there is no room.
        let isClosed = close(descriptor) == 0
        descriptor = -1
        guard isClosed, rename(name, path) == 0 else { throw .system(errno) }
        temporaryPath = nil
    }

    /// A file in a folder that has no name, and is gone with its descriptor unless it gets one; -1 where the file system has no such files.
    /// - Parameter mode: permissions, before the umask.
    public static func openWithoutName(inFolder folder: String, mode: mode_t) -> Int32 {
        // O_TMPFILE of fcntl.h: an expression, which Swift does not import.
        let descriptor = open(folder, 0o20000000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return -1 }
        // Without /proc it could not get a name.
        if access("/proc/self/fd/\(descriptor)", F_OK) == 0 { return descriptor }
        close(descriptor)
        return -1
    }

    /// A name that nobody can guess, and that no collector of files takes for one of its own.
    private static func randomPath(beside path: String) -> String {
        FilePaths.join(FilePaths.folder(of: path), name: ".volley-\(String(UInt64.random(in: 0...UInt64.max), radix: 16)).partial")
    }
}
