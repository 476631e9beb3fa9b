import Base
import Synchronization

/// What the threads of a sending run share.
final class SendState: Sendable {
    let progress: SendProgress
    /// Settlements of this sending that are on the disk.
    let recorded = WatchedCount()
    /// Of the thread that claims.
    let claiming: Wakeup
    /// Rung when the delivery has ended.
    let ended: Wakeup
    /// Recipients who may get no more pushes.
    private let cappedCount = Atomic(0)
    /// Why the run cannot go on, the first reason only.
    let failure = Mutex<StopCause?>(nil)
    /// What is known of recipients that are sent to again.
    private struct Earlier {
        /// Attempts that were recorded.
        var attempts: [Int: Int] = [:]
        /// They may have got the push.
        var inDoubt: Set<Int> = []
    }

    private let earlier = Mutex(Earlier())

    /// - Throws: a `Diagnostic` when no more files can be opened.
    package init(total: Int, settled: [Outcome: Int]) throws(Diagnostic) {
        (claiming, ended) = (try Wakeup(), try Wakeup())
        progress = SendProgress(total: total, settled: settled)
    }

    /// How many recipients were left out, as they may get no more pushes.
    var capped: Int { cappedCount.load(ordering: .relaxed) }

    func noteCapped(_ count: Int) { cappedCount.wrappingAdd(count, ordering: .relaxed) }

    func fail(_ cause: StopCause) {
        failure.withLock { $0 = $0 ?? cause }
    }

    @Sendable func noteAttempts(_ attempts: [Int: Int]) {
        if !attempts.isEmpty { earlier.withLock { $0.attempts.merge(attempts) { $1 } } }
    }

    @Sendable func noteInDoubt(_ recipients: [Int]) {
        if !recipients.isEmpty { earlier.withLock { $0.inDoubt.formUnion(recipients) } }
    }

    /// Settlements as they are to be recorded: with the attempts of all times that a recipient was sent to; and who may have got the push before is
    /// unknown when it is not sent, or refused for a while, this time.
    func completed(_ settlements: [Settlement]) -> [Settlement] {
        earlier.withLock { earlier in
            guard !earlier.attempts.isEmpty || !earlier.inDoubt.isEmpty else { return settlements }
            return settlements.map { settlement in
                var settlement = settlement
                settlement.attempts += earlier.attempts.removeValue(forKey: settlement.recipient) ?? 0
                guard earlier.inDoubt.contains(settlement.recipient) else { return settlement }
                switch settlement.outcome {
                case .unsent: (settlement.outcome, settlement.reason) = (.unknown, OwnReason.noAnswer.rawValue)
                case .failed: settlement.outcome = .unknown
                case .accepted, .invalidToken, .rejected, .unknown: break
                }
                return settlement
            }
        }
    }
}
