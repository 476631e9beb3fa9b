import Base
import Synchronization

/// The state that the threads of a run share while it is sent.
final class SendState: Sendable {
    let progress: SendProgress
    /// How many settlements of this sending are on the disk.
    let recorded = WatchedCount()
    /// How many claims of the run were made.
    let claims = ClaimCount()
    /// Woken when the delivery has ended.
    let ended: Wakeup
    /// How many recipients may get no more pushes.
    private let cappedCount = Atomic(0)
    /// Why the run cannot continue: the first reason only.
    let failure = Mutex<StopCause?>(nil)
    /// What is known about recipients that get the push again.
    private struct Earlier {
        /// The recorded attempts.
        var attempts: [Int: Int] = [:]
        /// The recipients that may have got the push.
        var inDoubt: Set<Int> = []
    }

    private let earlier = Mutex(Earlier())

    /// - Throws: a `Diagnostic` if no more files can be opened.
    package init(total: Int, settled: [Outcome: Int]) throws(Diagnostic) {
        ended = try Wakeup()
        progress = SendProgress(total: total, settled: settled)
    }

    /// How many recipients were left out because they may get no more pushes.
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

    /// Completes settlements for the record. They get the attempts of earlier sendings to the same
    /// recipient. If a recipient may have got the push earlier, it is recorded as unknown when this
    /// time it is unsent, failed or rejected.
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
                case .rejected: (settlement.outcome, settlement.reason) = (.unknown, OwnReason.refusedAgain.rawValue)
                case .accepted, .invalidToken, .unknown: break
                }
                return settlement
            }
        }
    }
}

/// The outcomes so far. The recorder's thread counts them, and another thread shows them.
final class SendProgress: Sendable {
    private struct Counts {
        var outcomes = [Int](repeating: 0, count: Outcome.allCases.count)
        /// What other machines have recorded since this sending began.
        var elsewhere = [Int](repeating: 0, count: Outcome.allCases.count)
    }

    private let counts = Mutex(Counts())
    /// How many recipients the run has.
    let total: Int
    private let before: Int

    /// - Parameter settled: the recipients by outcome before this sending began.
    package init(total: Int, settled: [Outcome: Int] = [:]) {
        self.total = total
        before = settled.values.reduce(0, +)
        counts.withLock { counts in
            for (outcome, count) in settled { counts.outcomes[outcome.rawValue] = count }
        }
    }

    func add(_ settlements: [Settlement]) {
        counts.withLock { counts in
            for settlement in settlements { counts.outcomes[settlement.outcome.rawValue] += 1 }
        }
    }

    /// Notes what other machines have recorded since this sending began, in place of what was noted
    /// of it before.
    func note(elsewhere outcomes: [Outcome: Int]) {
        counts.withLock { counts in
            for outcome in Outcome.allCases { counts.elsewhere[outcome.rawValue] = outcomes[outcome, default: 0] }
        }
    }

    /// Recorded recipients by outcome.
    var outcomes: [Outcome: Int] {
        let counts = counts.withLock { $0 }
        return Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map {
                ($0, counts.outcomes[$0.rawValue] + counts.elsewhere[$0.rawValue])
            })
    }

    /// How many recipients are recorded.
    var done: Int { counts.withLock { $0.outcomes.reduce(0, +) + $0.elsewhere.reduce(0, +) } }

    /// How many recipients this sending has recorded.
    var doneHere: Int { counts.withLock { $0.outcomes.reduce(0, +) } - before }
}
