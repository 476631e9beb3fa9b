import Base
import Glibc
import Testing

@Suite("Waiting for a cancellation")
struct CancellationTests {
    private let clock = ContinuousClock()

    @Test("a request from another thread ends the wait at once, and all later ones")
    func requested() throws {
        let cancellation = try Cancellation()
        let start = clock.now
        let other = try WorkerThread("test") {
            usleep(20_000)
            cancellation.request()
        }
        #expect(!cancellation.waitForRequest(atMost: 60) && cancellation.isRequested)
        other.join()
        #expect(!cancellation.waitForRequest())
        #expect(clock.now - start < .seconds(30))
    }

    @Test("without a request it takes as long as it may, whatever else is waited for")
    func timeout() throws {
        let cancellation = try Cancellation(), other = try Wakeup()
        let start = clock.now
        #expect(!cancellation.waitForRequest(atMost: 0.05, orReadable: other.descriptor) && !cancellation.isRequested)
        #expect(clock.now - start >= .milliseconds(50))
        #expect(!cancellation.waitForRequest(atMost: -1))
    }

    @Test("what can be read ends the wait, and is said also when it was requested at the same time")
    func readable() throws {
        let cancellation = try Cancellation(), other = try Wakeup()
        other.wake()
        #expect(cancellation.waitForRequest(orReadable: other.descriptor) && !cancellation.isRequested)
        cancellation.request()
        #expect(cancellation.waitForRequest(orReadable: other.descriptor))
        other.clear()
        #expect(!cancellation.waitForRequest(orReadable: other.descriptor))
    }

    @Test("a wake-up that comes before the wait is not lost, and is forgotten by it")
    func wakeup() throws {
        let wakeup = try Wakeup()
        let start = clock.now
        wakeup.wake()
        wakeup.wait(atMost: 60)
        #expect(clock.now - start < .seconds(30))
        wakeup.wait(atMost: 0.05)
        #expect(clock.now - start >= .milliseconds(50))
    }

    @Test("a thread rings when it has ended, so that joining it takes no time")
    func ended() throws {
        let ended = try Wakeup()
        let thread = try WorkerThread("test", ringing: ended) { _ = usleep(10_000) }
        ended.wait(atMost: 60)
        #expect(thread.isFinished)
        thread.join()
    }

    @Test(
        "poll is given milliseconds, rounded up, and never more than it takes",
        arguments: [
            (nil, -1), (0, 0), (-3, 0), (0.000_1, 1), (0.25, 250), (1.0001, 1001), (1e12, Int32.max),
            (.infinity, Int32.max),
        ] as [(Double?, Int32)])
    func timeouts(seconds: Double?, milliseconds: Int32) { #expect(pollTimeout(seconds) == milliseconds) }

    @Test("attempts end after so many pauses")
    func retries() {
        var retries = Retries(atMost: 3, milliseconds: 5)
        let start = clock.now
        var pauses = 0
        while retries.pause() { pauses += 1 }
        #expect(pauses == 3 && clock.now - start >= .milliseconds(15))
        let isOver = !retries.pause()
        #expect(isOver)
    }
}
