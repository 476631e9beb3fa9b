import Automation
import Base
import CLinux
import Glibc
import Commands

/// Prepares the process before a command begins: its parent may have left it in any state. The
/// stages, which other programs embed, change none of these settings.
enum ProcessSetup {
    static func prepare() {
        volley_limit_heaps()
        reserveStandardStreams()
        unblockSignals()
        // Read before `volley_end_with_parent`, which removes the variable.
        if EnvironmentVariables["VOLLEY_SUPERVISOR"] != nil { Supervisor.note() }
        // `volley serve` started it, and has ended already.
        if volley_end_with_parent() != 0 { exit(ExitStatus.interrupted.rawValue) }
        keepMemoryPrivate()
        CrashMessage.install()
    }

    /// Fills the numbers of closed standard streams. Otherwise the next file or socket would get
    /// such a number, and the report would be written into it. The replacement is open in the wrong
    /// direction only, so using it still fails.
    private static func reserveStandardStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // open(2) returns the lowest free number. That is this one, because the lower ones are
            // in use.
            if open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0 {
                _ = open("/", O_RDONLY | O_DIRECTORY)
            }
        }
    }

    /// Resets signals. If SIGCHLD is ignored, Volley cannot read a hook's exit code; if the mask
    /// blocks the other signals, Ctrl-C has no effect.
    private static func unblockSignals() {
        signal(SIGCHLD, SIG_DFL)
        var heard = sigset_t()
        sigemptyset(&heard)
        for number in [SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGABRT] { sigaddset(&heard, number) }
        sigprocmask(SIG_UNBLOCK, &heard, nil)
        // When a file reaches its size limit (`ulimit -f`), the write must fail, as on a full disk,
        // and not end the process.
        signal(SIGXFSZ, SIG_IGN)
        // Timers that were set before exec, and signals that other programs act on (dd's USR1, a
        // daemon's), would end the process in the middle of sending.
        for number in IgnoredSignals.all { signal(number, SIG_IGN) }
    }

    /// Protects the keys in memory: no core dump contains them, and no other process of the account
    /// can read them.
    private static func keepMemoryPrivate() {
        // RLIMIT_CORE of sys/resource.h is an enumeration that Swift imports as a separate type.
        // Hooks may raise the limit again.
        let resource = __rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue))
        var limit = rlimit()
        if getrlimit(resource, &limit) == 0 {
            limit.rlim_cur = 0
            setrlimit(resource, &limit)
        }
        _ = volley_forbid_dumps()
    }
}

/// The message when the process cannot continue: Swift ends a process by a signal if it gets no
/// more memory or finds a mistake in itself. Scripts must be able to tell whether nothing was sent
/// or a run was cut off.
private enum CrashMessage {
    private static let why = "out of memory, or Volley has a bug"
    /// SQLite maps the index of a database that is being written (`-shm`) into memory.
    private static let whyOfFile = "another program cut short a file that is in use, or its disk failed"

    private static func before(_ why: String) -> UnsafeMutablePointer<CChar>? {
        strdup("volley: cannot continue: \(why). Nothing was sent.\n")
    }

    private static func after(_ why: String) -> UnsafeMutablePointer<CChar>? {
        strdup(
            "volley: cannot continue: \(why). Sending had begun: `volley report` shows how far it got, and `volley resume` continues a run.\n"
        )
    }

    private static let stackBytes = 64 << 10

    static func install() {
        // SWIFT_BACKTRACE turns on Swift's own crash report.
        if EnvironmentVariables["SWIFT_BACKTRACE"] != nil { return }
        // The messages are never freed: the handler may need them until the process ends.
        volley_install_last_words(
            before(why), before(whyOfFile), ExitStatus.wrong.rawValue, after(why), after(whyOfFile),
            ExitStatus.stopped.rawValue,
            SendingFlag.word, malloc(stackBytes), stackBytes)
    }
}
