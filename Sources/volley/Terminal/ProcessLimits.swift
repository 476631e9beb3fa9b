import Base
import Glibc

/// The limit of the process's memory (`ulimit -v`).
enum MemoryLimit {
    /// The megabytes of addresses that sending needs; most are never written to. With fewer, the
    /// process could end between a claim and its pushes.
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

/// The limit of threads that the process may start.
enum ThreadLimit {
    /// The threads that must be free. A run uses about ten: for readers, recorder, sender, notices,
    /// name resolution, SQLite and the simulator.
    private static let needed = 12

    /// Checks that enough threads are free by starting them: how many are left depends on other
    /// processes of the account, on memory and on the container. Otherwise the run would meet the
    /// limit midway.
    ///
    /// libdispatch (a part of Swift) reads the state of its threads every second, and traps when it
    /// cannot: without /proc a command would end at some moment of its work.
    /// - Throws: a `Diagnostic` if too few are free, or their state cannot be read.
    static func ensure() throws(Diagnostic) {
        guard access("/proc/self/task", R_OK) == 0 else {
            throw Diagnostic(
                "there is no /proc here, and Volley cannot work for long without it",
                remedy: "Mount it (mount -t proc proc /proc), or start Volley outside of this environment.")
        }
        let gate = BoundedQueue<Never>(capacity: 1)
        var threads: [WorkerThread<Void>] = []
        defer {
            gate.close()
            for thread in threads { thread.join() }
        }
        while threads.count < needed {
            do throws(Diagnostic) { threads.append(try WorkerThread("check") { _ = gate.take() }) } catch {
                var mistake = error
                mistake.message =
                    "this process may start at most \(threads.count) \(TextFormat.plural(threads.count, one: "thread")), but needs \(needed)"
                throw mistake
            }
        }
    }
}

/// The limit of files and sockets that the process may have open.
enum OpenFilesLimit {
    /// The limit that is enough: a run opens about 25, and a few more for each connection.
    private static let needed: rlim_t = 96
    /// The files that must be free below the limit: the parent process may have left others open. A
    /// run of one connection opens 22. With fewer, libdispatch (a part of Swift) can end the
    /// process: it traps when it cannot open the state of one of its threads.
    private static let neededFree = 24
    /// The limit to request: a run never uses more.
    private static let wanted: rlim_t = 4096

    /// Raises the limit as far as the system allows, and checks that it is enough. Otherwise the
    /// run would meet it midway.
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
            throw Diagnostic(
                "this process may have no more than \(limit.rlim_cur) files open, but needs \(needed)", remedy: remedy)
        }
        let free = countFree(atMost: neededFree)
        guard free >= neededFree else {
            throw Diagnostic(
                "this process may have \(limit.rlim_cur) files open, and only \(free) more than are open by now, but needs \(neededFree) more",
                remedy: remedy)
        }
    }

    /// Counts by opening files, as the system may also have no more.
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
