import Base
import Glibc

/// Where the threads of a scan meet: blocks to be scanned go out in order, block results come back
/// in any order, and are passed on in order.
///
/// `@unchecked Sendable`: `source` is used between lock and unlock of `reading`, everything else
/// between those of `mutex`; both and the condition stay at their addresses until deinit. A block
/// belongs to the thread that took it.
final class BlockDispatcher: @unchecked Sendable {
    /// A block and what it holds.
    struct Scanned {
        var block: Block
        var blockResult: BlockResult
    }

    private let reading = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var source: BlockSource
    private var free: [Block]
    private var scanned: [Int: Scanned] = [:]
    private var nextNumber = 0
    /// Blocks that were read so far; all blocks once `isRead`.
    private var readCount = 0
    private var isRead = false
    private var isCancelled = false
    private var readingFailure: Diagnostic?
    private var wantsNow = ScanRequirements(records: true)

    init(_ source: consuming BlockSource, blocks: Int, blockCapacity: Int) {
        self.source = source
        free = (0..<blocks).map { _ in Block(capacity: blockCapacity) }
        pthread_mutex_init(reading, nil)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        pthread_mutex_destroy(reading)
        changed.deallocate()
        mutex.deallocate()
        reading.deallocate()
    }

    /// Everything was read and taken.
    private var isComplete: Bool { isRead && nextNumber == readCount }

    // MARK: - For threads that scan

    /// The next block to scan; nil after the last one, or when `waits` is false and no block is
    /// ready.
    func takeBlock(waits: Bool) -> Block? {
        guard let block = takeFree(waits: waits) else { return nil }
        // Reading in turn keeps the blocks in order; a thread that waits for its turn would wait
        // for the disk anyway.
        pthread_mutex_lock(reading)
        defer { pthread_mutex_unlock(reading) }
        guard !locked({ isRead }) else { return nil }
        do throws(Diagnostic) {
            let isThere = try source.next(into: block)
            changing { if isThere { readCount += 1 } else { isRead = true } }
            if isThere { return block }
        } catch {
            changing { (isRead, readingFailure) = (true, error) }
        }
        return nil
    }

    private func takeFree(waits: Bool) -> Block? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while waits, free.isEmpty, !isRead, !isCancelled { pthread_cond_wait(changed, mutex) }
        return isRead || isCancelled ? nil : free.popLast()
    }

    func deliver(_ scanned: Scanned) { changing { self.scanned[scanned.blockResult.number] = scanned } }

    /// What blocks must deliver now.
    var wants: ScanRequirements { locked { wantsNow } }

    // MARK: - For the thread that merges

    /// The next block result in order, if it is there.
    func takeScanned() -> Scanned? {
        locked {
            guard let next = scanned.removeValue(forKey: nextNumber) else { return nil }
            nextNumber += 1
            return next
        }
    }

    /// Whether every block result was taken.
    /// - Throws: the error that stopped reading a file, once everything before it was taken.
    func isFinished() throws(Diagnostic) -> Bool {
        let (isFinished, failure) = locked { (isComplete, readingFailure) }
        if isFinished, let failure { throw failure }
        return isFinished
    }

    /// Waits until something may have changed, or for a tenth of a second.
    func wait() {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_nsec += 100_000_000
        if deadline.tv_nsec >= 1_000_000_000 {
            deadline.tv_sec += 1
            deadline.tv_nsec -= 1_000_000_000
        }
        pthread_mutex_lock(mutex)
        if scanned[nextNumber] == nil, !isComplete { pthread_cond_timedwait(changed, mutex, &deadline) }
        pthread_mutex_unlock(mutex)
    }

    /// Gives a block back.
    func recycle(_ block: Block) { changing { free.append(block) } }

    /// Requests only this from now on.
    func want(_ wants: ScanRequirements) {
        locked { wantsNow = ScanRequirements(records: wantsNow.records && wants.records) }
    }

    /// No more blocks go out.
    func cancel() { changing { isCancelled = true } }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// The same, and wakes threads that may be waiting.
    private func changing(_ body: () -> Void) {
        pthread_mutex_lock(mutex)
        body()
        pthread_cond_broadcast(changed)
        pthread_mutex_unlock(mutex)
    }
}
