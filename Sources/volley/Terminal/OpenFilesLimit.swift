import Base
import Glibc

/// The limit of files and sockets that the process may have open.
enum OpenFilesLimit {
    /// The limit that is enough: a run opens about 25, and a few more for each connection.
    private static let needed: rlim_t = 96
    /// The files that must be free below the limit: the parent process may have left others open. A run of one connection opens 22. With
    /// fewer, libdispatch (a part of Swift) can end the process: it traps when it cannot open the state of one of its threads.
    private static let neededFree = 24
    /// The limit to ask for: a run never uses more.
    private static let wanted: rlim_t = 4096

    /// Raises the limit as far as the system allows, and checks that it is enough. Otherwise the run would meet it midway.
    /// - Throws: a `Diagnostic` if the limit is too low.
    static func ensure() throws(Diagnostic) {
        var limit = rlimit()
        // RLIMIT_NOFILE of sys/resource.h is an enumeration that Swift imports as a separate type.
        let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
        guard getrlimit(resource, &limit) == 0 else { return }
        if limit.rlim_cur < wanted, limit.rlim_max > limit.rlim_cur {
            var raised = limit
            raised.rlim_cur = min(limit.rlim_max, wanted)
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        let remedy = "Raise the limit: `ulimit -n 1024`, or LimitNOFILE=1024 of a systemd unit."
        guard limit.rlim_cur >= needed else {
            throw Diagnostic("this process may have no more than \(limit.rlim_cur) files open, but needs \(needed)", remedy: remedy)
        }
        let free = countFree(atMost: neededFree)
        guard free >= neededFree else {
            throw Diagnostic(
                "this process may have \(limit.rlim_cur) files open, and only \(free) more than are open by now, but needs \(neededFree) more",
                remedy: remedy)
        }
    }

    /// Counts by opening files, as the system too may have no more.
    private static func countFree(atMost most: Int) -> Int {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        while descriptors.count < most {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { break }
            descriptors.append(descriptor)
        }
        return descriptors.count
    }
}
