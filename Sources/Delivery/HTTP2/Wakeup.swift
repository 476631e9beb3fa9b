import Base
import Glibc

/// Wakes a loop that sleeps in epoll, from any thread: a pipe to itself.
final class Wakeup: Sendable {
    /// Becomes readable with `wake`.
    let descriptor: Int32
    private let writing: Int32

    /// - Throws: a `Diagnostic` when no more files can be opened.
    init() throws(Diagnostic) {
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

    func wake() {
        var one: UInt8 = 1
        // Full means that the loop has not even noticed the last calls.
        _ = write(writing, &one, 1)
    }

    /// Forgets the calls so far.
    func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) == bytes.count {}
    }
}
