import Base
import PushServices
import Synchronization

/// Names the requests of a sender on a thread of its own: it keeps a few names that the service gave out, commits all that were asked for
/// since the last time together, and wakes the loops. What cannot be committed gets no answer, and so never leaves.
final class CallDesk: Sendable {
    private struct State {
        var schedule: CallSchedule
        /// By client.
        var answers: [Int: [CallAnswer]] = [:]
        var wakeups: [Int: Wakeup] = [:]
    }

    private let shared: Mutex<State>
    private let cancellation: FetchCancellation
    private let fetch: @Sendable (Int, FetchCancellation) -> NameFetch
    private let keep: @Sendable ([UInt8], FetchCancellation) -> TextKeeping
    private let commit: @Sendable ([NamedCall]) -> Bool
    private let clock: CommonClock
    private let thread = Mutex<WorkerThread<Void>?>(nil)

    /// - Returns: nil for a service that needs no names.
    /// - Throws: a `Diagnostic` when no more files can be opened, or no thread can be started.
    convenience init?(_ settings: SenderSettings) throws(Diagnostic) {
        let protection = settings.service.repeatProtection
        switch protection {
        case .none: return nil
        case .derived:
            let keeper = settings.request.keptTexts.map { TextKeeper(settings, $0) }
            try self.init(
                protection, fetch: { _, _ in .cancelled }, keep: { keeper?.keep($0, until: $1) ?? .cancelled }, commit: settings.commitCalls,
                clock: settings.clock)
        case .fetched(let names):
            try self.init(protection, fetch: NameFetcher(settings, names).fetch, commit: settings.commitCalls, clock: settings.clock)
        }
    }

    /// - Parameters:
    ///   - fetch: asks the service for so many names once; returns early when it is cancelled.
    ///   - keep: hands the text of a payload to the service once; returns early when it is cancelled.
    ///   - commit: returns false if the calls could not be committed.
    ///   - clock: dates what is asked.
    init(
        _ protection: RepeatProtection, fetch: @escaping @Sendable (Int, FetchCancellation) -> NameFetch,
        keep: @escaping @Sendable ([UInt8], FetchCancellation) -> TextKeeping = { _, _ in .cancelled },
        commit: @escaping @Sendable ([NamedCall]) -> Bool, clock: CommonClock
    ) throws(Diagnostic) {
        shared = Mutex(State(schedule: CallSchedule(protection)))
        cancellation = try FetchCancellation()
        self.fetch = fetch
        self.keep = keep
        self.commit = commit
        self.clock = clock
        let started = try WorkerThread("names") { [weak self] in if let self { self.work() } }
        thread.withLock { $0 = started }
    }

    /// Ends the thread. A fetch that is under way is given up.
    func stop() {
        cancellation.cancel()
        let ended = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ended?.join()
    }

    // MARK: Loops

    /// Adds a loop.
    /// - Parameter wakeup: rung when there are answers for it, or trouble.
    func join(client: Int, _ wakeup: Wakeup) { shared.withLock { $0.wakeups[client] = wakeup } }

    /// Removes a loop. What it has asked for is forgotten.
    func leave(client: Int) {
        shared.withLock { state in
            state.wakeups[client] = nil
            state.answers[client] = nil
            state.schedule.forget(client: client)
        }
    }

    func ask(_ question: CallQuestion) {
        shared.withLock { $0.schedule.ask(question) }
        cancellation.wakeup.wake()
    }

    /// Has a text handed to the service again before another request names it.
    func forgetText(name: String) { shared.withLock { $0.schedule.forgetText(name: name) } }

    /// Takes the answers for a loop.
    /// - Returns: the answers, and why no names come; nil if they do.
    func take(client: Int) -> (answers: [CallAnswer], trouble: NameTrouble?) {
        shared.withLock { state in (state.answers.removeValue(forKey: client) ?? [], state.schedule.trouble) }
    }

    // MARK: The thread

    private func work() {
        while !cancellation.isCancelled {
            let now = Moment(nanoseconds: monotonicNanoseconds(), wall: clock.now())
            switch shared.withLock({ $0.schedule.next(at: now) }) {
            case .commit(let answers): if commit(answers.compactMap(\.call)) { deliver(answers) }
            case .fetch(let count): note(fetch(count, cancellation), askedAt: now.wall)
            case .keep(let text): note(keep(text, cancellation), text)
            case .wait(let until): cancellation.wakeup.wait(atMost: until.map { Double($0 - now.nanoseconds) / 1e9 })
            }
        }
    }

    private func note(_ fetched: NameFetch, askedAt: Timestamp) {
        switch fetched {
        case .given(let names): shared.withLock { $0.schedule.given(names, askedAt: askedAt) }
        case .failed(let trouble): failed(trouble)
        case .cancelled: break
        }
    }

    private func note(_ kept: TextKeeping, _ text: [UInt8]) {
        switch kept {
        case .kept(let name): shared.withLock { $0.schedule.kept(text, name) }
        case .refused: shared.withLock { $0.schedule.kept(text, nil) }
        case .failed(let trouble): failed(trouble)
        case .cancelled: break
        }
    }

    private func failed(_ trouble: NameTrouble) {
        let now = Moment(nanoseconds: monotonicNanoseconds(), wall: clock.now())
        let wakeups = shared.withLock { state in
            state.schedule.failed(trouble, at: now)
            return Array(state.wakeups.values)
        }
        for wakeup in wakeups { wakeup.wake() }
    }

    private func deliver(_ answers: [CallAnswer]) {
        let wakeups = shared.withLock { state in
            var wakeups: [Int: Wakeup] = [:]
            for answer in answers {
                let client = answer.question.client
                // A loop that has left needs no answer.
                guard let wakeup = state.wakeups[client] else { continue }
                state.answers[client, default: []].append(answer)
                wakeups[client] = wakeup
            }
            return Array(wakeups.values)
        }
        for wakeup in wakeups { wakeup.wake() }
    }
}
