import NIOPosix
import Synchronization

/// A few threads for work that blocks: files, SQLite, hashes. An event loop must never wait for these. What finds too many before it is refused, so
/// that a flood does not become a queue; and people and networks take turns (`WorkTurns`).
final class WorkPool: Sendable {
    private struct Line {
        var turns: WorkTurns
        var ticket = 0
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private let threads: NIOThreadPool
    private let line: Mutex<Line>

    /// - Parameters:
    ///   - threads: how many work at a time.
    ///   - waiting: how many pieces of work may wait besides.
    init(threads: Int, waiting: Int) {
        self.threads = NIOThreadPool(numberOfThreads: threads)
        line = Mutex(Line(turns: WorkTurns(threads: threads, waiting: waiting)))
        self.threads.start()
    }

    /// Whether the next piece of work would be refused.
    var isFull: Bool { line.withLock { $0.turns.isFull } }

    /// Does work on one of the threads.
    /// - Parameter person: for whom it is done: an account, or a network of people who have not signed in; nil for no person in particular.
    /// - Throws: `Refusal.busy`; whatever `work` throws.
    func run<Value: Sendable>(for person: String? = nil, _ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await comeToTurn(person)
        defer {
            let next = line.withLock { line in line.turns.left(person).flatMap { line.waiting.removeValue(forKey: $0) } }
            next?.resume()
        }
        return try await threads.runIfActive(work)
    }

    /// Waits until a thread is free for this person.
    private func comeToTurn(_ person: String?) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            // Whether it waits is decided and noted in one step: its turn may come at once.
            let (admission, displaced) = line.withLock { line in
                line.ticket += 1
                let admission = line.turns.came(line.ticket, of: person)
                var displaced: CheckedContinuation<Void, any Error>?
                if case .wait(let other) = admission {
                    line.waiting[line.ticket] = continuation
                    displaced = other.flatMap { line.waiting.removeValue(forKey: $0) }
                }
                return (admission, displaced)
            }
            displaced?.resume(throwing: Refusal.busy)
            switch admission {
            case .start: continuation.resume()
            case .wait: break
            case .refuse: continuation.resume(throwing: Refusal.busy)
            }
        }
    }

    deinit { threads.shutdownGracefully { _ in } }
}
