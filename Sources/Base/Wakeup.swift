import Glibc

/// Wakes a thread that sleeps in poll or epoll, from any other: a pipe to itself. A word that comes before the sleep is not lost.
public final class Wakeup: Sendable {
    /// Becomes readable with `wake`, and stays so until `clear`.
    public let descriptor: Int32
    private let writing: Int32

    /// - Throws: a `Diagnostic` when no more files can be opened.
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

    /// Wakes who waits, or who waits next. Safe in a signal handler.
    public func wake() {
        var one: UInt8 = 1
        // Full means that the sleeper has not even noticed the last calls.
        _ = write(writing, &one, 1)
    }

    /// Forgets the calls so far.
    public func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
            while read(descriptor, bytes.baseAddress, bytes.count) == bytes.count {}
        }
    }

    /// Sleeps until `wake` is called, or so long, and forgets the calls so far.
    /// - Parameter seconds: nil for as long as it takes.
    public func wait(atMost seconds: Double? = nil) {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // Interrupted by a signal it is asked again by the caller, who looks why it was woken anyway.
        _ = poll(&watched, 1, pollTimeout(seconds))
        clear()
    }
}

/// What poll takes for a length of time: milliseconds, rounded up, so that nobody is woken too early and sleeps on for nothing. It ends after 24 days
/// at the latest.
/// - Parameter seconds: nil for ever.
public func pollTimeout(_ seconds: Double?) -> Int32 {
    guard let seconds else { return -1 }
    return Int32(clamping: Int(min(max(0, seconds * 1000), Double(Int32.max)).rounded(.up)))
}

extension Diagnostic {
    /// What a thread needs cannot be opened.
    /// - Parameter code: errno of the call that failed.
    public static func noMoreFiles(_ code: Int32) -> Diagnostic {
        Diagnostic(
            "Volley cannot open more files or sockets: \(String(cString: strerror(code)))",
            remedy: "Close other programs, or raise the limit: `ulimit -n 1024`.")
    }
}
