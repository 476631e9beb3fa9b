import Automation
import Base
import Glibc
import Logs
import Synchronization

/// The handling of Ctrl-C, SIGTERM, the end of a terminal session, and the limit of processor time
/// (`ulimit -t`). The first signal makes the command end cleanly; the second ends the process at
/// once. All claims until then are in the run file, so nothing is lost either way.
///
/// For a child of `volley serve`, further SIGTERMs only repeat the first one, and end nothing at
/// once: Linux sends one for each thread of the parent that ends (PR_SET_PDEATHSIG(2const);
/// `forget_original_parent` in kernel/exit.c), and systemd sends one to all processes of a unit, in
/// addition to that of `volley serve`.
enum Interruption {
    private static let made = Result { () throws(Diagnostic) in try Cancellation() }

    /// The cancellation that the first signal requests.
    static var process: Cancellation {
        guard case .success(let cancellation) = made else {
            preconditionFailure("a command began without `Interruption.ensure`")
        }
        return cancellation
    }

    /// Whether a signal has requested the end; false also before `ensure`.
    static var isRequested: Bool { (try? made.get())?.isRequested ?? false }

    /// Makes the cancellation.
    /// - Throws: a `Diagnostic` if no more files can be opened: then no signal could end the
    ///   command.
    static func ensure() throws(Diagnostic) { _ = try made.get() }

    /// Takes over SIGINT, SIGTERM, SIGXCPU and SIGHUP for the rest of the process; a SIGHUP that is
    /// ignored (nohup) stays ignored, and one that is expected (`HangupSignal`) ends nothing.
    static func install() {
        // Initialize the global before a signal can arrive: initializing it in a handler is not
        // safe.
        _ = (process.isRequested, Supervisor.isThere, HangupSignal.endsNothing, RunningHooks.prepare())
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            // SIGXCPU repeats with every second of processor time, until SIGKILL follows.
            if number == SIGXCPU || number == SIGTERM && Supervisor.isThere, Interruption.process.isRequested { return }
            // Use only what is async-signal-safe: an atomic, kill, _exit and write. The interrupted
            // code may be about to read errno.
            let code = errno
            if number == SIGHUP, HangupSignal.note() {
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
            let isIgnored =
                unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
            if number == SIGHUP, isIgnored { continue }
            // A signal that ends nothing must not interrupt reads or writes, either.
            action.sa_flags = number == SIGHUP && HangupSignal.endsNothing ? SA_RESTART : 0
            sigaction(number, &action, nil)
            sigaddset(&taken, number)
        }
        pthread_sigmask(SIG_UNBLOCK, &taken, nil)
    }
}

/// The `volley serve` that started this process, if one did.
public enum Supervisor {
    private static let isKnown = Atomic(false)

    /// Notes that there is one. Call it before a command begins.
    public static func note() { isKnown.store(true, ordering: .relaxed) }

    /// Whether there is one. Safe in a signal handler after `note` or a first read.
    static var isThere: Bool { isKnown.load(ordering: .relaxed) }
}

/// SIGHUP for the commands that stay. At a terminal it means that the session is over, and ends the
/// command (`Interruption`). From a manager of services, or a script written for it, it means "read
/// your files again": there is nothing to do, and the command only says so. A service that ended
/// because of it would stay down, as its manager takes 130 for an end in good order.
enum HangupSignal {
    private static let rung = Result { () throws(Diagnostic) in try Wakeup() }
    private static let isExpected = Atomic(false), hasCome = Atomic(false)

    /// Whether a SIGHUP ends nothing. Safe in a signal handler after a first read.
    static var endsNothing: Bool { isExpected.load(ordering: .relaxed) }

    /// Signalled by each SIGHUP that ends nothing. Call `expect` before.
    static var wakeup: Wakeup {
        guard case .success(let wakeup) = rung else { preconditionFailure("a command began without `Hangup.expect`") }
        return wakeup
    }

    /// Has SIGHUP end nothing if a manager of services started this process. Call it before
    /// `Interruption.install`.
    /// - Throws: a `Diagnostic` if no more files can be opened.
    static func expect(_ console: Console) throws(Diagnostic) {
        _ = try rung.get()
        // A shell in a terminal that a service started also has the manager's variables.
        let isService = Supervisor.isThere || ServiceManager.isThere || JournalStream.isStandardError
        isExpected.store(isService && !console.inputIsTerminal, ordering: .relaxed)
    }

    /// Notes a SIGHUP. Safe in a signal handler.
    /// - Returns: false if it means the end.
    static func note() -> Bool {
        guard endsNothing else { return false }
        hasCome.store(true, ordering: .relaxed)
        wakeup.wake()
        return true
    }

    /// Reports, if one came since the last call, that there was nothing to do.
    static func answer(_ console: Console) {
        guard hasCome.exchange(false, ordering: .relaxed) else { return }
        console.say(
            "SIGHUP: there is nothing to reload. Campaigns are read as they change; what is read only at the start needs a restart."
        )
    }
}
