package import Base
import Synchronization

/// This `volley schedule` among those of other machines: beats once a second, declares services
/// dead that are silent for long (`WorkerWatch`), and claims times, so that each is planned and
/// sent by one of them.
///
/// A service that ends says nothing: it may be back within seconds and continue with what it has.
/// After half a minute of silence others take over what it had not begun. What the database may
/// have forgotten when it comes up again, each service writes there again, from its own record
/// (`FiringBarrier`).
package final class ScheduleService: Sendable {
    private static let beatMilliseconds = 1000
    /// Between two tries to claim a time; the database was there a moment ago.
    private static let pauseMilliseconds = 250

    private let address: StoreAddress
    private let givingUp: Cancellation
    private let state = Mutex(State())
    private let store = Mutex<Store?>(nil)
    private let thread = Mutex<WorkerThread<Void>?>(nil)

    private struct State {
        /// Its number in the store; nil before it joined, and after it was declared dead.
        var number: Int?
        /// The epoch of the database in which it joined.
        var epoch = 0
        var barrier = FiringBarrier()
        var watch = WorkerWatch()
        var orphans: [SharedFiring] = []
        /// nil while the store answers.
        var trouble: Diagnostic?
    }

    /// Begins to beat. The store need not be there yet.
    /// - Throws: `Diagnostic`: no thread can be started.
    package init(_ address: StoreAddress) throws {
        self.address = address
        givingUp = try Cancellation()
        let thread = try WorkerThread("service") { [self] in
            let start = ContinuousClock.now
            while !givingUp.isRequested {
                beat((.now - start) / .seconds(1))
                givingUp.wait(milliseconds: Self.beatMilliseconds)
            }
        }
        self.thread.withLock { $0 = thread }
    }

    /// Ends beating.
    package func end() {
        givingUp.request()
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    // MARK: - What is known

    /// Whether it is there, as the last beat showed.
    package var isInTouch: Bool { state.withLock { $0.number != nil && $0.trouble == nil } }

    /// Whether times may be found due: not while the database may have forgotten some of them.
    package var mayFind: Bool { state.withLock { $0.trouble == nil && $0.barrier.mayFind } }

    /// Whether its record has to be written into the store again (`write`): it has joined, or the
    /// database came up again.
    package var hasToWrite: Bool { state.withLock { $0.barrier.toWrite != nil } }

    /// Why the store cannot be queried; nil while it can.
    package var trouble: Diagnostic? { state.withLock { $0.trouble } }

    /// Times that dead services had claimed and not begun.
    package var orphans: [SharedFiring] { state.withLock { $0.trouble == nil ? $0.orphans : [] } }

    // MARK: - Times

    /// Claims a time; waits for the store if it has just gone away.
    /// - Parameter isOver: whether to wait no longer.
    /// - Returns: nil if the time is this run's; otherwise the firing that has it.
    /// - Throws: `Diagnostic`: the store refuses it, or `isOver` ended the wait.
    package func claim(_ firing: SharedFiring, until isOver: () -> Bool) throws -> SharedFiring? {
        while true {
            do {
                let number = state.withLock { $0.number }
                guard let number else { throw Diagnostic("this volley schedule is not known in the store") }
                return try opened().claim(firing, by: number)
            } catch {
                if isOver() { throw error }
                givingUp.wait(milliseconds: Self.pauseMilliseconds)
            }
        }
    }

    /// Writes again what this machine's own record says of times, when it has to.
    /// - Parameters:
    ///   - firings: all to which schedules look back, except those that other machines have.
    ///   - alongside: what else belongs to it, such as finding out which of them others have by
    ///     now.
    /// - Throws: `Diagnostic`: the store cannot be queried, and has to be written to later; what
    ///   `alongside` throws.
    package func write(_ firings: [SharedFiring], alongside: () throws -> Void = {}) throws {
        guard let standing = state.withLock({ $0.barrier.toWrite }) else { return }
        try opened().write(firings, by: standing.service)
        try alongside()
        state.withLock { $0.barrier.wrote(as: standing) }
    }

    /// Notes that nothing is sent any more for times that were claimed and never begun.
    package func end(_ runs: [String], as state: SharedFiring.State) throws { try opened().end(runs, as: state) }

    // MARK: - Beating

    private func opened() throws -> Store {
        if let store = store.withLock({ $0 }) { return store }
        // A server that is silent keeps a beat from ending for longer than people should wait for a
        // word.
        let opened = try address.open(asked: givingUp) { [weak self] trouble in
            guard let self, let trouble else { return }
            state.withLock { state in
                state.barrier.isLost()
                state.trouble = trouble
            }
        }
        return store.withLock { store in
            if store == nil { store = opened }
            return store ?? opened
        }
    }

    private func beat(_ seconds: Double) {
        do {
            let store = try opened(), number = try joined(store)
            guard let news = try store.beat(ofService: number) else {
                return state.withLock { state in
                    state.number = nil
                    state.barrier.isLost()
                }
            }
            let silent = state.withLock { state in
                (state.orphans, state.trouble) = (news.orphans, nil)
                state.barrier.beat(.init(service: number, epoch: state.epoch), isQuiet: news.isQuiet)
                return state.watch.look(at: news.beats, epoch: Int64(state.epoch), seconds)
            }
            try store.declareDead(silent)
        } catch {
            state.withLock { state in
                state.watch.disconnected()
                state.barrier.isLost()
                state.trouble = Diagnostic(explaining: error)
            }
        }
    }

    /// Joins, unless it has in this epoch of the database: in a new one its number may have been
    /// forgotten, and given to another service.
    /// - Returns: its number.
    private func joined(_ store: Store) throws -> Int {
        let epoch = try store.databaseEpoch()
        if let number = state.withLock({ $0.epoch == epoch ? $0.number : nil }) { return number }
        let number = try store.joinAsService()
        state.withLock { ($0.number, $0.epoch) = (number, epoch) }
        return number
    }
}
