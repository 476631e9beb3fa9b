import NIOPosix
import Synchronization

/// Decides which work is done next on a few threads, and which is refused. A value without threads
/// and clock.
///
/// One person, or one network of people that have not signed in, has at most half of the threads
/// and half of the places of those that wait, so that their many slow pages do not delay others.
/// When all places are taken, a piece of work takes that of the person with the most waiting,
/// unless its own has as many. When a thread becomes free, it goes to the person with the least
/// work under way, and among those to the one whose turn was longest ago. Work without a person is
/// quick, and has no limit.
struct FairWorkQueue {
    /// The fate of a piece of work.
    enum Admission: Hashable {
        case start
        /// - Parameter displaced: the ticket of the piece that is refused in its place; nil while
        ///   there is room.
        case wait(displaced: Int? = nil)
        case refuse
    }

    private struct Waiting {
        var ticket: Int
        var person: String?
    }

    private let threads: Int, places: Int
    private var waiting: [Waiting] = []
    /// How much work is under way, for each person.
    private var running: [String?: Int] = [:]
    /// When each person with something under way or waiting had the last turn.
    private var turns: [String?: Int] = [:]
    private var turn = 0

    /// - Parameters:
    ///   - threads: how many pieces are under way at a time; at least 1.
    ///   - waiting: how many more may wait.
    init(threads: Int, waiting: Int) { (self.threads, places) = (threads, waiting) }

    /// How many threads one person may have.
    private var share: Int { max(1, threads / 2) }

    private var underway: Int { running.values.reduce(0, +) }

    /// Whether the next piece of work of any person would be refused.
    var isFull: Bool { underway >= threads && waiting.count >= places }

    /// A piece of work comes.
    /// - Parameters:
    ///   - ticket: what `left` returns when its turn has come; it is unique.
    ///   - person: the person that wants it; nil for no particular person.
    mutating func came(_ ticket: Int, of person: String?) -> Admission {
        if underway < threads, hasRoom(person) {
            start(person)
            return .start
        }
        let own = waiting.count { $0.person == person }
        guard person == nil || own < max(1, places / 2) else { return .refuse }
        var displaced: Int?
        if waiting.count >= places {
            guard let last = lastOfLongest(besides: own) else { return .refuse }
            displaced = waiting.remove(at: last).ticket
        }
        waiting.append(Waiting(ticket: ticket, person: person))
        return .wait(displaced: displaced)
    }

    /// The place of the newest piece of the person with the most waiting; nil if removing it would
    /// leave them with fewer than the new person.
    private func lastOfLongest(besides own: Int) -> Int? {
        let counts = waiting.reduce(into: [String?: Int]()) { $0[$1.person, default: 0] += 1 }
        guard let most = counts.values.max(), most > own + 1 else { return nil }
        return waiting.lastIndex { counts[$0.person] == most }
    }

    /// A piece of work is done.
    /// - Returns: the ticket of the piece that is begun in its place; nil for none.
    mutating func left(_ person: String?) -> Int? {
        running[person, default: 1] -= 1
        if running[person] == 0 { running[person] = nil }
        let next = waiting.indices.filter { hasRoom(waiting[$0].person) }.min { rank(waiting[$0]) < rank(waiting[$1]) }
        let begun = next.map { waiting.remove(at: $0) }
        if let begun { start(begun.person) }
        turns = turns.filter { known in running[known.key] != nil || waiting.contains { $0.person == known.key } }
        return begun?.ticket
    }

    private func hasRoom(_ person: String?) -> Bool { person == nil || running[person, default: 0] < share }

    private func rank(_ work: Waiting) -> (Int, Int, Int) {
        (running[work.person, default: 0], turns[work.person, default: 0], work.ticket)
    }

    private mutating func start(_ person: String?) {
        turn += 1
        turns[person] = turn
        running[person, default: 0] += 1
    }
}

/// A few threads for work that blocks: files, SQLite, hashes. An event loop must never wait for
/// these. Work that finds too many pieces waiting is refused, so that a flood does not become a
/// queue; and people and networks take turns (`FairWorkQueue`).
final class WorkPool: Sendable {
    private struct Line {
        var queue: FairWorkQueue
        var ticket = 0
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private let threads: NIOThreadPool
    private let line: Mutex<Line>

    /// - Parameters:
    ///   - threads: how many work at a time.
    ///   - waiting: how many more pieces of work may wait.
    init(threads: Int, waiting: Int) {
        self.threads = NIOThreadPool(numberOfThreads: threads)
        line = Mutex(Line(queue: FairWorkQueue(threads: threads, waiting: waiting)))
        self.threads.start()
    }

    /// Whether the next piece of work would be refused.
    var isFull: Bool { line.withLock { $0.queue.isFull } }

    /// Does work on one of the threads.
    /// - Parameter person: the person that it is done for: an account, or a network of people that
    ///   have not signed in; nil for no particular person.
    /// - Throws: `Refusal.busy`; whatever `work` throws.
    func run<Value: Sendable>(for person: String? = nil, _ work: @escaping @Sendable () throws -> Value) async throws
        -> Value
    {
        try await comeToTurn(person)
        defer {
            let next = line.withLock { line in line.queue.left(person).flatMap { line.waiting.removeValue(forKey: $0) }
            }
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
                let admission = line.queue.came(line.ticket, of: person)
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
