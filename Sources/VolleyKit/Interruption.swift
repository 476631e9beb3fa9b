import Glibc
import Synchronization

/// Ctrl-C and SIGTERM: the first asks the command to end in good order, the second ends the process at once. Whatever was claimed
/// by then is in the run file, so nothing is lost either way.
enum Interruption {
    private static let signals = Atomic(0)

    /// Whether someone asked the process to end.
    static var isRequested: Bool { signals.load(ordering: .relaxed) > 0 }

    /// Takes over SIGINT and SIGTERM for the rest of the process.
    static func install() {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            // Only async-signal-safe things: an atomic and _exit.
            if Interruption.signals.wrappingAdd(1, ordering: .relaxed).oldValue > 0 { _exit(ExitStatus.interrupted.rawValue) }
        }
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
        // Whoever started the process may have had them blocked, and children inherit that.
        var both = sigset_t()
        sigemptyset(&both)
        sigaddset(&both, SIGINT)
        sigaddset(&both, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &both, nil)
    }
}
