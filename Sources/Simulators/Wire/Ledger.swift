import Base

/// What the simulator saw: figures in memory, and lines in a file if one is configured. Only the
/// server's thread uses it.
struct Ledger {
    private var summary = LedgerSummary()
    private var isChanged = false
    private var tokens = TokenTable()
    let file: LedgerFile?
    private var second: Int64 = 0
    private var acceptedInSecond = 0

    init(file: LedgerFile?) { self.file = file }

    /// Counts a request and its pushes when its answer is decided.
    mutating func count(_ request: PushRequest, by rules: any ServiceRules, now: Timestamp) {
        isChanged = true
        summary.requests += 1
        for push in 0..<request.pushCount {
            count(request.answer(to: push), marks: rules.marks(of: push, in: request), now: now)
        }
    }

    /// Counts a push.
    /// - Parameter marks: what tells an accepted push from others.
    private mutating func count(_ answer: Answer, marks: @autoclosure () -> LedgerMarks?, now: Timestamp) {
        guard answer.isAccepted else {
            summary.reasons[answer.reason, default: 0] += 1
            return
        }
        summary.accepted += 1
        if now.epochSeconds != second { (second, acceptedInSecond) = (now.epochSeconds, 0) }
        acceptedInSecond += 1
        summary.peakPerSecond = max(summary.peakPerSecond, acceptedInSecond)
        guard let marks = marks() else { return }
        switch tokens.insert(marks.target, id: marks.id) {
        case .none: summary.acceptedTokens += 1
        case .newID: summary.repeatedTokens += 1
        case .sameID: summary.repeatedIDs += 1
        case .known: break
        }
    }

    mutating func countRefusedStream() {
        isChanged = true
        summary.refusedStreams += 1
    }

    mutating func countResetStream() {
        isChanged = true
        summary.resetStreams += 1
    }

    mutating func countStreamLimitViolation() {
        isChanged = true
        summary.streamLimitViolations += 1
    }

    mutating func countPing() {
        isChanged = true
        summary.pings += 1
    }

    mutating func countConnection() {
        isChanged = true
        summary.connections += 1
    }

    mutating func setProviderTokens(_ count: Int) { summary.providerTokens = count }

    /// The figures; nil if they have not changed since the last call.
    mutating func takeChangedSummary() -> LedgerSummary? {
        guard isChanged else { return nil }
        isChanged = false
        return summary
    }

    /// Whether lines wait to be written.
    var isFileDirty: Bool { file?.isDirty ?? false }

    /// Writes the waiting lines to the file.
    func flush() { file?.flush() }
}

/// The figures of what a simulator saw.
public struct LedgerSummary: Hashable, Sendable {
    /// Requests that were answered, or processed without an answer. With some services a request
    /// carries several pushes.
    public var requests = 0
    /// Pushes accepted, answered or not.
    public var accepted = 0
    /// Distinct tokens among the accepted.
    public var acceptedTokens = 0
    /// Tokens accepted more than once under different apns-ids, and under the same apns-id. Each
    /// push is compared with the first of its token.
    public var repeatedTokens = 0, repeatedIDs = 0
    /// Refused pushes by reason.
    public var reasons: [String: Int] = [:]
    /// The most pushes accepted in one second of the clock.
    public var peakPerSecond = 0
    /// Streams reset with REFUSED_STREAM: beyond a stream limit that the client had not
    /// acknowledged yet, or by `SimulatorFaults.refusedStreamEvery`. Not among `requests`.
    public var refusedStreams = 0
    /// Streams reset with another code, by `SimulatorFaults.resetEvery` and `resetAcceptedEvery`.
    /// Only the latter are among `requests`.
    public var resetStreams = 0
    /// Streams opened beyond a stream limit that the client had acknowledged. That is a client
    /// error, and ends the connection. Not among `requests`.
    public var streamLimitViolations = 0
    /// PINGs from clients, without their answers to the simulator's PINGs.
    public var pings = 0
    /// Connections that completed the TLS handshake.
    public var connections = 0
    /// Distinct provider tokens (compared by their bytes) that were accepted.
    public var providerTokens = 0

    /// A summary without any requests.
    public init() {}
}
