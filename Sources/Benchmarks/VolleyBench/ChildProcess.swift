import Base
import Glibc
import Synchronization

/// Set by Ctrl-C and its like: every wait for a process ends then, and the benchmark removes what it made.
enum Interruption {
    private static let flag = Atomic(false)

    static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// Handlers, not SIG_IGN, which the processes that are started would inherit.
    static func install() {
        // Made before a signal can arrive: making a global in a handler is not safe.
        _ = isRequested
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number) { _ in Interruption.flag.store(true, ordering: .relaxed) } }
    }
}

/// A process that is measured: pinned to cores, its output kept, its time and memory taken from the kernel.
///
/// It is bounded twice over: it is killed when its time is up, and by the kernel when the benchmark dies before it.
final class ChildProcess {
    /// What a finished process cost.
    struct Result {
        /// The exit status; 128 + n after signal n.
        var status: Int32
        /// What it wrote to stdout.
        var output: String
        /// From start to exit.
        var seconds: Double
        /// User and system time.
        var cpuSeconds: Double
        /// The most memory it ever held.
        var peakBytes: Int
    }

    /// Also the program's own, as `env`, `setpriv` and `taskset` only ever replace themselves.
    let pid: pid_t
    private let name: String
    private let output: Int32
    private let start: ContinuousClock.Instant
    private let limit: Duration
    private var hasEnded = false

    /// Starts a program in a folder, pinned to cores.
    /// - Parameters:
    ///   - cores: as `taskset -c` reads them.
    ///   - seconds: it is killed after so many.
    init(cores: String, _ arguments: [String], folder: String, limitSeconds seconds: Double = 300) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Diagnostic("no pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let prefix = ["env", "-C", folder, "setpriv", "--pdeathsig", "KILL", "taskset", "-c", cores]
        var words = (prefix + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid = pid_t()
        name = arguments.prefix(2).joined(separator: " ")
        limit = .seconds(seconds)
        start = ContinuousClock.now
        let code = posix_spawnp(&pid, "env", &actions, nil, &words, environ)
        close(ends[1])
        guard code == 0 else {
            close(ends[0])
            throw Diagnostic("\(name) cannot be started: \(String(cString: strerror(code)))")
        }
        self.pid = pid
        output = ends[0]
    }

    deinit {
        if !hasEnded {
            kill(pid, SIGKILL)
            while waitpid(pid, nil, 0) < 0, errno == EINTR {}
        }
        close(output)
    }

    /// Reads up to the end of the first JSON document or line that ends with `}`; the process goes on.
    func readDocument() throws -> String {
        var text = ""
        while !text.hasSuffix("}\n"), let more = try readChunk() { text += more }
        return text
    }

    /// Asks it to end in good order.
    func terminate() { kill(pid, SIGTERM) }

    /// Waits for its end.
    func wait() throws -> Result {
        var text = ""
        while let more = try readChunk() { text += more }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(pid, &status, 0, &usage) < 0, errno == EINTR {}
        hasEnded = true
        return Result(
            status: status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F), output: text,
            seconds: (ContinuousClock.now - start) / .seconds(1),
            cpuSeconds: usage.cpuSeconds, peakBytes: Int(usage.ru_maxrss) * 1024)
    }

    /// nil at the end of its output, which is the end of the process, as it closes nothing before.
    private func readChunk() throws -> String? {
        while true {
            var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let ready = poll(&descriptor, 1, 200)
            if Interruption.isRequested { throw Diagnostic("interrupted") }
            guard ContinuousClock.now - start < limit else { throw Diagnostic("\(name) took longer than \(limit) and was ended") }
            if ready > 0 { break }
        }
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = read(output, &chunk, chunk.count)
        return count > 0 ? String(decoding: chunk[..<count], as: UTF8.self) : nil
    }
}

extension rusage {
    /// User and system time.
    var cpuSeconds: Double { [ru_utime, ru_stime].reduce(0.0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 } }
}
