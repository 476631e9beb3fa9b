import Glibc

/// A file that others wrote, open for reading: an export, a campaign, a key. Every such file is
/// opened here, because opening or reading anything but a regular file may wait forever: a named
/// pipe without a writer, a terminal, a device without an end.
public struct RegularFile: ~Copyable {
    /// Open until this value ends.
    public let descriptor: Int32
    /// The file's state when it was opened.
    public let stamp: FileStamp

    /// Opens a file; follows symbolic links. Never waits, and opens no record that Volley keeps
    /// (`ProtectedFiles`).
    public init(path: String) throws(FileError) {
        // The system would cut off a path at a NUL.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .system(ENOENT) }
        // Checked before opening: to open a device may have effects, and a socket cannot be opened
        // at all.
        if let kind = FileKind(path: path), kind != .regular { throw .notAFile(kind) }
        if ProtectedFiles.holds(path) { throw .notAFile(.record) }
        let before = FileStamp(path: path)
        // O_NONBLOCK: a named pipe may have replaced the file in the meantime.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .system(errno) }
        var status = Glibc.stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw .system(code)
        }
        let kind = FileKind(mode: status.st_mode)
        guard kind == .regular else {
            close(descriptor)
            throw .notAFile(kind)
        }
        let opened = FileStamp(status)
        // The name may lead to a record since it was looked at. Closing that would be the harm, so
        // its descriptor stays open.
        let isAsBefore = before?.isSameFile(as: opened) ?? false
        guard isAsBefore || !ProtectedFiles.holds("/proc/self/fd/\(descriptor)") else { throw .notAFile(.record) }
        self.descriptor = descriptor
        stamp = opened
    }

    deinit { close(descriptor) }

    /// The state of the open file now; nil if the system does not report it.
    public borrowing func stampNow() -> FileStamp? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? FileStamp(status) : nil
    }

    /// Reads the next bytes.
    /// - Returns: the number of bytes read; 0 at the end of the file.
    public borrowing func read(into target: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        while true {
            let count = Glibc.read(descriptor, target.baseAddress, target.count)
            if count >= 0 { return count }
            let code = errno
            guard code == EINTR else { throw .system(code) }
        }
    }

    /// Reads a small file as a whole.
    /// - Parameter limit: of a longer file, at least one byte more than this is returned, but not
    ///   everything.
    public static func bytes(of path: String, atMost limit: Int) throws(FileError) -> [UInt8] {
        let file = try RegularFile(path: path)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(65_536, limit + 1))
        while bytes.count <= limit {
            var failure: FileError?
            let count = chunk.withUnsafeMutableBytes { room in
                do throws(FileError) { return try file.read(into: room) } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            if count == 0 { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        return bytes
    }
}

/// Tells whether a file is still the same, with the same content: if two stamps are equal, they are
/// of the same file, which was not written to in between. A write within the same tick of the file
/// system's clock that keeps the size goes unnoticed.
///
/// ```swift
/// let before = FileStamp(path: "devices.csv")
/// let hasChanged = FileStamp(path: "devices.csv") != before
/// ```
public struct FileStamp: Hashable, Sendable {
    /// A time on the file system's clock, to the nanosecond.
    public struct Moment: Hashable, Comparable, Sendable {
        /// Since 1970.
        public var seconds: Int
        /// 0 to 999,999,999.
        public var nanoseconds: Int

        /// A time.
        public init(seconds: Int, nanoseconds: Int = 0) { (self.seconds, self.nanoseconds) = (seconds, nanoseconds) }

        /// The earlier one is less.
        public static func < (left: Moment, right: Moment) -> Bool {
            (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
        }
    }

    /// Device and inode: they identify the file, whatever its name.
    public var device: UInt64, inode: UInt64
    /// Bytes.
    public var size: Int
    /// When its content was last written to.
    public var modified: Moment
    /// When its content, its names or its permissions last changed. No program can set it at will.
    public var changed: Moment

    /// A stamp of given values.
    public init(device: UInt64, inode: UInt64, size: Int, modified: Moment, changed: Moment) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int(status.st_size)
        modified = Moment(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        changed = Moment(seconds: status.st_ctim.tv_sec, nanoseconds: status.st_ctim.tv_nsec)
    }

    /// The stamp of the file that a path leads to now; nil if nothing is there.
    public init?(path: String) {
        var status = stat()
        guard !path.utf8.contains(0), stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether both are of the same file, whatever was written to it in between.
    public func isSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }
}
