import Base
import Glibc

/// A process that is measured: pinned to a core, its output kept, its time and memory taken from the kernel.
struct ChildProcess {
    /// What a finished process cost.
    struct Result {
        var status: Int32
        var output: String
        /// From start to exit.
        var seconds: Double
        /// User and system time.
        var cpuSeconds: Double
        /// The most memory it ever held.
        var peakBytes: Int
    }

    private let pid: pid_t
    private let output: Int32
    private let start: ContinuousClock.Instant

    /// Starts a program in a folder, pinned to a core (`taskset -c`).
    init(core: Int, _ arguments: [String], folder: String) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Diagnostic("no pipe: \(String(cString: strerror(errno)))") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        defer { posix_spawn_file_actions_destroy(&actions) }
        var words = (["env", "-C", folder, "taskset", "-c", String(core)] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid = pid_t()
        start = ContinuousClock.now
        let code = posix_spawnp(&pid, "env", &actions, nil, &words, environ)
        close(ends[1])
        guard code == 0 else { throw Diagnostic("\(arguments[0]) cannot be started: \(String(cString: strerror(code)))") }
        self.pid = pid
        output = ends[0]
    }

    /// Reads up to the end of the first JSON document or line that ends with `}`; the process goes on.
    func readDocument() -> String {
        var text = ""
        while !text.hasSuffix("}\n"), let more = readChunk() { text += more }
        return text
    }

    /// Asks it to end in good order.
    func interrupt() { kill(pid, SIGINT) }

    /// Waits for its end.
    func wait() -> Result {
        var text = ""
        while let more = readChunk() { text += more }
        close(output)
        var status: Int32 = 0
        var usage = rusage()
        while wait4(pid, &status, 0, &usage) < 0, errno == EINTR {}
        let cpu = [usage.ru_utime, usage.ru_stime].reduce(0.0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
        return Result(
            status: status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F), output: text,
            seconds: (ContinuousClock.now - start) / .seconds(1),
            cpuSeconds: cpu, peakBytes: Int(usage.ru_maxrss) * 1024)
    }

    private func readChunk() -> String? {
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = read(output, &chunk, chunk.count)
        return count > 0 ? String(decoding: chunk[..<count], as: UTF8.self) : nil
    }
}
