import Base
import Glibc

/// How much memory the process may have (`ulimit -v`).
enum MemoryLimit {
    /// Megabytes of addresses that sending needs; most are never written to. With less, a process could end between a claim and its pushes.
    private static let needed = 512

    /// Checks that the limit is enough, before anything is begun: Swift ends a process that gets no memory.
    /// - Throws: a `Diagnostic` when it is too low.
    static func ensure() throws(Diagnostic) {
        var limit = rlimit()
        // RLIMIT_AS of sys/resource.h, an enumeration that Swift imports as a type of its own.
        guard getrlimit(__rlimit_resource_t(UInt32(RLIMIT_AS.rawValue)), &limit) == 0 else { return }
        let megabytes = Int(clamping: limit.rlim_cur >> 20)
        guard megabytes < needed else { return }
        throw Diagnostic(
            "this process may have no more than \(megabytes) MB of memory, but needs \(needed)",
            remedy: "Raise the limit: `ulimit -v \(needed * 2 << 10)`, or `ulimit -v unlimited`.")
    }
}
