import Glibc

/// Wakes a thread that sleeps in poll or epoll, from any other thread: a pipe to itself. A call that comes before the sleep is not lost.
public final class Wakeup: Sendable {
    /// Becomes readable with `wake`, and stays readable until `clear`.
    public let descriptor: Int32
    private let writing: Int32

    /// - Throws: a `Diagnostic` if no more files can be opened.
    public init() throws(Diagnostic) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Diagnostic.noMoreFiles(errno) }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (descriptor, writing) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writing)
    }

    /// Wakes the thread that waits, or the next one that does. Safe in a signal handler.
    public func wake() {
        var one: UInt8 = 1
        // If the pipe is full, the sleeper has not noticed the earlier calls either.
        _ = write(writing, &one, 1)
    }

    /// Forgets the calls so far.
    public func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
            while read(descriptor, bytes.baseAddress, bytes.count) == bytes.count {}
        }
    }

    /// Sleeps until `wake` is called or the time is over, and forgets the calls so far.
    /// - Parameter seconds: nil for no limit.
    public func wait(atMost seconds: Double? = nil) {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // A signal may interrupt the sleep. The caller checks why it woke anyway, and waits again.
        _ = poll(&watched, 1, pollTimeout(seconds))
        clear()
    }
}

/// A length of time as poll takes it: milliseconds, rounded up, so that no thread wakes too early only to sleep again. At most 24 days.
/// - Parameter seconds: nil for no limit.
public func pollTimeout(_ seconds: Double?) -> Int32 {
    guard let seconds else { return -1 }
    return Int32(clamping: Int(min(max(0, seconds * 1000), Double(Int32.max)).rounded(.up)))
}

extension Diagnostic {
    /// A descriptor that a thread needs cannot be opened.
    /// - Parameter code: errno of the call that failed.
    public static func noMoreFiles(_ code: Int32) -> Diagnostic {
        Diagnostic(
            "Volley cannot open more files or sockets: \(SystemError.words(code))",
            remedy: "Close other programs, or raise the limit: `ulimit -n 1024`.")
    }
}
