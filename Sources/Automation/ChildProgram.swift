public import Base
public import Glibc

/// Starts programs, each in a process group of its own: Ctrl-C for this process does not reach
/// them, and everything that one starts can be killed with it. No signal is blocked or ignored
/// there, and a program gets only those open files of this process that it is given: it would hold
/// an inherited lock, for example, as long as it runs.
public enum ChildProgram {
    /// The environment of this process, without the variables that a manager of services meant for
    /// this process alone (`ServiceManager`).
    public static var environment: [String] {
        EnvironmentVariables.all.filter { entry in !ofManager.contains { entry.hasPrefix("\($0)=") } }
    }

    private static let ofManager = [ServiceManager.socketVariable, ServiceManager.watchdogVariable, "WATCHDOG_PID"]

    /// The same, so that a program that requests it (`volley_end_with_parent`) ends with this
    /// process, for any reason. The thread that starts it must live as long.
    public static var environmentOfSupervised: [String] {
        environment.filter { !$0.hasPrefix("VOLLEY_SUPERVISOR=") } + ["VOLLEY_SUPERVISOR=\(getpid())"]
    }

    /// Starts a program.
    /// - Parameters:
    ///   - arguments: the program, looked for in PATH if it is a plain name, and its arguments.
    ///   - input: its standard input; nil for an empty one.
    ///   - output: its standard output; nil for that of this process.
    ///   - errors: the same for standard error.
    /// - Throws: a `FileError`, the system's.
    public static func start(
        _ arguments: [String], environment: [String], input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil
    ) throws(FileError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        if let output { posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
        if let errors { posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }
        for descriptor in inheritedDescriptors { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setpgroup(&attributes, 0)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        sigaddset(&signals, SIGXFSZ)
        for number in IgnoredSignals.all { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var process = pid_t()
        let code = withPointers(arguments) { words in
            withPointers(environment) { posix_spawnp(&process, arguments[0], &actions, &attributes, words, $0) }
        }
        guard code == 0 else { throw .system(code) }
        return process
    }

    /// The descriptors that this process was started with, apart from the standard streams. They
    /// are closed in programs instead of being marked close-on-exec: that mark distinguishes an
    /// output's descriptor (`OutputPlace`) from those that this process opened itself.
    private static var inheritedDescriptors: [Int32] {
        ((try? Folder.names(in: "/proc/self/fd")) ?? []).compactMap { Int32($0) }.filter { descriptor in
            guard descriptor > 2, case let flags = fcntl(descriptor, F_GETFD) else { return false }
            return flags >= 0 && flags & FD_CLOEXEC == 0
        }
    }
}

/// Calls `body` with an array of C strings that ends with NULL.
private func withPointers<Value>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value) -> Value {
    let pointers = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers)
}

/// Signals that Volley does not use, and that would end it: their default action in POSIX is
/// termination.
public enum IgnoredSignals {
    /// The signals that the command line ignores. Hooks get their default actions back.
    public static let all = [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF]
}
