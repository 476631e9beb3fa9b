import Automation
import Base
import Glibc
import Logs
import Synchronization

/// SIGHUP for the commands that stay. At a terminal it means that the session is over, and ends the command (`Interruption`). From a manager of services, or
/// a script that knows of it, it means "read your files again": there is nothing to do but to say so. A service that ended by it would stay down, as its
/// manager takes 130 for an end in good order.
enum Hangup {
    private static let rung = Result { () throws(Diagnostic) in try Wakeup() }
    private static let isExpected = Atomic(false), hasCome = Atomic(false)

    /// Whether a SIGHUP ends nothing. Safe in a signal handler once it was asked.
    static var endsNothing: Bool { isExpected.load(ordering: .relaxed) }

    /// Rung by each SIGHUP that ends nothing. Call `expect` before.
    static var wakeup: Wakeup {
        guard case .success(let wakeup) = rung else { preconditionFailure("a command began without `Hangup.expect`") }
        return wakeup
    }

    /// Has SIGHUP end nothing if a manager of services started this process. Call it before `Interruption.install`.
    /// - Throws: a `Diagnostic` if no more files can be opened.
    static func expect(_ console: Console) throws(Diagnostic) {
        _ = try rung.get()
        // A shell in a terminal that a service started has the manager's variables as well.
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

    /// Says, if one came since the last call, that there was nothing to do.
    static func answer(_ console: Console) {
        guard hasCome.exchange(false, ordering: .relaxed) else { return }
        console.say(
            "SIGHUP: there is nothing to reload. Campaigns are read as they change; what is read only at the start needs a restart.")
    }
}
