import Audience
import Base

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

    func finish(slots: Int, dropping dropped: BitSet) throws {
        for slot in 0..<min(keptSlots, slots) where samples.count < wantedSamples && !dropped.contains(slot) {
            if let recipient = records[slot] { samples.append((slot, recipient)) }
        }
        try writer?.finish(slots: slots, dropping: dropped)
    }
}
