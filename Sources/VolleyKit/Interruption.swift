import Base
import Delivery
import Glibc
import Synchronization

/// Ctrl-C, SIGTERM, the end of a terminal session, and that of the processor time that a process may take (`ulimit -t`): the first asks the
/// command to end in good order, the second ends the process at once. Whatever was claimed by then is in the run file, so nothing is lost
/// either way.
enum Interruption {
    private static let signals = Atomic(0)

    /// Whether someone asked the process to end.
    static var isRequested: Bool { signals.load(ordering: .relaxed) > 0 }

    /// Ends everything that goes on in this process in good order, as the first Ctrl-C does.
    static func request() { signals.wrappingAdd(1, ordering: .relaxed) }

    /// Takes over SIGINT, SIGTERM, SIGXCPU and SIGHUP for the rest of the process; a SIGHUP that is ignored (nohup) stays ignored.
    static func install() {
        // Made before a signal can arrive: making a global in a handler is not safe.
        _ = isRequested
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            // Only async-signal-safe things: an atomic and _exit. SIGXCPU comes again with every second of processor time, until SIGKILL comes.
            if number == SIGXCPU, Interruption.isRequested { return }
            if Interruption.signals.wrappingAdd(1, ordering: .relaxed).oldValue > 0 { _exit(ExitStatus.interrupted.rawValue) }
        }
        // Whoever started the process may have had them blocked, and children inherit that.
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

    /// Waits for a sender, and tells it when someone asks the process to end.
    /// - Parameter tick: called fifty times a second.
    static func pass(to control: SendControl, until sender: WorkerThread<SendEnd>, _ console: Console, tick: () -> Void = {}) {
        while !sender.isFinished {
            usleep(20_000)
            if isRequested, !control.isInterrupted {
                console.say("Interrupted: waiting for the answers that are under way. Once more ends at once.")
                control.interrupt()
            }
            tick()
        }
    }
}
