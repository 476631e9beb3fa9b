import Audience
import Base
import Content
import Runs

/// Takes the recipients of a scan: keeps samples, and hands all of them to whoever writes the run file, if there is one.
final class PlanSink: RecipientSink {
    private let writer: RecipientWriter?
    private let wantedSamples: Int
    private var records: [Int: Recipient] = [:]
    /// The recipients of the first slots, in order.
    private(set) var samples: [(slot: Int, recipient: Recipient)] = []

    /// Slots beyond the wanted ones that are kept as samples, because some of the first may drop out at the end.
    private static let spareSamples = 200

    /// - Parameter writer: of the run file; nil for a preview.
    init(samples: Int, writer: RecipientWriter?) {
        wantedSamples = samples
        self.writer = writer
    }

    private var keptSlots: Int { wantedSamples + Self.spareSamples }

    var recordLimit: Int { writer == nil ? keptSlots : .max }

    func take(_ batch: RecipientBatch) throws {
        batch.forEach { slot, record in
            if slot < keptSlots { records[slot] = Recipient(record) }
        }
        try writer?.put(batch)
    }

    func forget(slot: Int) { records[slot] = nil }

    func finish(slots: Int, dropping dropped: [Int]) throws {
        let gone = Set(dropped.prefix { $0 < keptSlots })
        for slot in 0..<min(keptSlots, slots) where samples.count < wantedSamples && !gone.contains(slot) {
            if let recipient = records[slot] { samples.append((slot, recipient)) }
        }
        try writer?.finish(slots: slots, dropping: dropped)
    }
}

/// Writes recipients into a run file on a thread of its own, so that the scan need not wait for SQLite.
final class RecipientWriter {
    private let file: SharedWriter
    private let batches = BoundedQueue<RecipientBatch>(capacity: 16)
    private var thread: WorkerThread<(any Error)?>?

    /// `@unchecked Sendable`: until its thread has ended nobody else uses the writer.
    private final class SharedWriter: @unchecked Sendable {
        let writer: RunWriter
        init(_ writer: RunWriter) { self.writer = writer }
    }

    init(_ writer: RunWriter) {
        let (file, batches) = (SharedWriter(writer), batches)
        self.file = file
        thread = WorkerThread("write") { Self.write(batches, into: file.writer) }
    }

    deinit { _ = join() }

    private static func write(_ batches: BoundedQueue<RecipientBatch>, into writer: RunWriter) -> (any Error)? {
        do {
            while let batch = batches.take() { try writer.put(batch) }
            return nil
        } catch {
            // Whoever puts the next one hears of it.
            batches.close()
            return error
        }
    }

    /// - Throws: what kept an earlier batch from being written.
    func put(_ batch: RecipientBatch) throws {
        if !batches.put(batch) { try finishWriting() }
    }

    /// Waits until all is written, and takes slots out again.
    func finish(slots: Int, dropping dropped: [Int]) throws {
        try finishWriting()
        try file.writer.drop(dropped, of: slots)
    }

    private func finishWriting() throws {
        if let error = join() { throw error }
    }

    private func join() -> (any Error)? {
        batches.close()
        defer { thread = nil }
        return thread?.join()
    }
}
