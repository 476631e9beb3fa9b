/// What the answers to a run say of tokens and settings: all of them together with those to the runs that it retries, and those to each of its lives, and to
/// the parts of a life between its rests, alone.
///
/// Settings that were right may be wrong later on, without a change in volley.yaml: another server stands behind the name, a key has lost its topic. So no
/// life of a run, no part of one, and no retry borrows what another one was accepted.
public struct RunEvidence: Hashable, Sendable {
    /// Of the run and of those that it retries.
    public let all: TokenEvidence
    /// Of each life of the run that got answers, in order. Their audience is who was answered: who was not counts in `all`.
    public let lives: [TokenEvidence]
    /// The same, also between its rests.
    private let parts: [TokenEvidence]

    /// - Parameters:
    ///   - own: of the run, over all its lives.
    ///   - retried: of the runs that it retries.
    ///   - before: of the run as it was when each life but the first began, in order.
    ///   - rests: of the run as it was at its pauses and between its waves, in order.
    public init(
        _ own: TokenEvidence, retried: TokenEvidence = TokenEvidence(), before: [TokenEvidence] = [], atRests rests: [TokenEvidence] = []
    ) {
        all = own + retried
        lives = Self.parts(of: own, before)
        parts = Self.parts(of: own, (before + rests).sorted { $0.answers < $1.answers })
    }

    private static func parts(of own: TokenEvidence, _ bounds: [TokenEvidence]) -> [TokenEvidence] {
        zip([TokenEvidence()] + bounds, bounds + [own]).map { $1.answers(since: $0) }.filter { $0.answers > 0 }
    }

    /// The part that shows the settings to be wrong, so that a run which got to its end has stopped, not finished: all, or the last life; nil when neither does.
    public var settingsEvidence: TokenEvidence? { [all, lives.last].compactMap(\.self).first { $0.pointsAtSettings } }

    /// Whether doubtful refusals are the tokens' fault, in each part that has any as in all.
    public var pointsAtTokens: Bool { all.pointsAtTokens && partsPointAtTokens }

    private var partsPointAtTokens: Bool { parts.allSatisfy { $0.ambiguous == 0 || $0.pointsAtTokens } }

    /// Whether a device whose token was refused gets no more pushes.
    /// - Parameters:
    ///   - status: of the answer.
    ///   - hasFinished: whether the run has finished.
    public func suppresses(status: Int, hasFinished: Bool) -> Bool {
        all.suppresses(status: status, hasFinished: hasFinished && partsPointAtTokens)
    }
}

extension TokenEvidence {
    /// What was answered after the same run had come to `before`.
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
