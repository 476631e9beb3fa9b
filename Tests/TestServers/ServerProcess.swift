import Glibc

/// A server that is a program of its own: a child of the test, ended with this value.
public final class ServerProcess {
    private let process: pid_t
    private let hasChildren: Bool

    /// Starts a program and waits until it listens.
    /// - Parameters:
    ///   - log: gets its standard output and error; nil drops them.
    ///   - hasChildren: whether it works in processes of its own, which it ends when it is asked to end.
    public init(_ program: String, _ arguments: [String], port: Int, log: String? = nil, hasChildren: Bool = false) throws {
        self.hasChildren = hasChildren
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for descriptor in Int32(1)...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, log ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }
        var process = pid_t()
        var pointers = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        guard posix_spawnp(&process, program, &actions, nil, &pointers, environ) == 0 else {
            throw ServerUnavailable(what: "\(program) cannot be started")
        }
        self.process = process
        guard Sockets.waitForListener(port) else { throw ServerUnavailable(what: "\(program) does not listen") }
    }

    /// Starts a program on a port that was free a moment ago; on another one when somebody else was quicker.
    /// - Parameter arguments: given the port.
    public static func onFreePort(
        _ program: String, log: String? = nil, _ arguments: (Int) -> [String]
    ) throws -> (process: ServerProcess, port: Int) {
        for _ in 0..<5 {
            let port = try Sockets.freePort()
            let server = try ServerProcess(program, arguments(port), port: port, log: log)
            // Whoever cannot have the port ends; whoever listens there is another one then.
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

    deinit {
        if hasChildren {
            kill(process, SIGTERM)
            for _ in 0..<100 where !hasEnded { usleep(20_000) }
        }
        // It has nothing to save, and some wait for their clients when they are asked to end.
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    /// Where a program is, nil when it is not there: installed, or unpacked by `make test`.
    public static func path(of program: String) -> String? {
        let sources = #filePath
        let unpacked = sources.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/.build/servers/usr"
        let folders = getenv("PATH").map { String(cString: $0).split(separator: ":").map(String.init) } ?? []
        // Programs of administrators are not in everybody's PATH.
        return (folders + ["/usr/sbin", unpacked + "/sbin", unpacked + "/bin"]).map { "\($0)/\(program)" }
            .first { access($0, X_OK) == 0 }
    }
}
