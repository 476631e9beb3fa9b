import Base

/// What the simulator saw: figures in memory, and lines in a file if one is configured. Only the server's thread uses it.
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
        for push in 0..<request.pushCount { count(request.answer(to: push), marks: rules.marks(of: push, in: request), now: now) }
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
