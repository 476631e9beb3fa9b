/// What the answers to a run say about the tokens that were refused: are those devices gone, or are
/// the settings wrong?
///
/// Some refusals are for a token that was once valid with these settings, so that device is gone.
/// Others also come for every good token if the settings are wrong. Only the answers to other
/// devices, sent with the same settings, can show whether the token is at fault.
///
/// This is the only place that decides this: while a run is sent, at its end, and for the
/// suppression list. It covers all epochs of a run.
public struct TokenEvidence: Hashable, Sendable {
    /// All devices of the run.
    public var audience = 0
    /// Devices with an accepted push.
    public var accepted = 0
    /// Devices that were refused for a reason that can come from wrong settings or from dead
    /// tokens.
    public var ambiguous = 0
    /// Devices that were refused for another reason: they are gone.
    public var gone = 0
    /// Devices that were left out because of `frequency`: other runs reached them with these
    /// settings.
    public var leftOut = 0
    /// Devices with a final answer: all of the above but `leftOut`, and those that were rejected or
    /// failed.
    public var answers = 0

    /// The number of accepted pushes needed for each device that was refused ambiguously or has no
    /// answer. With one for each, an export with half of its devices for tests would get the other
    /// half suppressed when it is sent to the test devices' environment. A dead token that is not
    /// suppressed costs one refused push per campaign; a good one that is suppressed gets nothing
    /// any more.
    public static let acceptedForEachOther = 4

    /// No answers yet.
    public init() {}

    /// For a run that cannot be read: nothing is known about its devices, so that none is
    /// suppressed for an ambiguous reason.
    public static let ofUnreadableRun: TokenEvidence = {
        var evidence = TokenEvidence()
        evidence.audience = .max / 1_000_000
        return evidence
    }()

    /// The results of a run, over all its epochs.
    /// - Parameters:
    ///   - outcomes: of all devices of the run.
    ///   - reasons: of those that have one.
    ///   - blaming: reasons of the service that can come from wrong settings or from dead tokens.
    public init(outcomes: [Outcome: Int], reasons: [String: Int], blaming: Set<String>) {
        audience = outcomes.values.reduce(0, +)
        accepted = outcomes[.accepted, default: 0]
        ambiguous = blaming.reduce(0) { $0 + reasons[$1, default: 0] }
        gone = max(0, outcomes[.invalidToken, default: 0] - ambiguous)
        leftOut = reasons[OwnReason.frequencyCap.rawValue, default: 0]
        answers = [.accepted, .invalidToken, .rejected, .failed].reduce(0) { $0 + outcomes[$1, default: 0] }
    }

    /// The evidence of a run and of those that it retries, which have the same settings. Retried
    /// devices belong to the first run's audience, and may have been left out there.
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

    /// Whether more than half of all answers are ambiguous refusals, so that a run which reached
    /// its end counts as stopped, not finished.
    public var pointsAtSettings: Bool { ambiguous * 2 > answers }

    /// Whether ambiguous refusals are the tokens' fault, because enough other pushes were accepted.
    /// A device without an answer counts like an ambiguous refusal: the first devices of an export
    /// are not typical of the rest.
    public var pointsAtTokens: Bool {
        let others = audience - accepted - gone - leftOut
        return accepted > 0 && accepted >= others * Self.acceptedForEachOther
    }

    /// Whether a device with a refused token gets no more pushes.
    /// - Parameters:
    ///   - status: of the answer.
    ///   - hasFinished: whether its run has finished. A run that stopped did so for a reason, and
    ///     may be resumed.
    public func suppresses(status: Int, hasFinished: Bool) -> Bool { status == 410 || hasFinished && pointsAtTokens }
}

/// What the answers to a run say about tokens and settings: all answers together with those to the
/// runs that it retries, and separately those to each of its epochs and to each part of an epoch
/// between its rests.
///
/// Settings that were right may become wrong without a change in volley.yaml: another server gets
/// the name, a key loses its topic. So accepted pushes of one epoch, part or retry are no evidence
/// for another.
public struct RunEvidence: Hashable, Sendable {
    /// Evidence of the run and the runs that it retries.
    public let all: TokenEvidence
    /// Evidence of each epoch of the run that got answers, in order. Its audience is the devices
    /// that were answered; those that were not count in `all`.
    public let epochs: [TokenEvidence]
    /// Evidence of each part of an epoch between its rests.
    private let parts: [TokenEvidence]

    /// - Parameters:
    ///   - own: of the run, over all its epochs.
    ///   - retried: of the runs that it retries.
    ///   - before: of the run when each epoch but the first began, in order.
    ///   - rests: of the run at its pauses and between its waves, in order.
    public init(
        _ own: TokenEvidence, retried: TokenEvidence = TokenEvidence(), before: [TokenEvidence] = [],
        atRests rests: [TokenEvidence] = []
    ) {
        all = own + retried
        epochs = Self.parts(of: own, before)
        parts = Self.parts(of: own, (before + rests).sorted { $0.answers < $1.answers })
    }

    private static func parts(of own: TokenEvidence, _ bounds: [TokenEvidence]) -> [TokenEvidence] {
        zip([TokenEvidence()] + bounds, bounds + [own]).map { $1.answers(since: $0) }.filter { $0.answers > 0 }
    }

    /// The evidence that the settings are wrong, so that a run which reached its end counts as
    /// stopped, not finished: that of all, or of the last epoch; nil if neither shows this.
    public var settingsEvidence: TokenEvidence? { [all, epochs.last].compactMap(\.self).first { $0.pointsAtSettings } }

    /// Whether ambiguous refusals are the tokens' fault, in all answers and in each part that has
    /// such refusals.
    public var pointsAtTokens: Bool { all.pointsAtTokens && partsPointAtTokens }

    private var partsPointAtTokens: Bool { parts.allSatisfy { $0.ambiguous == 0 || $0.pointsAtTokens } }

    /// Whether a device with a refused token gets no more pushes.
    /// - Parameters:
    ///   - status: of the answer.
    ///   - hasFinished: whether the run has finished.
    public func suppresses(status: Int, hasFinished: Bool) -> Bool {
        all.suppresses(status: status, hasFinished: hasFinished && partsPointAtTokens)
    }
}

extension TokenEvidence {
    /// The answers since the run was at `before`.
    fileprivate func answers(since before: TokenEvidence) -> TokenEvidence {
        var part = TokenEvidence()
        part.accepted = accepted - before.accepted
        part.ambiguous = ambiguous - before.ambiguous
        part.gone = gone - before.gone
        part.answers = answers - before.answers
        part.audience = part.answers
        return part
    }
}
