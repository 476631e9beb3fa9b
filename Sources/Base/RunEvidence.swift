/// What the answers to a run say about tokens and settings: all answers together with those to the runs that it retries, and separately
/// those to each of its lives and to each part of a life between its rests.
///
/// Settings that were right may become wrong without a change in volley.yaml: another server gets the name, a key loses its topic. So
/// accepted pushes of one life, part or retry are no evidence for another.
public struct RunEvidence: Hashable, Sendable {
    /// Evidence of the run and the runs that it retries.
    public let all: TokenEvidence
    /// Evidence of each life of the run that got answers, in order. Its audience is the devices that were answered; those that were not
    /// count in `all`.
    public let lives: [TokenEvidence]
    /// Evidence of each part of a life between its rests.
    private let parts: [TokenEvidence]

    /// - Parameters:
    ///   - own: of the run, over all its lives.
    ///   - retried: of the runs that it retries.
    ///   - before: of the run when each life but the first began, in order.
    ///   - rests: of the run at its pauses and between its waves, in order.
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

    /// The evidence that the settings are wrong, so that a run which reached its end counts as stopped, not finished: that of all, or of
    /// the last life; nil if neither shows this.
    public var settingsEvidence: TokenEvidence? { [all, lives.last].compactMap(\.self).first { $0.pointsAtSettings } }

    /// Whether ambiguous refusals are the tokens' fault, in all answers and in each part that has such refusals.
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
