public import Glibc

/// A file that appears under its name only when it is complete, and replaces whatever has the name. Until then it has no name, so that a
/// killed process leaves nothing behind. On file systems without unnamed files it has a random name. A link under its name is replaced,
/// never followed: `OutputPlace` decides which links count.
public final class AtomicFile {
    private let path: String
    /// Its temporary name; nil for none.
    private var temporaryPath: String?
    private var descriptor: Int32

    /// - Parameters:
    ///   - mode: permissions, before the umask.
    ///   - isPrivate: only the owner has access, whatever the umask.
    /// - Throws: if the file cannot be made, usually for lack of permission or space.
    public init(_ path: String, mode: mode_t = 0o666, isPrivate: Bool = false) throws(FileError) {
        self.path = path
        descriptor = Self.openWithoutName(inFolder: FilePaths.folder(of: path), mode: isPrivate ? 0o600 : mode)
        if descriptor < 0 {
            let temporaryPath = Self.randomPath(beside: path)
            descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, isPrivate ? 0o600 : mode)
            guard descriptor >= 0 else { throw .system(errno) }
            self.temporaryPath = temporaryPath
        }
        // A umask may remove the owner's permissions.
        if isPrivate { fchmod(descriptor, 0o600) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if let temporaryPath { unlink(temporaryPath) }
    }

    /// Appends bytes.
    public func write(_ bytes: [UInt8]) throws(FileError) {
        let code = WriteAll.write(bytes, to: descriptor)
        guard code == 0 else { throw .system(code) }
    }

    /// Gives the file its name.
    public func finish() throws(FileError) {
        let name = temporaryPath ?? Self.randomPath(beside: path)
        if temporaryPath == nil {
            // Source: open(2) about O_TMPFILE.
            guard linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 else {
                throw .system(errno)
            }
            temporaryPath = name
        }
        // Some file systems report only here that the disk is full.
        let isClosed = close(descriptor) == 0
        descriptor = -1
        guard isClosed, rename(name, path) == 0 else { throw .system(errno) }
        temporaryPath = nil
    }

    /// An unnamed file in a folder. It disappears with its descriptor unless it gets a name; -1 if the file system has no unnamed files.
    /// - Parameter mode: permissions, before the umask.
    public static func openWithoutName(inFolder folder: String, mode: mode_t) -> Int32 {
        // O_TMPFILE of fcntl.h: an expression that Swift does not import.
        let descriptor = open(folder, 0o20000000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return -1 }
        // Without /proc the file could not get a name.
        if access("/proc/self/fd/\(descriptor)", F_OK) == 0 { return descriptor }
        close(descriptor)
        return -1
    }

    /// A name that nobody can guess, and that no program that collects files takes for one of its own.
    private static func randomPath(beside path: String) -> String {
        FilePaths.join(FilePaths.folder(of: path), name: ".volley-\(String(UInt64.random(in: 0...UInt64.max), radix: 16)).partial")
    }
}
