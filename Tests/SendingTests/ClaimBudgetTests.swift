import Base
import Glibc
import PushServices
import Testing

@testable import Delivery
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
        // The control never settles anything, so fewer recorded than settled needs a negative
        // count.
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

    @Test(
        "while nothing can be recorded, the answers of a fraction of a second wait in memory, and nobody more is claimed"
    )
    func boundsTheUnrecorded() throws {
        let recorded = WatchedCount(), control = SendControl(), wakeup = try Wakeup(), isOver = try Cancellation(),
            perSecond = 1000
        let claims = try WorkerThread("claim") {
            let allowance = ClaimBudget(control: control, recorded: recorded, paces: Self.paces, wakeup: wakeup)
            for _ in 0..<5 * perSecond {
                let count = allowance.wait(forAtMost: 1000) { isOver.isRequested }
                if isOver.isRequested { return }
                allowance.noteClaimed(count)
                // A service that answers a thousand in a second.
                usleep(UInt32(1_000_000 / perSecond * count))
                control.add(started: count, settled: count)
            }
        }
        // The database is away for a while.
        usleep(1_500_000)
        let settled = control.pushesSettled
        #expect(settled >= 20 && settled < perSecond / 2)
        wakeup.wake()
        usleep(50_000)
        #expect(control.pushesSettled == settled && !claims.isFinished)
        // It is back.
        recorded.add(settled)
        let end = ContinuousClock.now + .seconds(5)
        while control.pushesSettled == settled, ContinuousClock.now < end { usleep(1000) }
        #expect(control.pushesSettled > settled)
        isOver.request()
        recorded.add(perSecond)
        wakeup.wake()
        claims.join()
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
