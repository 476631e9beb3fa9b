import Automation
import CLinux
import Glibc
import Commands

/// Prepares the process before a command begins: its parent may have left it in any state. The stages, which other programs embed, change
/// none of this.
enum ProcessSetup {
    static func prepare() {
        reserveStandardStreams()
        unblockSignals()
        keepMemoryPrivate()
        LastWords.install()
    }

    /// A closed standard stream's number would go to the next file or socket that is opened, and the report would be written into that. What takes
    /// the number instead can be used in the wrong direction only, so that using it still fails.
    private static func reserveStandardStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is this one, as those below it are taken.
            if open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0 { _ = open("/", O_RDONLY | O_DIRECTORY) }
        }
    }

    /// Where SIGCHLD is ignored, no exit code of a hook can be read; a mask that blocks the others makes Ctrl-C unheard.
    private static func unblockSignals() {
        signal(SIGCHLD, SIG_DFL)
        var heard = sigset_t()
        sigemptyset(&heard)
        for number in [SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGABRT] { sigaddset(&heard, number) }
        sigprocmask(SIG_UNBLOCK, &heard, nil)
        // A file that may not grow (`ulimit -f`) is an error of the write, like a full disk, and does not end the process.
        signal(SIGXFSZ, SIG_IGN)
        // Timers that were set before exec, and signals that other programs act on (dd's USR1, a daemon's), would end the process
        // in the middle of sending.
        for number in IgnoredSignals.all { signal(number, SIG_IGN) }
    }

    /// Keys will be in memory: no core shows them, and no other process of the account reads them.
    private static func keepMemoryPrivate() {
        // RLIMIT_CORE of sys/resource.h, an enumeration that Swift imports as a type of its own. Hooks may raise it again.
        let resource = __rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue))
        var limit = rlimit()
        if getrlimit(resource, &limit) == 0 {
            limit.rlim_cur = 0
            setrlimit(resource, &limit)
        }
        _ = volley_forbid_dumps()
    }
}

/// What is said when the process cannot go on: Swift ends a process that gets no more memory, or that finds a mistake in itself, by a signal. Scripts
/// must not take that for anything but what it was: nothing was sent, or a run was cut off.
private enum LastWords {
    private static let before = "volley: cannot continue: out of memory, or Volley has a bug. Nothing was sent.\n"
    private static let after = """
        volley: cannot continue: out of memory, or Volley has a bug. Sending had begun: `volley report` shows how far it got, and \
        `volley resume` continues a run.

        """

    private static let stackBytes = 64 << 10

    static func install() {
        // SWIFT_BACKTRACE asks for Swift's own account of a crash.
        if getenv("SWIFT_BACKTRACE") != nil { return }
        // They stay as long as the process does.
        volley_install_last_words(
            strdup(before), ExitStatus.wrong.rawValue, strdup(after), ExitStatus.stopped.rawValue, SendingFlag.word, malloc(stackBytes),
            stackBytes)
    }
}
