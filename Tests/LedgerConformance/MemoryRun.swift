public import Base
public import Runs
import Synchronization

/// A run in memory that does what ledgers do, written as plainly as possible. It lacks only files,
/// locks and transactions.
public final class MemoryRun: Sendable {
    let plan: RunPlan
    let recipients: [Recipient]
    let fault: Fault?
    let account = Mutex(Account())

    /// A planned run.
    /// - Parameter fault: what its ledgers do wrong; nil for nothing.
    public init(_ plan: RunPlan, _ recipients: [Recipient], fault: Fault? = nil) {
        self.plan = plan
        self.recipients = recipients
        self.fault = fault
    }

    /// Another holder.
    public func open() -> any RunLedger { MemoryLedger(self) }

    /// What a ledger may do wrong, to test that the behaviours notice it.
    public enum Fault: CaseIterable, Sendable {
        case sharesTheRightToSend, beginsFromAnyState, followsAnyEpoch, keepsTheEnd
        case leasesWhoIsClaimed, leasesBeyondTheSegment, leasesIntoTheNextSegment, claimsTwice, keepsDeferrals,
            claimsAfterTheEnd,
            forgetsWhoWasReopened
        case settlesTwice, recordsHalf, settlesWhoIsUnclaimed, losesNobody, defersWhoIsUnderWay, handsOutTheSettled
        case takesOrdersForNobody, takesOrdersThatDoNotFit
        case namesWhoIsUnclaimed, namesHalf, forgetsWhomItDoubts, forgetsAllCalls
        case stopsAnything, stopsTheWrongSegment, keepsStopsOfSegments, countsOneServiceForAll,
            mixesTheAnswersOfServices,
            readsOneServiceForAll,
            forgetsReceipts, mixesReceipts
    }

    /// Everything that is known about the run.
    struct Account {
        var state = RunState.planned
        var cause: StopCause?
        var startedAt: Timestamp?, finishedAt: Timestamp?
        var epoch = ""
        var holder: Holder?
        var claims: [(ids: Range<Int>, at: Timestamp)] = []
        var reopened = 0
        var outcomes: [Int: Settlement] = [:]
        var skipped: Set<Int> = []
        /// By services.
        var beforeEpochs: [Int: [TokenEvidence]] = [:]
        /// By the first ids of segments.
        var segments: [Int: SegmentState] = [:]
        var noted: NotedEpoch?
        /// By services.
        var receipts: [Int: [String]] = [:]
        var calls: [NamedCall] = []
        var lastCall = 0

        mutating func append(_ call: NamedCall) {
            lastCall += 1
            var call = call
            call.number = lastCall
            calls.append(call)
        }

        var claimed: ClaimSet { ClaimSet(claims.map(\.ids)) }

        /// A run that says it is running while no process sends it was cut off.
        var status: RunStatus {
            let isCutOff = state == .running && holder == nil
            var status = RunStatus(
                state: isCutOff ? .stopped : state, cause: isCutOff ? .ledger(.processGone) : cause,
                startedAt: startedAt,
                finishedAt: finishedAt)
            (status.epoch, status.segments) = (epoch, segments)
            (status.isBeingSent, status.sendingSince) = (holder != nil, holder?.since)
            return status
        }

        func figures(_ plan: RunPlan, _ fault: Fault?) -> RunFigures {
            var figures = figures(of: 0..<plan.audience)
            guard plan.serviceCount > 1 else { return figures }
            figures.services = (0..<plan.serviceCount).map { service in
                self.figures(
                    of: (0..<plan.audience).filter {
                        fault == .countsOneServiceForAll || plan.service(of: $0) == service
                    })
            }
            return figures
        }

        private func figures(of ids: some Collection<Int>) -> RunFigures {
            var figures = RunFigures()
            let claimed = claimed
            for outcome in Outcome.allCases { figures.outcomes[outcome] = 0 }
            for id in ids {
                figures.outcomes[outcomes[id]?.outcome ?? (claimed.contains(id) ? .unknown : .unsent), default: 0] += 1
                if outcomes[id] == nil, claimed.contains(id) { figures.unrecorded.claimed += 1 }
                if outcomes[id] == nil, !claimed.contains(id) { figures.unrecorded.unclaimed += 1 }
                if let reason = outcomes[id]?.reason, !reason.isEmpty { figures.reasons[reason, default: 0] += 1 }
            }
            return figures
        }

        /// Records outcomes, all or none.
        mutating func record(_ settlements: [Settlement], audience: Int, _ fault: Fault?) throws {
            let (before, claimed) = (outcomes, claimed)
            for settlement in settlements {
                let id = settlement.recipient
                guard (0..<audience).contains(id),
                    settlement.outcome == .unsent || claimed.contains(id) || fault == .settlesWhoIsUnclaimed,
                    outcomes[id].map({ $0.outcome == .unsent }) ?? true || fault == .settlesTwice
                else {
                    if fault != .recordsHalf { outcomes = before }
                    throw Diagnostic("recipient \(id) cannot be \(settlement.outcome)")
                }
                outcomes[id] = settlement
            }
        }
    }

    /// The process with the right to send.
    struct Holder {
        var ledger: ObjectIdentifier
        /// In nanoseconds since 1970; nil for one that only prevents others from sending.
        var since: Int64?
    }

    /// What is noted next to the run about its last epoch.
    struct NotedEpoch {
        var epoch: String
        /// The one before, until the epoch is confirmed.
        var previous: String?
        var reached: Int
        var claimed: Int
    }
}
