public import Base
import Synchronization

/// What is noted beside the file while a life of the run goes on: in the record of what was sent, and in the claim counter.
extension RunFile {
    /// What a life needs beside the file.
    struct NotedLife {
        let counter: ClaimCounter
        /// What must stay in its place; nil before the life is confirmed.
        var files: RequiredFiles?
    }

    /// Notes beside the runs that a life is about to begin, and makes its claim counter.
    public func note(_ life: NewLife, at now: Timestamp) throws -> SendingHistory.Beginning {
        noted.withLock { $0 = nil }
        let beginning = try catalog.history.begin(plan, life, at: now)
        guard beginning == .noted else { return beginning }
        let counter = try ClaimCounter(self, life: life.life, claimed: life.claimed)
        noted.withLock { $0 = NotedLife(counter: counter) }
        return .noted
    }

    /// Notes beside the runs that the file has the life. From then on all that it needs must stay in its place.
    public func confirm(givenUp: Set<String>) throws -> Bool {
        guard try catalog.history.confirm(plan.id, givenUp: givenUp) else { return false }
        let files = RequiredFiles(self)
        noted.withLock { $0?.files = files }
        return true
    }

    /// Notes in the claim counter how many claims were made; where no life was noted, there is none.
    public func note(claimed: Int) throws {
        try noted.withLock { $0?.counter }?.note(claimed)
    }

    /// Notes beside the runs how far the run is; its claim counter is needed no more.
    public func endLife() throws {
        noted.withLock { $0 = nil }
        if try catalog.history.end(self, life: ownLife.withLock { $0 }) { ClaimCounter.remove(path) }
    }

    /// Looks whether the files are in their place, and puts the lock's back where it was removed.
    public func loss(during activity: RunActivity) -> LedgerStop? {
        guard isInPlace else { return .fileLost(place, during: activity) }
        if let missing = noted.withLock({ $0?.files })?.missing { return .accountFileLost(missing, during: activity) }
        do { try keepLock() } catch { return .lockLost("\(error)", during: activity) }
        return nil
    }
}

/// What other processes ask for: a state that they record, and that the one which sends the run looks at.
extension RunFile {
    /// As the file's state says.
    public func order() throws -> RunOrder? { RunOrder(try status().state) }

    /// Records the state that is wanted.
    public func give(_ order: RunOrder, at now: Timestamp) throws {
        guard isBeingSent else {
            throw Diagnostic(
                "no process is sending this run", file: path, remedy: "`volley report \(plan.id)` shows its outcome.",
                [.readReport(run: plan.id)])
        }
        try record(order.state, cause: order == .cancel ? .cancelled : nil, at: now, from: order.expected)
    }
}
