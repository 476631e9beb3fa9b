/// What the answers to a run say of the tokens that were refused: are those devices gone, or are the settings wrong?
///
/// APNs answers 410 for a token that was valid with this topic in this environment once, so that device is gone. `BadDeviceToken` and
/// `DeviceTokenNotForTopic` also come for every good token when environment or topic are wrong. Whether they are the token's fault only the
/// others can tell, who were pushed to with the same settings.
///
/// This is the one place that decides it: while a run is sent, at its end, and for the suppression list.
public struct TokenEvidence: Hashable, Sendable {
    /// Devices whose push was accepted.
    public var accepted = 0
    /// Devices that were refused for one of `doubtfulReasons`.
    public var doubtful = 0
    /// Devices with a final answer, those two included.
    public var answers = 0

    /// Reasons that wrong settings cause as well as dead tokens. Source: Apple, "Handling notification responses from APNs".
    public static let doubtfulReasons: Set<String> = ["BadDeviceToken", "DeviceTokenNotForTopic"]

    /// Accepted pushes that each doubtful refusal needs beside it. With one for one, an export that is half of test devices would have the
    /// other half suppressed when it is sent in their environment. A dead token that is not suppressed costs one refused push a campaign; a good
    /// one that is suppressed gets nothing any more.
    public static let acceptedForEachDoubtful = 4

    /// No answers yet.
    public init() {}

    /// Those of a run, over all its lives.
    public init(outcomes: [Outcome: Int], reasons: [String: Int]) {
        accepted = outcomes[.accepted, default: 0]
        doubtful = Self.doubtfulReasons.reduce(0) { $0 + reasons[$1, default: 0] }
        answers = [.accepted, .invalidToken, .rejected, .failed].reduce(0) { $0 + outcomes[$1, default: 0] }
    }

    /// Of a run and those that it retries, which have the same settings.
    public static func + (left: TokenEvidence, right: TokenEvidence) -> TokenEvidence {
        var sum = left
        sum.accepted += right.accepted
        sum.doubtful += right.doubtful
        sum.answers += right.answers
        return sum
    }

    /// Whether more than half of all answers are doubtful refusals, so that a run which got to its end has stopped, not finished.
    public var blamesSettings: Bool { doubtful * 2 > answers }

    /// Whether doubtful refusals are the tokens' fault, as enough others were accepted.
    public var blamesTokens: Bool { accepted > 0 && accepted >= doubtful * Self.acceptedForEachDoubtful }

    /// Whether a device whose token was refused gets no more pushes.
    /// - Parameters:
    ///   - status: of the answer.
    ///   - hasFinished: whether its run has finished. Of one that stopped, was interrupted or cancelled, only a part was answered: those that come
    ///     first in an export are not like the rest, and the run may go on.
    public func suppresses(status: Int, hasFinished: Bool) -> Bool { status == 410 || hasFinished && blamesTokens }
}
