import Base
import Glibc
import Testing

/// Runs `body` on its own thread, as the modules do: a waiting queue must not block the tests'
/// threads.
private final class TestThread: Sendable {
    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private let thread: pthread_t

    init(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        let failure = pthread_create(
            &thread, nil,
            { pointer in
                if let pointer { Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body() }
                return nil
            }, box)
        precondition(failure == 0, "no thread")
        self.thread = thread
    }

    func join() { pthread_join(thread, nil) }
}

@Suite struct BoundedQueueTests {
    @Test("what goes in comes out in order, through two threads and little room")
    func order() {
        let queue = BoundedQueue<[Int]>(capacity: 3)
        let producer = TestThread {
            for number in 0..<20_000 { queue.put([number]) }
            queue.close()
        }
        var expected = 0
        while let batch = queue.take() {
            guard batch == [expected] else { break }
            expected += 1
        }
        producer.join()
        #expect(expected == 20_000)
        #expect(queue.isFinished)
    }

    @Test("several threads put and take, and nothing is lost or doubled")
    func manyThreads() {
        let queue = BoundedQueue<Int>(capacity: 2), results = BoundedQueue<Int>(capacity: 100_000)
        let producers = (0..<3).map { part in TestThread { for number in 0..<3000 { queue.put(part * 3000 + number) } }
        }
        let consumers = (0..<3).map { _ in TestThread { while let number = queue.take() { results.put(number) } } }
        for thread in producers { thread.join() }
        queue.close()
        for thread in consumers { thread.join() }
        results.close()
        var seen: [Int] = []
        while let number = results.take() { seen.append(number) }
        #expect(seen.sorted() == Array(0..<9000))
    }

    @Test("a full queue makes the one who puts wait")
    func capacity() {
        let queue = BoundedQueue<Int>(capacity: 2), progress = BoundedQueue<Int>(capacity: 10)
        let producer = TestThread {
            for number in 0..<5 {
                queue.put(number)
                progress.put(number)
            }
        }
        #expect(progress.take() == 0)
        #expect(progress.take() == 1)
        usleep(20_000)
        #expect(progress.takeIfReady() == nil)
        #expect(queue.take() == 0)
        #expect(progress.take() == 2)
        usleep(20_000)
        #expect(progress.takeIfReady() == nil)
        queue.close()
        producer.join()
    }

    @Test("closing wakes those who wait, lets nothing in and what is inside out")
    func close() {
        let queue = BoundedQueue<Int>(capacity: 1), answers = BoundedQueue<Bool>(capacity: 4)
        #expect(queue.put(1))
        let waiting = TestThread { answers.put(queue.put(2)) }
        usleep(10_000)
        queue.close()
        waiting.join()
        #expect(answers.take() == false)
        #expect(queue.put(3) == false)
        #expect(!queue.isFinished)
        #expect(queue.take() == 1)
        #expect(queue.take() == nil)
        #expect(queue.isFinished)

        let empty = BoundedQueue<Int>(capacity: 1)
        let taker = TestThread { answers.put(empty.take() == nil) }
        usleep(10_000)
        empty.close()
        taker.join()
        #expect(answers.take() == true)
    }

    @Test("taking what is ready never waits")
    func ready() {
        let queue = BoundedQueue<Int>(capacity: 2)
        #expect(queue.takeIfReady() == nil)
        queue.put(7)
        #expect(queue.takeIfReady() == 7)
        #expect(queue.takeIfReady() == nil)
    }

    /// Whether it was rung since the last call.
    private func isRung(_ wakeup: Wakeup) -> Bool {
        var watched = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
        let isReadable = poll(&watched, 1, 0) > 0
        wakeup.clear()
        return isReadable
    }

    @Test("who takes what is ready is woken once by what comes next")
    func wakesWhoTakes() throws {
        let (queue, wakeup, other) = (BoundedQueue<Int>(capacity: 4), try Wakeup(), try Wakeup())
        #expect(queue.takeIfReady(orWake: wakeup) == nil && queue.takeIfReady(orWake: other) == nil)
        #expect(!isRung(wakeup))
        queue.put(1)
        #expect(isRung(wakeup) && isRung(other))
        queue.put(2)
        #expect(!isRung(wakeup))
        #expect(queue.takeIfReady(orWake: wakeup) == 1 && queue.takeIfReady(orWake: wakeup) == 2)
        #expect(queue.takeIfReady(orWake: wakeup) == nil)
        queue.close()
        #expect(isRung(wakeup) && !isRung(other))
        #expect(queue.takeIfReady(orWake: wakeup) == nil && queue.isFinished(orWake: wakeup))
    }

    @Test("who waits for the end is woken when another one takes the last element")
    func wakesAtTheEnd() throws {
        let (queue, wakeup, closed) = (BoundedQueue<Int>(capacity: 4), try Wakeup(), try Wakeup())
        queue.wakeWhenClosed(closed)
        queue.put(1)
        #expect(!queue.isFinished(orWake: wakeup))
        queue.close()
        #expect(isRung(wakeup) && isRung(closed))
        #expect(!queue.isFinished(orWake: wakeup))
        #expect(!isRung(wakeup))
        #expect(queue.takeIfReady() == 1)
        #expect(isRung(wakeup) && queue.isFinished(orWake: wakeup))
        queue.wakeWhenClosed(closed)
        #expect(isRung(closed))
    }

    @Test("taking until a moment ends with an element, with the moment, or with the queue")
    func takeUntil() {
        func moment(inMilliseconds milliseconds: Int64) -> Int64 {
            var now = timespec()
            clock_gettime(CLOCK_MONOTONIC, &now)
            return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) + milliseconds * 1_000_000
        }
        let queue = BoundedQueue<Int>(capacity: 4)
        #expect(queue.take(until: moment(inMilliseconds: 5)) == nil)
        #expect(queue.take(until: moment(inMilliseconds: -5)) == nil)
        let producer = TestThread {
            usleep(10_000)
            queue.put(1)
        }
        #expect(queue.take(until: moment(inMilliseconds: 60_000)) == 1)
        producer.join()
        queue.put(2)
        queue.close()
        #expect(queue.take(until: moment(inMilliseconds: -5)) == 2)
        #expect(queue.take(until: moment(inMilliseconds: 60_000)) == nil)
    }
}
