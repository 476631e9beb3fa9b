import Foundation
import Synchronization
import Testing

@testable import Runs

@Suite("the right to send a run")
struct SendingLockTests {
    private final class Seen: Sendable { let isOver = Mutex(false), mistaken = Mutex(0) }

    @Test("nobody ever sees a lock without its stamp: one that does not send is never taken for one that does")
    func stamped() throws {
        let folder = try TemporaryFolder()
        let run = folder.path + "/run.sqlite"
        let seen = Seen()
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !seen.isOver.withLock({ $0 }) {
                if SendingLock.isSending(run: run) { seen.mistaken.withLock { $0 += 1 } }
            }
            ended.signal()
        }
        for _ in 0..<3_000 { _ = try SendingLock(run: run, isSending: false) }
        seen.isOver.withLock { $0 = true }
        ended.wait()
        #expect(seen.mistaken.withLock { $0 } == 0)
        #expect(folder.names.isEmpty, "a lock that was given back leaves nothing")
    }
}
