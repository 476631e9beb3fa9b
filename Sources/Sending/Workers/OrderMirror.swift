import Base
import PostgresRuns
import Runs
import Synchronization

/// Carries orders between the file of a run and the store, in both directions: a person may pause or cancel on the
/// machine that has the file, or on any other.
final class OrderMirror: Sendable {
    let file: RunFile
    private let state = Mutex(State())

    private struct State {
        /// What both said when they last agreed.
        var known = RunOrder.goOn
        var pending: RunOrder?
    }

    init(_ file: RunFile) { self.file = file }

    /// What is carried where; nil for nothing.
    enum Step: Hashable {
        case intoStore(RunOrder), intoFile(RunOrder)
    }

    /// - Parameter known: what both said when they last agreed.
    static func step(file: RunOrder, store: RunOrder, known: RunOrder) -> Step? {
        if file == store { return nil }
        // A cancelled run stays cancelled, whatever else was ordered in between.
        if file == .cancel { return .intoStore(.cancel) }
        if store == .cancel { return .intoFile(.cancel) }
        return file == known ? .intoFile(store) : .intoStore(file)
    }

    /// What the file orders and the store does not say yet. This machine stops at once, whether or not the store can be
    /// told; it continues once all may.
    var pending: RunOrder? { state.withLock { $0.pending } }

    static func pending(_ step: Step?) -> RunOrder? {
        guard case .intoStore(let order)? = step, order != .goOn else { return nil }
        return order
    }

    /// Carries what changed since the last call.
    /// - Parameter isAway: whether the store cannot be told anything now.
    func carry(_ news: WorkerNews?, _ ledger: SharedLedger, isAway: Bool) {
        guard let store = news.flatMap({ RunOrder($0.state) }), let file = try? file.status().order else { return }
        let (step, isPassedOn) = state.withLock { state in
            let step = Self.step(file: file, store: store, known: state.known), wasPending = state.pending != nil
            if step == nil { state.known = file }
            state.pending = Self.pending(step)
            return (step, step == nil && wasPending)
        }
        if isPassedOn { try? self.file.notePassedOn(file) }
        guard let step, !isAway else { return }
        // What fails is tried again with the next call; the states show then what is left to do.
        switch step {
        // Both agree once a beat shows it: until then the store's state may be an old one, which says nothing against
        // the file's.
        case .intoStore(let order):
            if (try? ledger.append(.ordered(order, at: .now()))) != nil { try? self.file.notePassedOn(order) }
        case .intoFile(let order):
            if (try? self.file.append(.ordered(order, at: .now()))) != nil {
                state.withLock { $0.known = order }
                try? self.file.notePassedOn(order)
            }
        }
    }
}
