import Glibc
import Synchronization

/// A queue between two threads that holds at most `capacity` elements: the producer waits while it
/// is full, the consumer waits while it is empty. Made for batches, not for single items: each
/// hand-over costs a lock and perhaps a wake-up. A thread that sleeps elsewhere, for example on
/// sockets, takes what is ready and is woken by the next element.
///
/// `@unchecked Sendable`: every access to its variables happens between lock and unlock of `mutex`;
/// the condition variables are only ever used with that mutex, and all three stay at their
/// addresses until deinit.
///
/// ```swift
/// let queue = BoundedQueue<[UInt8]>(capacity: 8)
/// let reader = try WorkerThread("reader") {
///     while let chunk = queue.take() { print(chunk.count) }
/// }
/// queue.put([1, 2, 3])
/// queue.close()
/// reader.join()
/// ```
public final class BoundedQueue<Element: Sendable>: @unchecked Sendable {
    private let capacity: Int
    private var elements: [Element] = []
    private var wasClosed = false
    /// For threads that sleep elsewhere: each is woken once, by the next element.
    private var sleepers: [Wakeup] = []
    /// Woken when the queue is closed.
    private var closingSleepers: [Wakeup] = []
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let notEmpty = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let notFull = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// A queue for at most `capacity` elements.
    public init(capacity: Int) {
        precondition(capacity > 0, "a queue must hold something")
        self.capacity = capacity
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // `take(until:)` uses the monotonic clock, which cannot be set.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(notEmpty, &attributes)
        pthread_condattr_destroy(&attributes)
        pthread_cond_init(notFull, nil)
    }

    deinit {
        pthread_cond_destroy(notFull)
        pthread_cond_destroy(notEmpty)
        pthread_mutex_destroy(mutex)
        notFull.deallocate()
        notEmpty.deallocate()
        mutex.deallocate()
    }

    /// Waits until there is space, and puts the element. Returns false, and drops the element, if
    /// the queue is closed.
    @discardableResult
    public func put(_ element: Element) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while elements.count >= capacity && !wasClosed { pthread_cond_wait(notFull, mutex) }
        guard !wasClosed else { return false }
        add(element)
        return true
    }

    /// Adds an element without waiting. Returns false, and drops the element, if the queue is full
    /// or closed.
    public func putIfNotFull(_ element: Element) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard elements.count < capacity, !wasClosed else { return false }
        add(element)
        return true
    }

    /// Waits for an element; nil once the queue is closed and empty.
    public func take() -> Element? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while elements.isEmpty && !wasClosed { pthread_cond_wait(notEmpty, mutex) }
        return removeFirst()
    }

    /// Waits for an element until a moment of the monotonic clock, in nanoseconds; nil if none
    /// came, or if the queue is closed and empty.
    public func take(until deadline: Int64) -> Element? {
        var moment = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while elements.isEmpty && !wasClosed {
            guard pthread_cond_timedwait(notEmpty, mutex, &moment) == 0 else { break }
        }
        return removeFirst()
    }

    /// An element if one is ready; never waits. Otherwise the caller is woken by the next element,
    /// or when the queue is closed.
    public func takeIfReady(orWake wakeup: Wakeup) -> Element? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if elements.isEmpty { remember(wakeup) }
        return removeFirst()
    }

    /// Whether the queue is closed and everything in it was taken. Otherwise the caller is woken
    /// when this becomes true, or earlier.
    public func isFinished(orWake wakeup: Wakeup) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        remember(wakeup)
        return wasClosed && elements.isEmpty
    }

    /// Wakes a thread when the queue is closed; at once if it already is.
    public func wakeWhenClosed(_ wakeup: Wakeup) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if wasClosed { wakeup.wake() } else { closingSleepers.append(wakeup) }
    }

    /// An element if one is ready; never waits.
    public func takeIfReady() -> Element? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return removeFirst()
    }

    /// Whether nothing more can be put.
    public var isClosed: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return wasClosed
    }

    /// Whether the queue is closed and everything in it was taken.
    public var isFinished: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return wasClosed && elements.isEmpty
    }

    /// Closes the queue: nothing more can be put, but what is in the queue can still be taken.
    /// Wakes every thread that waits.
    public func close() {
        pthread_mutex_lock(mutex)
        wasClosed = true
        pthread_cond_broadcast(notEmpty)
        pthread_cond_broadcast(notFull)
        wakeSleepers()
        for wakeup in closingSleepers { wakeup.wake() }
        closingSleepers = []
        pthread_mutex_unlock(mutex)
    }

    private func add(_ element: Element) {
        elements.append(element)
        pthread_cond_signal(notEmpty)
        wakeSleepers()
    }

    private func remember(_ wakeup: Wakeup) {
        guard !(wasClosed && elements.isEmpty), !sleepers.contains(where: { $0 === wakeup }) else { return }
        sleepers.append(wakeup)
    }

    private func wakeSleepers() {
        guard !sleepers.isEmpty else { return }
        // Wakes all of them: the first may not use the element.
        for wakeup in sleepers { wakeup.wake() }
        sleepers.removeAll(keepingCapacity: true)
    }

    private func removeFirst() -> Element? {
        guard !elements.isEmpty else { return nil }
        // At most `capacity` batches: shifting them is cheaper than a ring buffer.
        let element = elements.removeFirst()
        pthread_cond_signal(notFull)
        // Now the queue is finished.
        if wasClosed, elements.isEmpty { wakeSleepers() }
        return element
    }
}

