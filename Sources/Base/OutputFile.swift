public import Glibc

/// An output under a name that a person gave. A file gets its name when it is whole (`AtomicFile`);
/// a link keeps leading to it. A named pipe, a terminal or an open descriptor is written through,
/// and never waited for longer than was said.
///
/// ```swift
/// let output = try OutputFile(OutputPlace("report.csv"), .command)
/// try output.write(Array("device_token,outcome\n".utf8))
/// try output.finish()
/// ```
public final class OutputFile {
    private enum Target {
        case whole(AtomicFile)
        case stream(StreamOutput)
    }

    private let target: Target

    /// - Parameters:
    ///   - mode: permissions of a new file, before the umask.
    ///   - isPrivate: only the owner has access to a new file, whatever the umask.
    /// - Throws: if the file cannot be made; `ENXIO` of a pipe without a reader, `ENODEV` of a
    ///   device that is not there.
    public init(_ place: OutputPlace, mode: mode_t = 0o666, isPrivate: Bool = false, _ timeout: OutputTimeouts)
        throws(FileError)
    {
        switch place {
        case .file(let path): target = .whole(try AtomicFile(path, mode: mode, isPrivate: isPrivate))
        case .stream, .descriptor: target = .stream(try StreamOutput(place, timeout))
        }
    }

    /// Appends bytes.
    public func write(_ bytes: [UInt8]) throws(FileError) {
        switch target {
        case .whole(let file): try file.write(bytes)
        case .stream(let stream): try stream.write(bytes)
        }
    }

    /// Gives a file its name.
    public func finish() throws(FileError) {
        if case .whole(let file) = target { try file.finish() }
    }
}

/// How long an output waits for the other end of a pipe or a terminal.
public struct OutputTimeouts: Sendable {
    /// How long a pipe may have no reader.
    let readerSeconds: Double
    /// How long the other end may take nothing.
    let roomSeconds: Double

    /// For a command: a person may start its reader later, and the reader may be a pager.
    public static let command = OutputTimeouts(readerSeconds: 30, roomSeconds: .infinity)
    /// For a process with more to do.
    public static let service = OutputTimeouts(readerSeconds: 0, roomSeconds: 1)
    /// For a loop that must not wait at all.
    public static let none = OutputTimeouts(readerSeconds: 0, roomSeconds: 0)
}

/// A pipe, a terminal, a socket or an open file that is written through. It is closed on `deinit`.
public final class StreamOutput {
    private let descriptor: Int32
    private let isSocket: Bool
    private let timeout: OutputTimeouts

    /// - Parameter place: anything but a file.
    public init(_ place: OutputPlace, _ timeout: OutputTimeouts) throws(FileError) {
        self.timeout = timeout
        switch place {
        case .file(let path): throw .notAFile(FileKind(path: path) ?? .regular)
        case .stream(let path):
            descriptor = try Self.open(path, timeout)
            isSocket = false
        case .descriptor(let number):
            guard let kind = FileKind(descriptor: number) else { throw .system(errno) }
            isSocket = kind == .socket
            // Opened again, because O_NONBLOCK would also apply to other processes that share the
            // descriptor. What may not be opened again is used as it is, and so is a file, because
            // others move its end.
            let isReopened = kind == .namedPipe || kind == .device
            let own = isReopened ? Glibc.open("/proc/self/fd/\(number)", Self.flags) : -1
            descriptor = own >= 0 ? own : fcntl(number, F_DUPFD_CLOEXEC, 3)
            guard descriptor >= 0 else { throw .system(errno) }
        }
    }

    deinit { close(descriptor) }

    private static let flags = O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC

    /// Opens a pipe or a device. Without O_NONBLOCK a pipe without a reader would be waited for
    /// forever.
    private static func open(_ path: String, _ timeout: OutputTimeouts) throws(FileError) -> Int32 {
        // No event tells of a reader.
        var retries = Retries(atMost: Int(timeout.readerSeconds * 50), milliseconds: 20)
        while true {
            let descriptor = Glibc.open(path, flags)
            if descriptor >= 0 { return descriptor }
            let code = errno
            // For a device file, this error means that the device does not exist and will not
            // appear: /dev/tty without a terminal.
            if code == ENXIO, FileKind(path: path) == .device { throw .system(ENODEV) }
            guard code == ENXIO || code == EINTR, retries.pause() else { throw .system(code) }
        }
    }

    /// Writes all bytes.
    /// - Throws: `EAGAIN` if the other end took no more for that long: a part of the bytes may be
    ///   written.
    public func write(_ bytes: [UInt8]) throws(FileError) {
        let (descriptor, isSocket, seconds) = (descriptor, isSocket, timeout.roomSeconds)
        let code = withPipeSignalBlocked {
            bytes.withUnsafeBytes { bytes -> Int32 in
                var rest = bytes[...]
                while !rest.isEmpty {
                    // A descriptor that could not be opened again may block: a piece fits whenever
                    // poll(2) finds room.
                    let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceBytes))
                    guard Self.isReady(descriptor, withinSeconds: seconds) else { return EAGAIN }
                    let count =
                        isSocket
                        ? send(descriptor, piece.baseAddress, piece.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
                        : Glibc.write(descriptor, piece.baseAddress, piece.count)
                    if count > 0 {
                        rest = rest.dropFirst(count)
                    } else if count == 0 {
                        return EIO
                    } else if errno != EINTR && errno != EAGAIN {
                        return errno
                    }
                }
                return 0
            }
        }
        guard code == 0 else { throw .system(code) }
    }

    /// PIPE_BUF of limits.h: pipe(7).
    private static let pieceBytes = 4096

    private static func isReady(_ descriptor: Int32, withinSeconds seconds: Double) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let end = ContinuousClock.now + .seconds(min(seconds, 1e9))
        while true {
            let left = ContinuousClock.now.duration(to: end) / .seconds(1)
            let count = poll(&polled, 1, Int32(max(0, min(left, 1_000) * 1_000)))
            if count > 0 { return true }
            guard left > 0 else { return false }
        }
    }
}

/// A file that appears under its name only when it is complete, and replaces whatever has the name.
/// Until then it has no name, so that a killed process leaves nothing behind. On file systems
/// without unnamed files it has a random name. A link under its name is replaced, never followed:
/// `OutputPlace` decides which links count.
///
/// ```swift
/// let file = try AtomicFile("report.csv")
/// try file.write(Array("device_token,outcome\n".utf8))
/// try file.finish()
/// ```
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
            descriptor = open(
                temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, isPrivate ? 0o600 : mode)
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

    /// An unnamed file in a folder. It disappears with its descriptor unless it gets a name; -1 if
    /// the file system has no unnamed files.
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

    /// A name that cannot be guessed, and that programs that collect files do not take for one of
    /// theirs.
    private static func randomPath(beside path: String) -> String {
        FilePaths.join(
            FilePaths.folder(of: path), name: ".volley-\(String(UInt64.random(in: 0...UInt64.max), radix: 16)).partial")
    }
}

/// Writes all bytes to a descriptor, even if it is a pipe or a terminal that does not block and
/// accepts only as many bytes as fit.
public enum WriteAll {
    /// - Returns: 0, or errno.
    public static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count == 0 {
                    return EIO
                } else if errno == EAGAIN {
                    waitForRoom(descriptor)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    /// Waits until the other end reads or closes, or a signal comes.
    private static func waitForRoom(_ descriptor: Int32) {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&polled, 1, -1)
    }
}
