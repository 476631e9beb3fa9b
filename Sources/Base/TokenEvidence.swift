/// What the answers to a run say of the tokens that were refused: are those devices gone, or are the settings wrong?
///
/// Some refusals come for a token that was valid with these settings once, so that device is gone. Others also come for every good token when the settings
/// are wrong. Whether they are the token's fault only the others can tell, who were pushed to with the same settings.
///
/// This is the one place that decides it: while a run is sent, at its end, and for the suppression list. It knows all lives of a run.
public struct TokenEvidence: Hashable, Sendable {
    /// All devices of the run.
    public var audience = 0
    /// Devices whose push was accepted.
    public var accepted = 0
    /// Devices that were refused for a reason that wrong settings cause as well as dead tokens.
    public var ambiguous = 0
    /// Devices that were refused for another reason: they are gone.
    public var gone = 0
    /// Devices that were left out because of `frequency`: other runs reached them with these settings.
    public var leftOut = 0
    /// Devices with a final answer: all of the above but `leftOut`, and what was rejected or failed.
    public var answers = 0

    /// Accepted pushes that everyone needs beside it who was refused so, or of whom nothing is known. With one for one, an export that is half of
    /// test devices would have the other half suppressed when it is sent in their environment. A dead token that is not suppressed costs one refused
    /// push a campaign; a good one that is suppressed gets nothing any more.
    public static let acceptedForEachOther = 4

    /// No answers yet.
    public init() {}

    /// Of a run that cannot be read: nothing is known of anybody, so that nobody is suppressed for a doubtful reason.
    public static let ofUnreadableRun: TokenEvidence = {
        var evidence = TokenEvidence()
        evidence.audience = .max / 1_000_000
        return evidence
    }()

    /// What a run has come to, over all its lives.
    /// - Parameters:
    ///   - outcomes: of everybody whom it is for.
    ///   - reasons: of those who have one.
    ///   - blaming: reasons of the service that wrong settings cause as well as dead tokens.
    public init(outcomes: [Outcome: Int], reasons: [String: Int], blaming: Set<String>) {
        audience = outcomes.values.reduce(0, +)
        accepted = outcomes[.accepted, default: 0]
        ambiguous = blaming.reduce(0) { $0 + reasons[$1, default: 0] }
        gone = max(0, outcomes[.invalidToken, default: 0] - ambiguous)
        leftOut = reasons[OwnReason.frequencyCap.rawValue, default: 0]
        answers = [.accepted, .invalidToken, .rejected, .failed].reduce(0) { $0 + outcomes[$1, default: 0] }
    }

    /// Of a run and those that it retries, which have the same settings. Who is retried is one of the first run's audience, and perhaps was left
    /// out there.
    public static func + (left: TokenEvidence, right: TokenEvidence) -> TokenEvidence {
        guard left != TokenEvidence(), right != TokenEvidence() else { return left == TokenEvidence() ? right : left }
        var sum = TokenEvidence()
        sum.audience = max(left.audience, right.audience)
        sum.accepted = left.accepted + right.accepted
        sum.ambiguous = left.ambiguous + right.ambiguous
        sum.gone = left.gone + right.gone
        sum.answers = left.answers + right.answers
        return sum
    }

    /// Whether more than half of all answers are doubtful refusals, so that a run which got to its end has stopped, not finished.
    public var pointsAtSettings: Bool { ambiguous * 2 > answers }

    /// Whether doubtful refusals are the tokens' fault, as enough others were accepted. Who got no answer counts like a doubtful refusal: those who
    /// come first in an export are not like the rest.
    public var pointsAtTokens: Bool {
        let others = audience - accepted - gone - leftOut
        return accepted > 0 && accepted >= others * Self.acceptedForEachOther
    }

    /// Whether a device whose token was refused gets no more pushes.
    /// - Parameters:
    ///   - status: of the answer.
    ///   - hasFinished: whether its run has finished. One that stopped did so for a reason, and may go on.
    public func suppresses(status: Int, hasFinished: Bool) -> Bool { status == 410 || hasFinished && pointsAtTokens }
}