/// Wakes a thread that sleeps in poll or epoll, from any other thread: a pipe to itself. A call
/// that comes before the sleep is not lost.
public final class Wakeup: Sendable {
    /// Becomes readable with `wake`, and stays readable until `clear`.
    public let descriptor: Int32
    private let writing: Int32

    /// - Throws: a `Diagnostic` if no more files can be opened.
    public init() throws(Diagnostic) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Diagnostic.noMoreFiles(errno) }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (descriptor, writing) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writing)
    }

    /// Wakes the thread that waits, or the next one that does. Safe in a signal handler.
    public func wake() {
        var one: UInt8 = 1
        // If the pipe is full, the sleeper has not noticed the earlier calls either.
        _ = write(writing, &one, 1)
    }

    /// Forgets the calls so far.
    public func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
            while read(descriptor, bytes.baseAddress, bytes.count) == bytes.count {}
        }
    }

    /// Sleeps until `wake` is called or the time is over, and forgets the calls so far.
    /// - Parameter seconds: nil for no limit.
    public func wait(atMost seconds: Double? = nil) {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // A signal may interrupt the sleep. The caller checks why it woke anyway, and waits again.
        _ = poll(&watched, 1, pollTimeout(seconds))
        clear()
    }
}

/// A length of time as poll takes it: milliseconds, rounded up, so that no thread wakes too early
/// only to sleep again. At most 24 days.
/// - Parameter seconds: nil for no limit.
public func pollTimeout(_ seconds: Double?) -> Int32 {
    guard let seconds else { return -1 }
    return Int32(clamping: Int(min(max(0, seconds * 1000), Double(Int32.max)).rounded(.up)))
}

extension Diagnostic {
    /// A descriptor that a thread needs cannot be opened.
    /// - Parameter code: errno of the call that failed.
    public static func noMoreFiles(_ code: Int32) -> Diagnostic {
        Diagnostic(
            "Volley cannot open more files or sockets: \(SystemError.words(code))",
            remedy: "Close other programs, or raise the limit: `ulimit -n 1024`.")
    }
}

/// A count that one thread adds to and another may wait for, asleep. While the awaited value is not
/// reached, adding costs two atomic operations.
public final class WatchedCount: Sendable {
    private let count = Atomic(0)
    private let awaited = Atomic(Int.max)
    private let sleeper = Mutex<Wakeup?>(nil)

    /// Nothing counted yet.
    public init() {}

    /// The count so far.
    public var value: Int { count.load(ordering: .acquiring) }

    /// Adds to the count. A thread that is woken by this, or that reads the count, sees everything
    /// that the caller did before.
    public func add(_ more: Int) {
        let value = count.wrappingAdd(more, ordering: .sequentiallyConsistent).newValue
        if value >= awaited.load(ordering: .sequentiallyConsistent) { tell() }
    }

    /// Wakes a thread once the count is `value` or more; at once if it already is. A later call
    /// replaces an earlier one.
    public func wake(_ wakeup: Wakeup, when value: Int) {
        sleeper.withLock { $0 = wakeup }
        awaited.store(value, ordering: .sequentiallyConsistent)
        // Either this thread sees the new count, or `add` sees the awaited value.
        if count.load(ordering: .sequentiallyConsistent) >= value { tell() }
    }

    private func tell() {
        guard awaited.exchange(.max, ordering: .sequentiallyConsistent) != .max else { return }
        sleeper.withLock { $0 }?.wake()
    }
}
