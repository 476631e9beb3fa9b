import Base
import Glibc
import Synchronization

/// SIGTERM and SIGINT, which tell the console to end. They are held back in all threads from the
/// first moment on, and one thread takes them: so none is lost between the start of the process and
/// the moment in which the server can be told to end. Below `volley serve`, which decides what
/// SIGHUP means for both, that is held back, too, and ends nothing.
final class TerminationSignals: Sendable {
    private enum State {
        /// Nothing exists yet that could end.
        case starting
        case serving(@Sendable () async -> Void)
        case isAsked
    }

    private let state = Mutex(State.starting)

    private static var all: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        return signals
    }

    /// Known before the variable is removed (`volley_end_with_parent`).
    private static let isServed = EnvironmentVariables["VOLLEY_SUPERVISOR"] != nil

    /// Holds them back. Call it before there is a second thread: threads take over the mask.
    static func hold() {
        var signals = all
        if isServed { sigaddset(&signals, SIGHUP) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Lets them end this process at once, for work that needs no order. Signals that arrived
    /// before do so now.
    static func release() {
        var signals = all
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Begins to take them. Signals that arrive before `end` is called take effect then.
    /// - Throws: `Diagnostic` if the system has no thread.
    init() throws(Diagnostic) {
        try detachThread { [self] in
            while true {
                var signals = Self.all
                var number: Int32 = 0
                if sigwait(&signals, &number) == 0 { take() }
            }
        }
    }

    /// The action at the first signal, also if that has already arrived. Further signals change
    /// nothing.
    func end(_ body: @escaping @Sendable () async -> Void) {
        let isAsked = state.withLock { state in
            if case .isAsked = state { return true }
            state = .serving(body)
            return false
        }
        if isAsked { Task { await body() } }
    }

    private func take() {
        let before = state.withLock { state in
            defer { state = .isAsked }
            return state
        }
        if case .serving(let body) = before { Task { await body() } }
    }
}
