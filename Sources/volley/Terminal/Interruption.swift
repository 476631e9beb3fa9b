import Base
import Glibc

/// Ctrl-C, SIGTERM, the end of a terminal session, and that of the processor time that a process may take (`ulimit -t`): the first asks the
/// command to end cleanly, the second ends the process at once. Whatever was claimed by then is in the run file, so nothing is lost
/// either way.
enum Interruption {
    private static let made = Result { () throws(Diagnostic) in try Cancellation() }

    /// Requested by the first signal.
    static var process: Cancellation {
        guard case .success(let cancellation) = made else { preconditionFailure("a command began without `Interruption.ensure`") }
        return cancellation
    }

    /// Makes what is requested.
    /// - Throws: a `Diagnostic` when no more files can be opened: the command could not be asked to end.
    static func ensure() throws(Diagnostic) { _ = try made.get() }

    /// Takes over SIGINT, SIGTERM, SIGXCPU and SIGHUP for the rest of the process; a SIGHUP that is ignored (nohup) stays ignored.
    static func install() {
        // Made before a signal can arrive: making a global in a handler is not safe.
        _ = process.isRequested
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            // SIGXCPU comes again with every second of processor time, until SIGKILL comes.
            if number == SIGXCPU, Interruption.process.isRequested { return }
            // Only async-signal-safe things: an atomic, _exit and write. What is interrupted may be about to look at errno.
            let code = errno
            if Interruption.process.request() > 0 { _exit(ExitStatus.interrupted.rawValue) }
            errno = code
        }
        // The parent process may have blocked them, and children inherit that.
        var taken = sigset_t()
        sigemptyset(&taken)
        for number in [SIGINT, SIGTERM, SIGXCPU, SIGHUP] {
            var before = sigaction()
            sigaction(number, nil, &before)
            let isIgnored = unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
            if number == SIGHUP, isIgnored { continue }
            sigaction(number, &action, nil)
            sigaddset(&taken, number)
        }
        pthread_sigmask(SIG_UNBLOCK, &taken, nil)
    }
}
