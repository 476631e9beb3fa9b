import Base
import Glibc
import PushServices

/// The threads of a scan: each scans blocks, and the one that called merges what they found, in
/// order, and scans when there is nothing to merge.
struct ScanThreads: ~Copyable {
    private let plan: ScanLayout
    private let board: BlockDispatcher
    private let threads: Int
    private var scanner: ChosenBlockScanner
    private var merger: BlockMerger
    private var meter: ScanMeter

    /// More threads than this would only wait for the one that merges.
    private static let mostThreads = 16

    init(_ plan: ScanLayout, warnings: [Diagnostic], recordLimit: Int) {
        self.plan = plan
        threads = max(1, min(plan.limits.threads ?? availableCores(), Self.mostThreads))
        board = BlockDispatcher(
            BlockSource(files: plan.files, noting: plan.limits.sources), blocks: 3 * threads + 1,
            blockCapacity: BlockSource.blockCapacity(plan.limits))
        scanner = ChosenBlockScanner(plan)
        merger = BlockMerger(plan, warnings: warnings, recordLimit: recordLimit)
        meter = ScanMeter(files: plan.query.files)
    }

    mutating func run(
        into sink: any RecipientSink, progress: (ScanProgress) -> Void, isCancelled: () -> Bool
    ) throws -> AudienceResult {
        // If a helper's thread cannot be started, the others do its work.
        let helpers = (1..<threads).compactMap { _ in
            let (plan, board) = (plan, board)
            return try? WorkerThread("scan") { Self.help(plan, board) }
        }
        do {
            try scanAndMerge(into: sink, progress, isCancelled)
        } catch {
            board.cancel()
            for helper in helpers { helper.join() }
            throw error
        }
        for helper in helpers { helper.join() }
        let (bytesRead, rows, found) = (merger.bytesRead, merger.findings.rows, merger.devices.count)
        let (result, devices) = try merger.finish(into: sink) { share in
            guard meter.isDue else { return }
            if isCancelled() { throw CancellationError() }
            progress(meter.now(bytesRead: bytesRead, rows: rows, recipients: found, settled: share))
        }
        try plan.limits.sources.checkUnchanged()
        try sink.finish(slots: devices.count, dropping: devices.dropped)
        progress(meter.now(bytesRead: merger.bytesRead, rows: merger.findings.rows, recipients: result.audience))
        return result
    }

    private static func help(_ plan: ScanLayout, _ board: BlockDispatcher) {
        var scanner = ChosenBlockScanner(plan)
        while let block = board.takeBlock(waits: true) { scan(block, &scanner, plan, board) }
    }

    private static func scan(
        _ block: Block, _ scanner: inout ChosenBlockScanner, _ plan: ScanLayout, _ board: BlockDispatcher
    ) {
        let file = plan.files[block.file]
        let state = block.isFirst ? file.stateOfFile : file.stateOfBlocks
        board.deliver(.init(block: block, blockResult: scanner.scan(block, expecting: state, board.wants)))
    }

    private mutating func scanAndMerge(
        into sink: any RecipientSink, _ progress: (ScanProgress) -> Void, _ isCancelled: () -> Bool
    ) throws {
        while true {
            if meter.isDue {
                if isCancelled() { throw CancellationError() }
                progress(
                    meter.now(bytesRead: merger.bytesRead, rows: merger.findings.rows, recipients: merger.devices.count)
                )
            }
            if let scanned = board.takeScanned() {
                try merger.merge(scanned, into: sink)
                board.want(merger.wants)
                board.recycle(scanned.block)
            } else if try isFinished() {
                return
            } else if let block = board.takeBlock(waits: false) {
                Self.scan(block, &scanner, plan, board)
            } else {
                board.wait()
            }
        }
    }

    private func isFinished() throws -> Bool {
        do { return try board.isFinished() } catch { throw Diagnostics(error) }
    }
}

/// Reports a scan's progress ten times a second.
private struct ScanMeter {
    private let bytesTotal: Int
    /// nil before the first call.
    private var lastCall: ContinuousClock.Instant?

    init(files: [String]) { bytesTotal = files.reduce(0) { $0 + fileSize($1) } }

    var isDue: Bool {
        mutating get {
            let now = ContinuousClock.now
            if let lastCall, now - lastCall < .milliseconds(100) { return false }
            lastCall = now
            return true
        }
    }

    func now(bytesRead: Int, rows: Int, recipients: Int, settled: Double? = nil) -> ScanProgress {
        ScanProgress(
            bytesRead: min(bytesRead, bytesTotal), bytesTotal: bytesTotal, rows: rows, recipients: recipients,
            settled: settled)
    }
}

/// Bytes of a file on the disk; 0 when it does not exist.
func fileSize(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
}

/// What a scan needs of its blocks in addition to the devices; less as it proceeds.
struct ScanRequirements {
    /// Texts of recipients.
    var records: Bool
}

/// What all threads of a scan share.
struct ScanLayout: Sendable {
    let query: AudienceQuery
    let files: [ExportFile]
    let selectors: CompiledSelectors
    let excluded: ExcludedDevices
    let hash: KeyedHash
    let limits: ReadingLimits
    let makeChecker: @Sendable () -> RecipientChecker
}

/// The scanner for the form of targets: chosen once, so that rows need no check of it.
struct ChosenBlockScanner: ~Copyable {
    // One of them is there. Their types are written out, as only so does the compiler make code for
    // each.
    private var hex: BlockScanner<HexTargets>?
    private var text: BlockScanner<TextTargets>?
    private var mixed: BlockScanner<MixedTargets>?

    init(_ plan: ScanLayout) {
        if plan.query.hasSeveralTargets {
            mixed = BlockScanner(plan, MixedTargets(plan.query))
            return
        }
        switch plan.query.targets.notation {
        case .hex: hex = BlockScanner(plan, HexTargets(plan.query.targets))
        case .text: text = BlockScanner(plan, TextTargets(plan.query.targets))
        }
    }

    /// Reads a block as far as whole records reach.
    mutating func scan(_ block: Block, expecting state: ReadingState, _ wants: ScanRequirements) -> BlockResult {
        if let result = hex?.scan(block, expecting: state, wants) { return result }
        if let result = text?.scan(block, expecting: state, wants) { return result }
        guard let result = mixed?.scan(block, expecting: state, wants) else {
            preconditionFailure("no scanner was chosen")
        }
        return result
    }
}

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
