import Base
import Glibc

/// A child of `volley serve`. It ends by SIGTERM when `volley serve` does, however that comes about.
struct ServedProcess: Sendable {
    /// Its number.
    let process: pid_t
    private let end: WorkerThread<Int32>

    /// Starts a program.
    /// - Parameter ended: rung when it has ended.
    /// - Throws: `Diagnostic`: it cannot be started.
    init(_ program: String, _ arguments: [String], ringing ended: Wakeup) throws(Diagnostic) {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A process group of its own: Ctrl-C reaches volley serve alone, which ends its children one after the other.
        posix_spawnattr_setpgroup(&attributes, 0)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        let words = ([program] + arguments).map { strdup($0) } + [nil]
        let environment = Self.environment().map { strdup($0) } + [nil]
        defer { for text in words + environment { free(text) } }
        var process = pid_t()
        let code = posix_spawn(&process, program, &actions, &attributes, words, environment)
        guard code == 0 else {
            throw Diagnostic(
                "it cannot be started: \(String(cString: strerror(code)))", file: program,
                remedy: "Make sure that the file is there and may be executed.")
        }
        self.process = process
        let child = process
        end = try WorkerThread("child", ringing: ended) {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            return status
        }
    }

    /// Whether it has ended.
    var hasEnded: Bool { end.isFinished }

    /// How it ended, once it has: its exit code; nil if a signal ended it. Call it once.
    func exitCode() -> Int32? {
        let status = end.join()
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }

    /// Asks it to end.
    func terminate() { kill(process, SIGTERM) }

    /// This process's, and who it is.
    private static func environment() -> [String] {
        var values: [String] = []
        var next = environ
        while let entry = next.pointee {
            values.append(String(cString: entry))
            next += 1
        }
        return values.filter { !$0.hasPrefix("VOLLEY_SUPERVISOR=") } + ["VOLLEY_SUPERVISOR=\(getpid())"]
    }
}
