import Base
import Delivery
import Glibc
import PushServices
import Testing

@testable import Sending

@Suite("claiming ahead")
struct ClaimBudgetTests {
    private static let paces = {
        var paces = RequestPaces(.single)
        paces.keep(Pace(pushes: 100, intervalSeconds: 1), counting: .targets)
        return paces
    }()

    @Test("nobody is claimed while too many answers are not recorded, and the wait ends with the record")
    func waitsForTheRecorder() throws {
        let recorded = WatchedCount()
        // The control never settles anything, so fewer recorded than settled needs a negative count.
        recorded.add(-21)
        let wakeup = try Wakeup()
        try withThread {
            let allowance = ClaimBudget(
                control: SendControl(), recorded: recorded, paces: Self.paces, wakeup: wakeup)
            return allowance.wait(forAtMost: 5) { false }
        } meanwhile: { thread in
            wakeup.wake()
            usleep(20_000)
            #expect(!thread.isFinished)
            recorded.add(1)
            #expect(thread.join() == 5)
        }
    }

    @Test("the wait for room ends when the queue is closed")
    func endsWithTheQueue() throws {
        let (queue, wakeup) = (BoundedQueue<Int>(capacity: 1), try Wakeup())
        queue.wakeWhenClosed(wakeup)
        try withThread {
            let allowance = ClaimBudget(
                control: SendControl(), recorded: WatchedCount(), paces: Self.paces, wakeup: wakeup)
            allowance.noteClaimed(5)
            return allowance.wait(forAtMost: 5) { queue.isClosed }
        } meanwhile: { thread in
            usleep(20_000)
            #expect(!thread.isFinished)
            queue.close()
            #expect(thread.join() == 1)
        }
    }

    private func withThread(
        _ body: @escaping @Sendable () -> Int, meanwhile: (WorkerThread<Int>) throws -> Void
    ) throws { try meanwhile(try WorkerThread("claim", body)) }
}
