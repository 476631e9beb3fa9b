import Glibc

/// A server in a separate program: a child of the test, killed with this value, together with the
/// processes that it started.
public final class ServerProcess {
    private let process: pid_t

    /// Starts a program and waits until it listens.
    /// - Parameters:
    ///   - log: gets its standard output and error; nil drops them.
    public init(_ program: String, _ arguments: [String], port: Int, log: String? = nil) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for descriptor in Int32(1)...2 {
            posix_spawn_file_actions_addopen(
                &actions, descriptor, log ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }
        // Threads of tests block signals; a program that inherited this would never receive them.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var nothing = sigset_t()
        sigemptyset(&nothing)
        posix_spawnattr_setsigmask(&attributes, &nothing)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var process = pid_t()
        var pointers = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        guard posix_spawnp(&process, program, &actions, &attributes, &pointers, environ) == 0 else {
            throw ServerUnavailable(what: "\(program) cannot be started")
        }
        self.process = process
        guard Sockets.waitForListener(port) else { throw ServerUnavailable(what: "\(program) does not listen") }
    }

    /// Starts a program on a port that was free a moment ago, or on another one if some other
    /// program was quicker.
    /// - Parameter arguments: gets the port.
    public static func onFreePort(
        _ program: String, log: String? = nil, _ arguments: (Int) -> [String]
    ) throws -> (process: ServerProcess, port: Int) {
        for _ in 0..<5 {
            let port = try Sockets.freePort()
            let server = try ServerProcess(program, arguments(port), port: port, log: log)
            // A program that cannot get the port ends; another one is listening there.
            usleep(20_000)
            if !server.hasEnded { return (server, port) }
        }
        throw ServerUnavailable(what: "\(program) finds no free port")
    }

    private var hasEnded: Bool {
        var state = siginfo_t()
        return waitid(P_PID, id_t(process), &state, WEXITED | WNOHANG | WNOWAIT) != 0 || state.si_signo != 0
    }

    /// Sends it a signal, such as SIGHUP.
    public func signal(_ number: Int32) { kill(process, number) }

    /// Sends a signal to it and to the processes that it started.
    public func signalAll(_ number: Int32) {
        for process in [process] + Self.descendants(of: process) { kill(process, number) }
    }

    /// Tells it to end by a signal, and waits until it has ended.
    /// - Parameter seconds: the longest time to wait.
    public func end(by number: Int32, within seconds: Double) {
        kill(process, number)
        for _ in 0..<Int(seconds * 100) where !hasEnded { usleep(10_000) }
    }

    deinit {
        // It has nothing to save, and some programs wait for their clients when they are told to
        // end. Its child processes would live on.
        let all = Self.descendants(of: process)
        for process in [process] + all { kill(process, SIGKILL) }
        waitpid(process, nil, 0)
    }

    /// The processes that a process started, and those that they started.
    private static func descendants(of process: pid_t) -> [pid_t] {
        guard let file = fopen("/proc/\(process)/task/\(process)/children", "r") else { return [] }
        defer { fclose(file) }
        var text = [UInt8](repeating: 0, count: 4096)
        let count = fread(&text, 1, text.count, file)
        let children = String(decoding: text[..<count], as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
        return children + children.flatMap(descendants)
    }

    /// Where a program is, nil if it is missing: installed, or unpacked by `make test`.
    public static func path(of program: String) -> String? {
        let sources = #filePath
        let unpacked = sources.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/.build/servers/usr"
        let folders = getenv("PATH").map { String(cString: $0).split(separator: ":").map(String.init) } ?? []
        // Not everybody's PATH includes administrators' programs.
        return (folders + ["/usr/sbin", unpacked + "/sbin", unpacked + "/bin"]).map { "\($0)/\(program)" }
            .first { access($0, X_OK) == 0 }
    }
}
