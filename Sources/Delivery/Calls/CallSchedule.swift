import Base
import PushServices

/// A request that must be named, or must have its generation recorded, before it leaves.
struct NameRequest: Hashable, Sendable {
    /// The loop with the question, and its numbers for the request and the question.
    var client: Int
    var request: Int
    var number: Int
    /// The recipients of the request's pushes, in their order.
    var recipients: [Int]
    /// The generation of its pushes, where that is what is recorded.
    var generation: Int
    /// The payload of its pushes, if the request names a text that the service keeps.
    var text: [UInt8]?
}

/// What a loop gets for a question, once it is on record.
struct NameReply: Hashable, Sendable {
    var question: NameRequest
    /// nil for a generation.
    var name: RequestName?
    /// What is recorded; nil if the service does not take the text of the request.
    var call: NamedCall?

    var request: Int { question.request }
    var number: Int { question.number }
}

/// Why no names came.
struct NameFailure: Hashable, Sendable {
    /// What happened, without a full stop: the service's reason, if it gave one.
    var text: String
    /// The status of its answer; 0 for none.
    var status = 0
    /// Whether asking again is of no use.
    var isFinal = false
    /// The wait that the service requests; nil without one.
    var retryAfterSeconds: Double?
}

/// Decides when names are fetched and which request gets which: a value without a thread, a clock
/// or a socket.
struct CallSchedule {
    private static let longestWaitSeconds = 60.0
    /// A quota is for a day at most.
    private static let longestRetryAfterSeconds = 26.0 * 3600

    /// What to do next.
    enum Step: Hashable {
        /// Commit these, and call `committed`. Until then they are not offered again.
        case commit([NameReply])
        /// Fetch this many names, and call `given` or `failed`.
        case fetch(count: Int)
        /// Hand a text to the service, and call `kept` or `failed`.
        case keep(text: [UInt8])
        /// Nothing before this moment, in monotonic nanoseconds, or a question; nil for a question
        /// only.
        case wait(until: Int64?)
    }

    /// With this many texts, all are forgotten: the service may be handed one again.
    private static let manyTexts = 1000

    /// nil where generations are recorded.
    private let names: FetchedNames?
    /// The names of texts that the service keeps; nil for those that it does not take.
    private var texts: [[UInt8]: RequestName?] = [:]
    private var questions: [NameRequest] = []
    private var pool: [RequestName] = []
    /// Whether a name was used since names were fetched last: then more will be needed.
    private var isUsed = false
    private(set) var trouble: NameFailure?
    private var failuresInARow = 0
    private var retryAt = Int64.min

    /// - Parameter protection: of the service.
    init(_ protection: RepeatProtection) {
        if case .fetched(let names) = protection { self.names = names } else { names = nil }
    }

    mutating func ask(_ question: NameRequest) { questions.append(question) }

    /// Forgets the questions of a loop that has ended.
    mutating func forget(client: Int) { questions.removeAll { $0.client == client } }

    /// Decides what to do now. What waits is committed together.
    mutating func next(at now: Moment) -> Step {
        guard let names else { return nextWithoutNames(at: now) }
        pool.removeAll { $0.usableUntil <= now.wall }
        let count = min(pool.count, questions.count)
        if count > 0 {
            defer {
                questions.removeFirst(count)
                pool.removeFirst(count)
                isUsed = true
            }
            return .commit(zip(questions, pool).map { answer($0, name: $1, at: now.wall) })
        }
        let isWanted = !questions.isEmpty || isUsed && pool.count <= names.mostAtATime / 3
        guard isWanted, trouble?.isFinal != true else { return .wait(until: nil) }
        return now.nanoseconds < retryAt ? .wait(until: retryAt) : .fetch(count: names.mostAtATime)
    }

    /// Decides where generations are recorded, and which requests named a text. Whatever needs
    /// nothing from the service goes first.
    private mutating func nextWithoutNames(at now: Moment) -> Step {
        for case (let text, let name?) in texts where name.usableUntil <= now.wall { texts[text] = nil }
        let ready = questions.filter { $0.text.map { texts[$0] != nil } ?? true }
        guard ready.isEmpty else {
            questions.removeAll { $0.text.map { texts[$0] != nil } ?? true }
            return .commit(
                ready.map { question in
                    guard let text = question.text else { return answer(question, name: nil, at: now.wall) }
                    guard let name = texts[text] ?? nil else { return NameReply(question: question) }
                    return NameReply(
                        question: question, name: name,
                        call: NamedCall(name: CallReview.textName, namedAt: now.wall, recipients: question.recipients))
                })
        }
        guard let text = questions.first?.text, trouble?.isFinal != true else { return .wait(until: nil) }
        return now.nanoseconds < retryAt ? .wait(until: retryAt) : .keep(text: text)
    }

    private func answer(_ question: NameRequest, name: RequestName?, at now: Timestamp) -> NameReply {
        // A resumed run counts the life of the name from here on: never longer than the service
        // does.
        let namedAt = name.flatMap { name in names.map { name.usableUntil.adding(seconds: -$0.usableSeconds) } } ?? now
        return NameReply(
            question: question, name: name,
            call: NamedCall(
                name: name?.text ?? "\(question.generation)", namedAt: namedAt, recipients: question.recipients))
    }

    /// The first recipient of the first request that waits for a text to be kept.
    func firstRecipient(of text: [UInt8]) -> Int { questions.first { $0.text == text }?.recipients.first ?? 0 }

    /// Notes names that the service gave out.
    /// - Parameter askedAt: when they were requested: their lifetime counts from then.
    mutating func given(_ texts: [String], askedAt: Timestamp) {
        guard let names else { return }
        pool += texts.map { RequestName(text: $0, usableUntil: askedAt.adding(seconds: names.usableSeconds)) }
        (isUsed, trouble, failuresInARow, retryAt) = (false, nil, 0, .min)
    }

    /// Notes that the service keeps a text, or does not take it.
    /// - Parameter name: nil if it does not take it.
    mutating func kept(_ text: [UInt8], _ name: RequestName?) {
        if texts.count >= Self.manyTexts { texts.removeAll() }
        texts[text] = .some(name)
        (trouble, failuresInARow, retryAt) = (nil, 0, .min)
    }

    /// Has a text handed over again, as the service may keep it no longer.
    mutating func forgetText(name: String) {
        for case (let text, let known?) in texts where known.text == name { texts[text] = nil }
    }

    /// Notes that no name came. The next attempt waits 1, 2, 4 … 60 s, or longer if the service
    /// requests it.
    mutating func failed(_ trouble: NameFailure, at now: Moment) {
        self.trouble = trouble
        failuresInARow += 1
        let wait = min(Self.longestWaitSeconds, Double(1 << min(failuresInARow - 1, 6)))
        let asked = min(Self.longestRetryAfterSeconds, trouble.retryAfterSeconds ?? 0)
        retryAt = now.nanoseconds + Int64(nanosecondsFromSeconds: max(wait, asked))
    }
}
