import Base
import Glibc

/// The limit of the process's memory (`ulimit -v`).
enum MemoryLimit {
    /// The megabytes of addresses that sending needs; most are never written to. With fewer, the process could end between a claim and its
    /// pushes.
    private static let needed = 512

    /// Checks the limit before anything begins: Swift ends a process that gets no memory.
    /// - Throws: a `Diagnostic` if the limit is too low.
    static func ensure() throws(Diagnostic) {
        var limit = rlimit()
        // RLIMIT_AS of sys/resource.h is an enumeration that Swift imports as a separate type.
        guard getrlimit(__rlimit_resource_t(UInt32(RLIMIT_AS.rawValue)), &limit) == 0 else { return }
        let megabytes = Int(clamping: limit.rlim_cur >> 20)
        guard megabytes < needed else { return }
        throw Diagnostic(
            "this process may have no more than \(megabytes) MB of memory, but needs \(needed)",
            remedy: "Raise the limit: `ulimit -v \(needed * 2 << 10)`, or `ulimit -v unlimited`.")
    }
}
