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

    /// Readable for good once someone asked, so that all who wait are woken; nil when no more files can be opened.
    private static let asked = try? Wakeup()

    /// Ends everything that goes on in this process in good order, as the first Ctrl-C does.
    static func request() {
        signals.wrappingAdd(1, ordering: .relaxed)
        asked?.wake()
    }

    /// Sleeps until someone asks the process to end, if nobody did yet, or something else happens.
    /// - Parameters:
    ///   - milliseconds: at most so long.
    ///   - wakeup: ends the sleep too.
    /// - Returns: whether `wakeup` was rung.
    @discardableResult
    static func rest(milliseconds: Int, orUntil wakeup: Wakeup? = nil) -> Bool {
        var watched = [
            pollfd(fd: wakeup?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isRequested ? -1 : asked?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        return poll(&watched, 2, Int32(milliseconds)) > 0 && watched[0].revents != 0
    }

    /// Takes over SIGINT, SIGTERM, SIGXCPU and SIGHUP for the rest of the process; a SIGHUP that is ignored (nohup) stays ignored.
    static func install() {
        // Made before a signal can arrive: making a global in a handler is not safe.
        _ = (isRequested, asked)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            // SIGXCPU comes again with every second of processor time, until SIGKILL comes.
            if number == SIGXCPU, Interruption.isRequested { return }
            // Only async-signal-safe things: an atomic, _exit and write. What is interrupted may be about to look at errno.
            let code = errno
            if Interruption.signals.wrappingAdd(1, ordering: .relaxed).oldValue > 0 { _exit(ExitStatus.interrupted.rawValue) }
            Interruption.asked?.wake()
            errno = code
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

    /// How often is looked about while a run is sent, in milliseconds: a run file that was removed is noticed within a fifth of a second.
    static let longestRest = 200

    /// Waits for a sender, and tells it when someone asks the process to end.
    /// - Parameters:
    ///   - ended: rung by the sender's thread at its end.
    ///   - rest: milliseconds until the next tick.
    ///   - tick: called after each rest.
    static func pass(
        to control: SendControl, until ended: Wakeup, _ console: Console, rest: () -> Int = { longestRest }, tick: () -> Void = {}
    ) {
        while !Self.rest(milliseconds: rest(), orUntil: ended) {
            if isRequested, !control.isInterrupted {
                console.say("Interrupted: waiting for the answers that are under way. Once more ends at once.")
                control.interrupt()
            }
            tick()
        }
    }
}
