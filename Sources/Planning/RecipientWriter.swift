import Base
import Runs

/// Writes recipients into a run file on its own thread, so that the scan need not wait for SQLite.
final class RecipientWriter {
    private let file: SharedWriter
    private let batches = BoundedQueue<RecipientBatch>(capacity: 16)
    private var thread: WorkerThread<(any Error)?>?

    /// `@unchecked Sendable`: until its thread has ended, nothing else uses the writer.
    private final class SharedWriter: @unchecked Sendable {
        let writer: RunWriter
        init(_ writer: RunWriter) { self.writer = writer }
    }

    /// - Throws: a `Diagnostic` when no thread can be started.
    package init(_ writer: RunWriter) throws(Diagnostic) {
        let (file, batches) = (SharedWriter(writer), batches)
        self.file = file
        thread = try WorkerThread("write") { Self.write(batches, into: file.writer) }
    }

    deinit { _ = join() }

    private static func write(_ batches: BoundedQueue<RecipientBatch>, into writer: RunWriter) -> (any Error)? {
        do {
            while let batch = batches.take() { try writer.put(batch) }
            return nil
        } catch {
            // The caller gets the error when it adds the next batch.
            batches.close()
            return error
        }
    }

    /// - Throws: the error that kept an earlier batch from being written.
    func put(_ batch: RecipientBatch) throws {
        if !batches.put(batch) { try finishWriting() }
    }

    /// Waits until all is written, then removes the dropped slots.
    func finish(slots: Int, dropping dropped: BitSet) throws {
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
