import Base
import PostgresRuns
import Runs
import Synchronization

/// Carries orders between the file of a run and the store, in both directions: a person may pause or cancel on the machine that has the file, or on any other.
final class OrderMirror: Sendable {
    let file: any RunLedger
    private let known = Mutex<RunOrder>(.goOn)

    init(_ file: any RunLedger) { self.file = file }

    /// What is carried where; nil for nothing.
    enum Step: Hashable {
        case intoStore(RunOrder), intoFile(RunOrder)
    }

    /// - Parameter known: what both said when they last agreed.
    static func step(file: RunOrder, store: RunOrder, known: RunOrder) -> Step? {
        if file == store { return nil }
        // A cancelled run stays so, whatever else was asked meanwhile.
        if file == .cancel { return .intoStore(.cancel) }
        if store == .cancel { return .intoFile(.cancel) }
        return file == known ? .intoFile(store) : .intoStore(file)
    }

    /// Carries what changed since the last call.
    func carry(_ news: MemberNews?, _ ledger: SharedLedger) {
        guard let store = news.flatMap({ RunOrder($0.state) }), let file = try? file.order() else { return }
        let known = known.withLock { $0 }
        guard let step = Self.step(file: file, store: store, known: known) else { return self.known.withLock { $0 = file } }
        // What fails is tried again with the next call; the states show then what is left to do.
        switch step {
        // Both agree once a beat shows it: until then the store's state may be an old one, which says nothing against the file's.
        case .intoStore(let order): try? ledger.give(order, at: .now())
        case .intoFile(let order): if (try? self.file.give(order, at: .now())) != nil { self.known.withLock { $0 = order } }
        }
    }
}
