import Base
import Glibc
import Testing

@Suite struct WatchedCountTests {
    private func isRung(_ wakeup: Wakeup) -> Bool {
        var watched = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
        let isReadable = poll(&watched, 1, 0) > 0
        wakeup.clear()
        return isReadable
    }

    @Test("wakes once, when as many are counted as are waited for, at once if they are")
    func wakes() throws {
        let (count, wakeup) = (WatchedCount(), try Wakeup())
        count.wake(wakeup, when: 10)
        count.add(9)
        #expect(!isRung(wakeup))
        count.add(3)
        #expect(isRung(wakeup) && count.value == 12)
        count.add(1)
        #expect(!isRung(wakeup))
        count.wake(wakeup, when: 13)
        #expect(isRung(wakeup))
    }

    @Test("no call is lost between one who counts and one who waits")
    func race() throws {
        let (count, wakeup) = (WatchedCount(), try Wakeup())
        let counting = try WorkerThread("count") { for _ in 0..<20_000 { count.add(1) } }
        // Would wait forever if a call were lost.
        for value in stride(from: 1, through: 20_000, by: 7) {
            count.wake(wakeup, when: value)
            while count.value < value { wakeup.wait() }
        }
        counting.join()
        #expect(count.value == 20_000)
    }
}
