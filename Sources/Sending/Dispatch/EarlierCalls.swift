public import Base
import Delivery
public import PushServices
public import Runs

/// What a killed process left at services that recognize repeats, by the numbers of the services: calls to send again under their names, and
/// the generations of pushes.
struct EarlierCalls {
    private var repeats: [Int: [NamedCall]] = [:]
    private var generations: [Int: [Int: UInt16]] = [:]
    private var doubts: [Int: Int] = [:]

    /// Nothing.
    init() {}

    /// Settles those of whom more is known: who was never sent to is unsent, and who can no longer be recognized is unknown. The others stay
    /// without an outcome until they are sent to again.
    /// - Parameter services: services that recognize repeats, with their numbers.
    init(of run: any RunLedger, _ services: [(number: Int, service: any PushService)], at now: Timestamp) throws {
        let claimed = try run.claimedWithoutOutcome()
        for (number, service) in services {
            let lost = run.plan.ids(ofService: number).intersection(of: claimed)
            let calls = try run.calls(ofService: number)
            guard let review = try CallReview(calls, lost: lost, service.repeatProtection, in: run, at: now) else { continue }
            switch service.repeatProtection {
            case .none: continue
            case .fetched: repeats[number] = review.repeats
            case .derived: generations[number] = CallReview.generations(of: calls)
            }
            try run.settle(review.unsent, .unsent, because: .interrupted, at: now)
            try run.settle(review.unknown, .unknown, because: .processEnded, at: now)
            // Last: as long as they are there, another process finds the same.
            try run.forgetCalls(review.over)
            doubts[number] = lost.reduce(0) { $0 + $1.count } - review.unsent.count - review.unknown.count
        }
    }

    /// The calls of a leg that are sent again.
    func repeats(in leg: RunLeg) -> [NamedCall] {
        repeats[leg.service, default: []].filter { $0.recipients.allSatisfy(leg.ids.contains) }
    }

    /// The generations beyond the first of a service's pushes, by recipient; nil where generations do not count.
    func generations(atService number: Int) -> [Int: UInt16]? { generations[number] }

    /// How many recipients of a service stay without an outcome.
    func inDoubt(atService number: Int) -> Int { doubts[number, default: 0] }
}

extension CallReview {
    /// - Returns: nil for a service that recognizes no repeats.
    fileprivate init?(
        _ calls: [NamedCall], lost: [Range<Int>], _ protection: RepeatProtection, in run: any RunLedger, at now: Timestamp
    ) throws {
        switch protection {
        case .none: return nil
        case .fetched(let names): try self.init(calls, lost: lost, names: names, at: now, outcomes: run.outcomes)
        case .derived(let windowSeconds): try self.init(calls, lost: lost, windowSeconds: windowSeconds, claimedAt: run.firstClaim, at: now)
        }
    }
}

extension ClaimSet {
    /// What it has in common with ranges, ascending.
    fileprivate func intersection(of ranges: [Range<Int>]) -> [Range<Int>] { ranges.flatMap { self.ranges(in: $0) } }
}

/// What becomes of the devices that a killed process left without an outcome, when the run is resumed.
public struct LostDevices: Hashable, Sendable {
    /// How many were never sent to, as their service shows: they are sent to like all others that are unsent.
    public var unsent = 0
    /// How many are sent to again because their service recognizes the push if it has it already.
    public var recognized = 0

    /// - Parameters:
    ///   - run: nobody sends it.
    ///   - number: of one of its services.
    public init(of run: any RunLedger, at service: any PushService, number: Int, now: Timestamp = .now()) throws {
        if case .none = service.repeatProtection { return }
        let lost = run.plan.ids(ofService: number).intersection(of: try run.claimedWithoutOutcome())
        guard !lost.isEmpty else { return }
        let calls = try run.calls(ofService: number)
        guard let review = try CallReview(calls, lost: lost, service.repeatProtection, in: run, at: now) else { return }
        unsent = review.unsent.count
        recognized = lost.reduce(0) { $0 + $1.count } - review.unsent.count - review.unknown.count
    }
}

extension RunLedger {
    /// The recorded outcomes of some recipients. Reads those of all.
    fileprivate func outcomes(of ids: Set<Int>) throws -> [Int: Outcome] {
        var outcomes: [Int: Outcome] = [:]
        try forEachResult { id, _, settlement, _ in if ids.contains(id) { outcomes[id] = settlement?.outcome } }
        return outcomes
    }

    /// Records one outcome of many recipients, because the process that sent to them ended.
    fileprivate func settle(_ ids: [Int], _ outcome: Outcome, because reason: OwnReason, at now: Timestamp) throws {
        for start in stride(from: 0, to: ids.count, by: 10_000) {
            let part = ids[start..<min(start + 10_000, ids.count)]
            try record(part.map { Settlement(recipient: $0, outcome: outcome, own: reason, settledAt: now) })
        }
    }
}
