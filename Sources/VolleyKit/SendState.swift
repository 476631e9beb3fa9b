import Base
import Synchronization

/// What the threads of a sending run share.
final class SendState: Sendable {
    let progress: SendProgress
    let recordingLag = RecordingLag()
    /// Why the run cannot go on, the first reason only.
    let failure = Mutex<String?>(nil)
    /// Of recipients that are sent to again, as recorded before.
    private let earlierAttempts = Mutex<[Int: Int]>([:])

    init(total: Int, settled: [Outcome: Int]) { progress = SendProgress(total: total, settled: settled) }

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
