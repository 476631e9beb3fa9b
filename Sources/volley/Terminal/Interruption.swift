import Automation
import Base
import Glibc

/// The handling of Ctrl-C, SIGTERM, the end of a terminal session, and the limit of processor time (`ulimit -t`). The first signal asks the
/// command to end cleanly; the second ends the process at once. All claims until then are in the run file, so nothing is lost either way.
///
/// For a child of `volley serve`, further SIGTERMs say the same once more, and end nothing at once: Linux sends one for each thread of the parent that
/// ends (PR_SET_PDEATHSIG(2const); `forget_original_parent` in kernel/exit.c), and systemd sends one to all processes of a unit, beside that of
/// `volley serve`.
enum Interruption {
    private static let made = Result { () throws(Diagnostic) in try Cancellation() }

    /// The cancellation that the first signal requests.
    static var process: Cancellation {
        guard case .success(let cancellation) = made else { preconditionFailure("a command began without `Interruption.ensure`") }
        return cancellation
    }

    /// Makes the cancellation.
    /// - Throws: a `Diagnostic` if no more files can be opened: then nothing could ask the command to end.
    static func ensure() throws(Diagnostic) { _ = try made.get() }

    /// Takes over SIGINT, SIGTERM, SIGXCPU and SIGHUP for the rest of the process; a SIGHUP that is ignored (nohup) stays ignored, and one that is
    /// expected (`Hangup`) ends nothing.
    static func install() {
        // Initialize the global before a signal can arrive: initializing it in a handler is not safe.
        _ = (process.isRequested, Supervisor.isThere, Hangup.endsNothing, RunningHooks.prepare())
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            // SIGXCPU repeats with every second of processor time, until SIGKILL follows.
            if number == SIGXCPU || number == SIGTERM && Supervisor.isThere, Interruption.process.isRequested { return }
            // Use only what is async-signal-safe: an atomic, kill, _exit and write. The interrupted code may be about to read errno.
            let code = errno
            if number == SIGHUP, Hangup.note() {
                errno = code
                return
            }
            if Interruption.process.request() > 0 {
                RunningHooks.killForGood()
                _exit(ExitStatus.interrupted.rawValue)
            }
            errno = code
        }
        // The parent process may have blocked these signals, and children inherit the mask.
        var taken = sigset_t()
        sigemptyset(&taken)
        for number in [SIGINT, SIGTERM, SIGXCPU, SIGHUP] {
            var before = sigaction()
            sigaction(number, nil, &before)
            let isIgnored = unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
            if number == SIGHUP, isIgnored { continue }
            // One that ends nothing must not break off what is being read or written either.
            action.sa_flags = number == SIGHUP && Hangup.endsNothing ? SA_RESTART : 0
            sigaction(number, &action, nil)
            sigaddset(&taken, number)
        }
        pthread_sigmask(SIG_UNBLOCK, &taken, nil)
    }
}
