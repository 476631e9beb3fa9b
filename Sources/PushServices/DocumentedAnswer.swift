/// A reason that a service documents, and what it means.
struct DocumentedAnswer: Sendable {
    /// The HTTP statuses with which it comes.
    let statuses: ClosedRange<Int>
    /// As run files have it: a code, a word, or what the service says of a target.
    let reason: String
    let meaning: AnswerMeaning
    /// What the report says about it.
    let explanation: String
    /// What to check when this answer stops a run.
    let advice: String?
    /// What `doctor` learns from this answer.
    let probe: ProbeMeaning
    let mayBeClock: Bool

    init(
        _ statuses: ClosedRange<Int>, _ reason: String, _ meaning: AnswerMeaning, explanation: String,
        advice: String? = nil,
        probe: ProbeMeaning, mayBeClock: Bool = false
    ) {
        self.statuses = statuses
        self.reason = reason
        self.meaning = meaning
        self.explanation = explanation
        self.advice = advice
        self.probe = probe
        self.mayBeClock = mayBeClock
    }

    /// A word that comes with one status.
    init(
        _ status: Int, _ reason: String, _ meaning: AnswerMeaning, explanation: String, advice: String? = nil,
        probe: ProbeMeaning,
        mayBeClock: Bool = false
    ) {
        self.init(
            status...status, reason, meaning, explanation: explanation, advice: advice, probe: probe,
            mayBeClock: mayBeClock)
    }

    /// A number that comes with one status.
    init(
        _ status: Int, _ code: Int, _ meaning: AnswerMeaning, explanation: String, advice: String? = nil,
        probe: ProbeMeaning,
        mayBeClock: Bool = false
    ) {
        self.init(
            status...status, String(code), meaning, explanation: explanation, advice: advice, probe: probe,
            mayBeClock: mayBeClock)
    }

    /// The lowest of its statuses, which for most is the only one.
    var status: Int { statuses.lowerBound }

    /// What the report says.
    var words: ReasonWords { ReasonWords(explanation: explanation, meaning: meaning, mayBeClock: mayBeClock) }
}

/// The reasons that a service documents, each once.
struct AnswerTable: Sendable {
    private let byReason: [String: DocumentedAnswer]
    /// Those that only dead targets cause, in the order of the rows.
    let gone: [String]
    /// Those that blame a target, although wrong settings cause them for all targets.
    let blaming: Set<String>

    init(_ rows: [DocumentedAnswer]) {
        byReason = Dictionary(uniqueKeysWithValues: rows.map { ($0.reason, $0) })
        gone = rows.filter { $0.meaning == .invalidTarget(blamesSettings: false) }.map(\.reason)
        blaming = Set(rows.filter { $0.meaning == .invalidTarget(blamesSettings: true) }.map(\.reason))
    }

    /// The row of a reason, whatever its status.
    subscript(reason: String) -> DocumentedAnswer? { byReason[reason] }

    /// The row of a reason, if it came with a status of its own.
    subscript(status: Int, reason: String) -> DocumentedAnswer? {
        guard let row = byReason[reason], row.statuses.contains(status) else { return nil }
        return row
    }
}

extension ProbeMeaning {
    /// What a status says without a reason, with most services.
    init(status: Int) {
        self =
            switch status {
            case 200: .fine
            case 401, 403: .wrongCredentials
            case 429, 500...: .busy
            default: .notTheService
            }
    }
}

/// Advice that several services give. It must not lead to a plan for all again: the devices of
/// other services would get the push twice.
extension DocumentedAnswer {
    /// What follows where the message is wrong: the end of a sentence.
    static let planAgain =
        "plan again without those whom this run has reached: a run keeps the message that it was planned with."
    static let correctContent = "Correct the campaign's content, and \(planAgain)"
    static let correctAppKey =
        "A run keeps the app key and the region that it was planned with: if one of them was wrong, correct it and resume the run, which then says "
        + "how to reach the rest."
}
