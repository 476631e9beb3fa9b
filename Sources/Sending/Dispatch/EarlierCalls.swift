public import Base
import Delivery
public import PushServices
public import Runs

/// What a killed process left at services that recognize repeats, by the numbers of the services:
/// calls to send again under their names, and the generations of pushes.
struct EarlierCalls {
    private var repeats: [Int: [NamedCall]] = [:]
    private var generations: [Int: [Int: UInt16]] = [:]
    private var doubts: [Int: Int] = [:]

    /// Nothing.
    init() {}

    /// Settles the recipients whose outcome is now certain: one that was never sent to is unsent,
    /// one that can no longer be recognized is unknown. The others stay without an outcome until
    /// they get the push again.
    /// - Parameter services: services that recognize repeats, with their numbers.
    init(of run: any RunLedger, _ services: [(number: Int, service: any PushService)], at now: Timestamp) throws {
        let claimed = try run.unsettled(in: 0..<run.plan.audience, OpenOutcomes()).inDoubt
        for (number, service) in services {
            let lost = run.plan.ids(ofService: number).intersection(of: claimed)
            let calls = try run.calls(ofService: number)
            guard let review = try CallReview(calls, lost: lost, service.repeatProtection, in: run, at: now) else {
                continue
            }
            switch service.repeatProtection {
            case .none: continue
            case .fetched: repeats[number] = review.repeats
            case .derived: generations[number] = CallReview.generations(of: calls)
            }
            try settle(review.unsent, .unsent, because: .interrupted, at: now, in: run)
            try settle(review.unknown, .unknown, because: .processEnded, at: now, in: run)
            // Last: as long as they are there, another process finds the same.
            try run.append(.callsForgotten(review.over))
            doubts[number] = lost.reduce(0) { $0 + $1.count } - review.unsent.count - review.unknown.count
        }
    }

    /// The calls of a segment that are sent again.
    func repeats(in segment: RunSegment) -> [NamedCall] {
        repeats[segment.service, default: []].filter { $0.recipients.allSatisfy(segment.ids.contains) }
    }

    /// The generations beyond the first of a service's pushes, by recipient; nil where generations
    /// do not count.
    func generations(atService number: Int) -> [Int: UInt16]? { generations[number] }

    /// How many recipients of a service stay without an outcome.
    func inDoubt(atService number: Int) -> Int { doubts[number, default: 0] }
}

extension CallReview {
    /// - Returns: nil for a service that recognizes no repeats.
    fileprivate init?(
        _ calls: [NamedCall], lost: [Range<Int>], _ protection: RepeatProtection, in run: any RunLedger,
        at now: Timestamp
    ) throws {
        switch protection {
        case .none: return nil
        case .fetched(let names):
            try self.init(calls, lost: lost, names: names, at: now) { try outcomes(of: $0, in: run) }
        case .derived(let windowSeconds):
            let claims = try run.claims()
            self.init(calls, lost: lost, windowSeconds: windowSeconds, claimedAt: { claims.first(of: $0) }, at: now)
        }
    }
}

extension ClaimSet {
    /// What it has in common with ranges, ascending.
    fileprivate func intersection(of ranges: [Range<Int>]) -> [Range<Int>] { ranges.flatMap { self.ranges(in: $0) } }
}

/// What becomes of the devices that a killed process left without an outcome, when the run is
/// resumed.
public struct LostDevices: Hashable, Sendable {
    /// How many were never sent to, as their service shows: they are sent to like all others that
    /// are unsent.
    public var unsent = 0
    /// How many get the push again because their service recognizes the push if it has it already.
    public var recognized = 0

    /// - Parameters:
    ///   - run: no process may be sending it.
    ///   - number: of one of its services.
    public init(of run: any RunLedger, at service: any PushService, number: Int, now: Timestamp = .now()) throws {
        if case .none = service.repeatProtection { return }
        let lost = run.plan.ids(ofService: number).intersection(
            of: try run.unsettled(in: 0..<run.plan.audience, OpenOutcomes()).inDoubt)
        guard !lost.isEmpty else { return }
        let calls = try run.calls(ofService: number)
        guard let review = try CallReview(calls, lost: lost, service.repeatProtection, in: run, at: now) else { return }
        unsent = review.unsent.count
        recognized = lost.reduce(0) { $0 + $1.count } - review.unsent.count - review.unknown.count
    }
}

/// The recorded outcomes of some recipients. Reads those of all.
private func outcomes(of ids: Set<Int>, in run: any RunLedger) throws -> [Int: Outcome] {
    var outcomes: [Int: Outcome] = [:]
    try run.forEachResult { id, _, settlement, _ in if ids.contains(id) { outcomes[id] = settlement?.outcome } }
    return outcomes
}

/// Records one outcome of many recipients, because the process that sent to them ended.
func settle(
    _ ids: some Collection<Int>, _ outcome: Outcome, because reason: OwnReason, at now: Timestamp, in run: any RunLedger
) throws {
    var rest = ids[...]
    while !rest.isEmpty {
        let part = rest.prefix(10_000)
        rest = rest.dropFirst(part.count)
        try run.append(
            .settled([part.map { Settlement(recipient: $0, outcome: outcome, own: reason, settledAt: now) }]))
    }
}

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
