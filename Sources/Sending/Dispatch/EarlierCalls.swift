import Base
import Delivery
import PushServices
import Runs

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
            let own = run.plan.ids(ofService: number)
            let lost = claimed.flatMap { own.ranges(in: $0) }
            let calls = try run.calls(ofService: number)
            let review: CallReview
            switch service.repeatProtection {
            case .none: continue
            case .fetched(let names):
                review = CallReview(calls, lost: lost, names: names, at: now)
                repeats[number] = review.repeats
            case .derived(let windowSeconds):
                review = try CallReview(calls, lost: lost, windowSeconds: windowSeconds, claimedAt: run.firstClaim, at: now)
                generations[number] = CallReview.generations(of: calls)
            }
            try run.settle(review.unsent, .unsent, at: now)
            try run.settle(review.unknown, .unknown, at: now)
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

extension RunLedger {
    /// Records one outcome of many recipients, because the process that sent to them ended.
    fileprivate func settle(_ ids: [Int], _ outcome: Outcome, at now: Timestamp) throws {
        for start in stride(from: 0, to: ids.count, by: 10_000) {
            let part = ids[start..<min(start + 10_000, ids.count)]
            try record(part.map { Settlement(recipient: $0, outcome: outcome, own: .interrupted, settledAt: now) })
        }
    }
}
