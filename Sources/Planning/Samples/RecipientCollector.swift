import Audience
import Base

/// Takes the recipients of a scan: keeps those of the first slots for samples, and hands all of them to the writer of the run file, if
/// there is one.
final class RecipientCollector: RecipientSink {
    private let writer: RecipientWriter?
    private let keptSlots: Int
    /// The recipients of the first slots as in their newest rows, including those that drop out in the end.
    private(set) var kept: [Int: Recipient] = [:]

    /// - Parameters:
    ///   - keeping: how many slots' recipients are kept.
    ///   - writer: of the run file; nil for a preview.
    package init(keeping: Int, writer: RecipientWriter?) {
        keptSlots = keeping
        self.writer = writer
    }

    var recordLimit: Int { writer == nil ? keptSlots : .max }

    func receive(_ batch: RecipientBatch) throws {
        batch.forEach { slot, record in
            if slot < keptSlots { kept[slot] = Recipient(record) }
        }
        try writer?.put(batch)
    }

    func finish(slots: Int, dropping dropped: BitSet) throws { try writer?.finish(slots: slots, dropping: dropped) }
}

/// Collects the recipients of a few slots from a second scan.
final class SlotCollector: RecipientSink {
    private let slots: Set<Int>
    private(set) var found: [Int: Recipient] = [:]

    package init(_ slots: Set<Int>) { self.slots = slots }

    var recordLimit: Int { (slots.max() ?? -1) + 1 }

    func receive(_ batch: RecipientBatch) throws {
        batch.forEach { slot, record in
            if slots.contains(slot) { found[slot] = Recipient(record) }
        }
    }

    func finish(slots: Int, dropping dropped: BitSet) throws {}
}
