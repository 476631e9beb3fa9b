import Glibc

/// A queue between two threads that holds at most `capacity` elements: the one who puts waits while it is full, the one who takes
/// waits while it is empty. Made for batches, not for single items: a hand-over costs a lock and perhaps a wake-up.
///
/// `@unchecked Sendable`: every access to `elements` and `wasClosed` happens between lock and unlock of `mutex`; the condition
/// variables are only ever used with that mutex, and all three stay at their addresses until deinit.
public final class BoundedQueue<Element: Sendable>: @unchecked Sendable {
    private let capacity: Int
    private var elements: [Element] = []
    private var wasClosed = false
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let notEmpty = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let notFull = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// A queue for at most `capacity` elements.
    public init(capacity: Int) {
        precondition(capacity > 0, "a queue must hold something")
        self.capacity = capacity
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(notEmpty, nil)
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

    /// Waits for room and puts; false when the queue is closed, and the element is dropped.
    @discardableResult
    public func put(_ element: Element) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while elements.count >= capacity && !wasClosed { pthread_cond_wait(notFull, mutex) }
        guard !wasClosed else { return false }
        elements.append(element)
        pthread_cond_signal(notEmpty)
        return true
    }

    /// Puts if there is room; never waits. False when there is none, or the queue is closed, and the element is dropped.
    public func putIfRoom(_ element: Element) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard elements.count < capacity, !wasClosed else { return false }
        elements.append(element)
        pthread_cond_signal(notEmpty)
        return true
    }

    /// Waits for an element; nil once the queue is closed and empty.
    public func take() -> Element? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while elements.isEmpty && !wasClosed { pthread_cond_wait(notEmpty, mutex) }
        return removeFirst()
    }

    /// An element if one is there; never waits.
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

    /// Nothing more can be put; what is in the queue can still be taken. Wakes everyone who waits.
    public func close() {
        pthread_mutex_lock(mutex)
        wasClosed = true
        pthread_cond_broadcast(notEmpty)
        pthread_cond_broadcast(notFull)
        pthread_mutex_unlock(mutex)
    }

    private func removeFirst() -> Element? {
        guard !elements.isEmpty else { return nil }
        // At most `capacity` batches: shifting them costs less than a ring would.
        let element = elements.removeFirst()
        pthread_cond_signal(notFull)
        return element
    }
}
