import Base
import CCurl
import PushServices
import Synchronization

/// Names the requests of a sender on a thread of its own: it keeps a few names that the service
/// gave out, commits together all that were requested since the last time, and wakes the loops.
/// What cannot be committed gets no answer, and so never leaves.
final class RequestNamer: Sendable {
    private struct State {
        var schedule: CallSchedule
        /// By client.
        var answers: [Int: [NameReply]] = [:]
        var wakeups: [Int: Wakeup] = [:]
    }

    private let shared: Mutex<State>
    private let cancellation: FetchCancellation
    private let fetch: @Sendable (Int, FetchCancellation) -> NameFetchResult
    private let keep: @Sendable ([UInt8], Int, FetchCancellation) -> TextUploadResult
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
            let keeper = settings.request.keptTexts.map { TextUploader(settings, $0) }
            try self.init(
                protection, fetch: { _, _ in .cancelled }, keep: { keeper?.keep($0, for: $1, until: $2) ?? .cancelled },
                commit: settings.commitCalls,
                clock: settings.clock)
        case .fetched(let names):
            try self.init(
                protection, fetch: NameFetcher(settings, names).fetch, commit: settings.commitCalls,
                clock: settings.clock)
        }
    }

    /// - Parameters:
    ///   - fetch: requests this many names from the service once; returns early when it is
    ///     cancelled.
    ///   - keep: hands the text of a payload to the service once, for requests of which the first
    ///     begins with a recipient; returns early when it is cancelled.
    ///   - commit: returns false if the calls could not be committed.
    ///   - clock: dates the requests.
    init(
        _ protection: RepeatProtection, fetch: @escaping @Sendable (Int, FetchCancellation) -> NameFetchResult,
        keep: @escaping @Sendable ([UInt8], Int, FetchCancellation) -> TextUploadResult = { _, _, _ in .cancelled },
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

    func ask(_ question: NameRequest) {
        shared.withLock { $0.schedule.ask(question) }
        cancellation.wakeup.wake()
    }

    /// Has a text handed to the service again before another request names it.
    func forgetText(name: String) { shared.withLock { $0.schedule.forgetText(name: name) } }

    /// Takes the answers for a loop.
    /// - Returns: the answers, and why no names come; nil if they do.
    func take(client: Int) -> (answers: [NameReply], trouble: NameFailure?) {
        shared.withLock { state in (state.answers.removeValue(forKey: client) ?? [], state.schedule.trouble) }
    }

    // MARK: The thread

    private func work() {
        while !cancellation.isCancelled {
            let now = Moment(nanoseconds: monotonicNanoseconds(), wall: clock.now())
            switch shared.withLock({ $0.schedule.next(at: now) }) {
            case .commit(let answers): if commit(answers.compactMap(\.call)) { deliver(answers) }
            case .fetch(let count): note(fetch(count, cancellation), askedAt: now.wall)
            case .keep(let text):
                let recipient = shared.withLock { $0.schedule.firstRecipient(of: text) }
                note(keep(text, recipient, cancellation), text)
            case .wait(let until): cancellation.wakeup.wait(atMost: until.map { Double($0 - now.nanoseconds) / 1e9 })
            }
        }
    }

    private func note(_ fetched: NameFetchResult, askedAt: Timestamp) {
        switch fetched {
        case .given(let names): shared.withLock { $0.schedule.given(names, askedAt: askedAt) }
        case .failed(let trouble): failed(trouble)
        case .cancelled: break
        }
    }

    private func note(_ kept: TextUploadResult, _ text: [UInt8]) {
        switch kept {
        case .kept(let name): shared.withLock { $0.schedule.kept(text, name) }
        case .refused: shared.withLock { $0.schedule.kept(text, nil) }
        case .failed(let trouble): failed(trouble)
        case .cancelled: break
        }
    }

    private func failed(_ trouble: NameFailure) {
        let now = Moment(nanoseconds: monotonicNanoseconds(), wall: clock.now())
        let wakeups = shared.withLock { state in
            state.schedule.failed(trouble, at: now)
            return Array(state.wakeups.values)
        }
        for wakeup in wakeups { wakeup.wake() }
    }

    private func deliver(_ answers: [NameReply]) {
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

/// The result of a request for names.
enum NameFetchResult: Hashable, Sendable {
    case given([String])
    case failed(NameFailure)
    /// The run is over.
    case cancelled
}

/// Fetches names of requests from a service.
struct NameFetcher: Sendable {
    private let asker: ServiceClient
    private let names: FetchedNames

    init(_ settings: SenderSettings, _ names: FetchedNames) {
        asker = ServiceClient(settings)
        self.names = names
    }

    /// Sends one request. Blocks the calling thread for at most fifteen seconds, or until it is
    /// cancelled.
    func fetch(_ count: Int, until cancellation: FetchCancellation) -> NameFetchResult {
        switch asker.ask(.get, names.path(count), until: cancellation) {
        case .answered(let answer): read(answer)
        case .failed(let cause): failed(cause)
        case .cancelled: .cancelled
        }
    }

    private func failed(_ cause: String) -> NameFetchResult {
        .failed(NameFailure(text: "no \(names.noun)s for calls: \(cause)"))
    }

    /// Reads an answer: names, or what the service's facts say that it means.
    private func read(_ answer: ServiceClient.Answer) -> NameFetchResult {
        if answer.status == 200, let texts = answer.json.flatMap(names.read) {
            let usable = texts.filter(ServiceClient.isName)
            return usable.isEmpty ? failed("it gave out none that can be used") : .given(usable)
        }
        guard answer.isFinal else {
            return .failed(
                NameFailure(
                    text: "no \(names.noun)s for calls: it answered \(answer.status) \(answer.reasonText)",
                    status: answer.status,
                    retryAfterSeconds: answer.retryAfterSeconds))
        }
        return .failed(NameFailure(text: answer.reasonText, status: answer.status, isFinal: true))
    }
}

/// The result of handing a text to a service.
enum TextUploadResult: Hashable, Sendable {
    /// The service keeps it under this name.
    case kept(RequestName)
    /// It does not take the text.
    case refused
    /// It could not be handed over.
    case failed(NameFailure)
    /// The run is over.
    case cancelled
}

/// Hands texts to a service that keeps them. If it gives out nothing at one of its servers, the
/// next attempt goes to the next one.
final class TextUploader: Sendable {
    private let asker: ServiceClient
    private let settings: SenderSettings
    private let texts: KeptTexts
    private let hosts: [String]
    private let host = Mutex(0)

    init(_ settings: SenderSettings, _ texts: KeptTexts) {
        (asker, self.settings, self.texts) = (ServiceClient(settings), settings, texts)
        hosts = [settings.endpoint.host] + settings.endpoint.spareHosts
    }

    /// Hands the text of a payload over once. Blocks the calling thread for at most fifteen
    /// seconds, or until it is cancelled.
    /// - Parameter recipient: the one whose push gives its id to all pushes with the text, if it
    ///   has a place for one.
    func keep(_ payload: [UInt8], for recipient: Int, until cancellation: FetchCancellation) -> TextUploadResult {
        let now = Timestamp.now()
        var body: [UInt8] = []
        let id = PushID(runSeed: settings.runSeed, recipient: recipient)
        texts.body(PushIDPlace.filled(payload[...], with: id), now.epochSeconds, &body)
        let number = host.withLock { $0 }
        switch asker.ask(.post(body), texts.path, at: hosts[number], until: cancellation) {
        case .cancelled: return .cancelled
        case .failed(let cause):
            changeServer(from: number)
            return failed(cause)
        case .answered(let answer): return read(answer, from: number, at: now)
        }
    }

    private func changeServer(from number: Int) { host.withLock { $0 = (number + 1) % hosts.count } }

    private func failed(_ cause: String, status: Int = 0, waitSeconds: Double? = nil) -> TextUploadResult {
        .failed(
            NameFailure(
                text: "texts could not be handed over: \(cause)", status: status, retryAfterSeconds: waitSeconds))
    }

    /// Reads an answer: a name, or what the service's facts say that it means.
    private func read(_ answer: ServiceClient.Answer, from number: Int, at now: Timestamp) -> TextUploadResult {
        if answer.status == 200, let name = answer.json.flatMap(texts.read) {
            guard ServiceClient.isName(name) else { return failed("it gave out no name that can be used") }
            return .kept(
                RequestName(text: name, usableUntil: now.adding(seconds: max(1, texts.usableSeconds(now.epochSeconds))))
            )
        }
        let text = "it answered \(answer.status) \(answer.reasonText)"
        if answer.isFinal { return .failed(NameFailure(text: answer.reasonText, status: answer.status, isFinal: true)) }
        switch answer.meaning {
        // Requests that hold the text show what is wrong with it.
        case .split, .invalidTarget, .rejected, .rejectedLikeAll: return .refused
        case .retry(.credentialExpired):
            // nil: another token would be refused, too.
            guard let token = answer.token, settings.credentials.tokens?.renewed(after: token) != nil else {
                return .failed(NameFailure(text: answer.reasonText, status: answer.status, isFinal: true))
            }
            return failed(text, status: answer.status)
        case .retry(let retry):
            if retry == .otherServer { changeServer(from: number) }
            let usual = retry == .quota ? settings.retry.firstQuotaSeconds : settings.retry.shortestDelaySeconds
            return failed(text, status: answer.status, waitSeconds: max(usual, answer.retryAfterSeconds ?? 0))
        case .accepted, .maybeTaken, .notTheService, .untold, .stop, .stopIfRepeated, .usedUp:
            return failed(text, status: answer.status, waitSeconds: answer.retryAfterSeconds)
        }
    }
}
