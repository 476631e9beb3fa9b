import Glibc

/// Tells whether a file is still the same, with the same content: if two stamps are equal, they are of the same file, and nobody wrote to
/// it in between. A write within the same tick of the file system's clock that keeps the size goes unnoticed.
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
