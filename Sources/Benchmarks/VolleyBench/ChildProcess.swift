import Base
import Glibc
import Synchronization

/// Set by Ctrl-C and similar signals. Every wait for a process then ends, and the benchmark removes
/// what it made.
enum Interruption {
    private static let flag = Atomic(false)

    static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// Installs handlers. With SIG_IGN instead, the started processes would inherit it.
    static func install() {
        // Initializes the flag before a signal can arrive: initializing a global in a handler is
        // not safe.
        _ = isRequested
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { _ in Interruption.flag.store(true, ordering: .relaxed) }
        }
    }
}

/// A measured process: pinned to cores, with its output kept and its time and memory taken from the
/// kernel.
///
/// It cannot run for ever: the benchmark kills it when its time is up, and the kernel kills it if
/// the benchmark dies first.
final class ChildProcess {
    /// What a finished process cost.
    struct Result {
        /// The exit status; 128 + n after signal n.
        var status: Int32
        /// What it wrote to stdout.
        var output: String
        /// The time from start to exit.
        var seconds: Double
        /// User and system time.
        var cpuSeconds: Double
        /// The most memory it ever held.
        var peakBytes: Int
    }

    /// The process id. It is also the program's, because `env`, `setpriv` and `taskset` replace
    /// themselves with what they start.
    let pid: pid_t
    private let name: String
    private let output: Int32
    private let start: ContinuousClock.Instant
    private let limit: Duration
    private var hasEnded = false

    /// Starts a program in a folder, pinned to cores.
    /// - Parameters:
    ///   - cores: the cores, in the format of `taskset -c`.
    ///   - seconds: the time after which it is killed.
    init(cores: String, _ arguments: [String], folder: String, limitSeconds seconds: Double = 300) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Diagnostic("cannot make a pipe: \(String(cString: strerror(errno)))") }
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

    /// Reads up to the end of the first JSON document or line that ends with `}`. The process
    /// continues.
    func readDocument() throws -> String {
        var text = ""
        while !text.hasSuffix("}\n"), let more = try readChunk() { text += more }
        return text
    }

    /// Tells the process to end in good order.
    func terminate() { kill(pid, SIGTERM) }

    /// Waits for the process to end.
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

    /// Reads more output; nil at its end. That is the end of the process, which does not close its
    /// output before.
    private func readChunk() throws -> String? {
        while true {
            var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let ready = poll(&descriptor, 1, 200)
            if Interruption.isRequested { throw Diagnostic("interrupted") }
            guard ContinuousClock.now - start < limit else {
                throw Diagnostic("\(name) took longer than \(limit) and was ended")
            }
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
