import Base
import Delivery
import PushServices
import Runs

/// The answers to earlier waves of an epoch, and to pushes before a pause, as the next sender must
/// count them: the campaign's limits hold for the whole run, and a canary that was too small to be
/// judged continues.
struct EarlierSendings {
    private let limits: StopLimits?
    /// The outcomes at the beginning of the epoch, if a person resumed a run that had passed its
    /// limits; these are not judged again.
    private let accepted: [Outcome: Int]
    private var judged: RunFigures?
    private let service: any PushService

    /// - Parameters:
    ///   - figures: the run's figures as the epoch begins; nil if nothing was sent.
    ///   - service: the service that receives the pushes.
    package init(_ limits: StopLimits?, _ figures: RunFigures?, _ service: any PushService = PushServices.standard) {
        self.limits = limits
        self.service = service
        judged = figures
        accepted =
            figures.map { figures in limits?.isPassed(by: figures.outcomes) ?? false ? figures.outcomes : [:] } ?? [:]
    }

    /// The earlier answers for a sender that begins now.
    /// - Parameter figures: the run's figures now; nil if nothing was sent.
    func answers(_ figures: RunFigures?) -> EarlierAnswers {
        var earlier = EarlierAnswers()
        guard let figures else { return earlier }
        earlier.hasAccepted = figures.outcomes[.accepted, default: 0] > 0
        earlier.judged = figures.outcomes.merging(accepted) { max(0, $0 - $1) }
        let evidence = figures.tokenEvidence(of: service),
            before = judged?.tokenEvidence(of: service) ?? TokenEvidence()
        earlier.canary = evidence.answers - before.answers
        earlier.ambiguous = evidence.ambiguous - before.ambiguous
        earlier.rejected = figures.outcomes[.rejected, default: 0] - (judged?.outcomes[.rejected, default: 0] ?? 0)
        return earlier
    }

    /// Notes that a sender has ended. With enough answers its canary was judged, and the next
    /// sender begins a new one.
    mutating func noteEnd(_ figures: RunFigures?) {
        if answers(figures).canary >= EarlierAnswers.canarySize { judged = figures }
    }
}
