import Base
import Delivery
import PushServices
import Runs

/// What the answers to earlier waves of a life of a run, and to what was sent before a pause, mean for the next ones: the campaign's limits hold for the whole
/// run, and a canary that was too small to be judged goes on.
struct EarlierSendings {
    private let limits: StopLimits?
    /// When the life began, if a person resumed a run that had passed its limits; those answers are not judged again.
    private let accepted: [Outcome: Int]
    private var judged: RunFigures?
    private let service: any PushService

    /// - Parameters:
    ///   - figures: as the life begins; nil when nothing was sent.
    ///   - service: takes the pushes.
    package init(_ limits: StopLimits?, _ figures: RunFigures?, _ service: any PushService = PushServices.standard) {
        self.limits = limits
        self.service = service
        judged = figures
        accepted = figures.map { figures in limits?.isPassed(by: figures.outcomes) ?? false ? figures.outcomes : [:] } ?? [:]
    }

    /// For a sender that begins now.
    /// - Parameter figures: nil when nothing was sent.
    func answers(_ figures: RunFigures?) -> EarlierAnswers {
        var earlier = EarlierAnswers()
        guard let figures else { return earlier }
        earlier.judged = figures.outcomes.merging(accepted) { max(0, $0 - $1) }
        let evidence = figures.tokenEvidence(of: service), before = judged?.tokenEvidence(of: service) ?? TokenEvidence()
        earlier.canary = evidence.answers - before.answers
        earlier.ambiguous = evidence.ambiguous - before.ambiguous
        earlier.rejected = figures.outcomes[.rejected, default: 0] - (judged?.outcomes[.rejected, default: 0] ?? 0)
        return earlier
    }

    /// A sender has ended: with enough answers the canary was judged, and the next sender begins one of its own.
    mutating func noteEnd(_ figures: RunFigures?) {
        if answers(figures).canary >= EarlierAnswers.canarySize { judged = figures }
    }
}
