import Audience
import Base
import Content
import PushServices

/// Takes the recipients of a scan: keeps those of the first slots for samples, and hands all of
/// them to the writer of the run file, if there is one.
final class RecipientCollector: RecipientSink {
    private let writer: RecipientWriter?
    private let keptSlots: Int
    /// The recipients of the first slots as in their newest rows, including those that drop out in
    /// the end.
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

/// Finds the samples of a preview: for each message that a device gets, the recipients that were
/// found first. Which these are depends only on the exports, not on how they are read.
struct SampleFinder {
    let messages: MessageCatalog
    /// How many samples of each message are wanted.
    let wanted: Int

    /// How many slots' recipients the first scan keeps. Some of the first may drop out, and where
    /// there is a choice, a rare language may come late: a sample that is not among them costs a
    /// second scan.
    var slotsToKeep: Int { messages.hasChoice ? 10_000 + wanted : 200 + wanted }

    /// - Parameters:
    ///   - kept: recipients of the first slots.
    ///   - rescan: scans again, into another sink; only called when a recipient is missing.
    func samples(
        of result: AudienceResult, kept: [Int: Recipient], rescan: (SlotCollector) throws -> Void
    ) rethrows -> [PreviewSample] {
        let first = messages.messages.indices.map { (result.firstRecipients[$0] ?? []).prefix(wanted) }
        let missing = Set(first.joined().map(\.slot).filter { kept[$0] == nil })
        var recipients = kept
        if !missing.isEmpty {
            let sink = SlotCollector(missing)
            try rescan(sink)
            recipients.merge(sink.found) { old, _ in old }
        }
        return first.enumerated().flatMap { number, found in
            found.compactMap { sample(number, $0, recipients[$0.slot]) }
        }
    }

    /// nil when an export changed between the two scans.
    private func sample(_ number: Int, _ found: FirstRecipient, _ recipient: Recipient?) -> PreviewSample? {
        var chooser = MessageChooser(messages)
        let message = messages.messages[number]
        guard let recipient, chooser.message(of: recipient, service: message.service) == number else { return nil }
        var payload: [UInt8] = []
        guard message.template.render(recipient.fields, language: recipient.language, into: &payload) == nil else {
            return nil
        }
        return PreviewSample(
            recipient: recipient, message: number, service: messages.services[message.service],
            serviceName: messages.services.count > 1 ? messages.services[message.service].name : "",
            variant: message.variant,
            language: message.language, payload: payload,
            placeholders: message.content.tracking.map { [$0.run, "\(PushID.sample)"] } ?? [],
            selectedBy: found.selectors)
    }
}
