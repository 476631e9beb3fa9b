import Base
import Synchronization

/// What the threads of a sending run share.
final class SendState: Sendable {
    let progress: SendProgress
    /// Settlements that are on the disk.
    private let recordedCount = Atomic(0)
    /// Recipients who may get no more pushes.
    private let cappedCount = Atomic(0)
    /// Why the run cannot go on, the first reason only.
    let failure = Mutex<String?>(nil)
    /// Of recipients that are sent to again, as recorded before.
    private let earlierAttempts = Mutex<[Int: Int]>([:])

    init(total: Int, settled: [Outcome: Int]) { progress = SendProgress(total: total, settled: settled) }

    /// How many settlements of this sending are on the disk.
    var recorded: Int { recordedCount.load(ordering: .relaxed) }

    func noteRecorded(_ count: Int) { recordedCount.wrappingAdd(count, ordering: .relaxed) }

    /// How many recipients were left out, as they may get no more pushes.
    var capped: Int { cappedCount.load(ordering: .relaxed) }

    func noteCapped(_ count: Int) { cappedCount.wrappingAdd(count, ordering: .relaxed) }

    func fail(_ reason: String) {
        failure.withLock { $0 = $0 ?? reason }
    }

    @Sendable func noteAttempts(_ attempts: [Int: Int]) {
        if !attempts.isEmpty { earlierAttempts.withLock { $0.merge(attempts) { $1 } } }
    }

    /// Settlements with the attempts of all times that a recipient was sent to.
    func withEarlierAttempts(_ settlements: [Settlement]) -> [Settlement] {
        earlierAttempts.withLock { earlier in
            guard !earlier.isEmpty else { return settlements }
            return settlements.map { settlement in
                guard let attempts = earlier.removeValue(forKey: settlement.recipient) else { return settlement }
                var settlement = settlement
                settlement.attempts += attempts
                return settlement
            }
        }
    }
}
