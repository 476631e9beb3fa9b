public import Base

/// An audience that needs no export: its recipients are known.
public struct GivenAudience: Sendable {
    /// In sending order, each in its own slot.
    private let recipients: [Recipient]

    /// - Parameter recipients: in sending order, each once.
    public init(_ recipients: [Recipient]) { self.recipients = recipients }

    /// Hands the recipients to a sink as a scan does.
    /// - Parameter check: decides whether a recipient can be sent to.
    /// - Throws: whatever the sink throws.
    public func scan(into sink: any RecipientSink, checking check: RecipientChecker) throws -> AudienceResult {
        var (batch, dropped, digest) = (RecipientBatch(), BitSet(), SequenceDigest())
        var result = AudienceResult(rows: recipients.count)
        for (slot, recipient) in recipients.enumerated() {
            batch.append(recipient, at: slot)
            let (found, element) = batch.withRecord(slot) { record in
                (check(record), SequenceDigest.element(record.fields, with: SequenceDigest.element(record.token, with: 0)))
            }
            digest.append(element)
            if result.add(found, slot: slot) { continue }
            dropped.insert(slot)
        }
        try sink.receive(batch)
        try sink.finish(slots: recipients.count, dropping: dropped)
        result.digest = digest.words
        return result
    }
}

extension AudienceResult {
    /// No recipients yet.
    fileprivate init(rows: Int) {
        self.init(
            rows: rows, audience: 0, skipped: [:], selectedBy: [], languages: [:], payloadBytesOfGroups: [:], groups: [:], waves: [:],
            reachedBySending: [:], skippedGroups: [:], exclusions: [], conditions: [], badTokens: [], unreachedCells: [],
            servicesWithoutColumn: [], badRows: [],
            warnings: [], firstRecipients: [:], largestSkippedPayload: 0, digest: [])
    }

    /// Counts a recipient.
    /// - Returns: whether it can be sent to.
    fileprivate mutating func add(_ check: RecipientCheck, slot: Int) -> Bool {
        if let reason = check.reason {
            skipped[reason, default: 0] += 1
            skippedGroups[reason, default: [:]][check.group, default: 0] += 1
            if reason == .payloadTooLarge {
                largestSkippedPayload = max(largestSkippedPayload, min(check.payloadBytes, Self.measurablePayload))
            }
            return false
        }
        audience += 1
        languages["", default: 0] += 1
        payloadBytesOfGroups[check.group, default: [:]][check.payloadBytes, default: 0] += 1
        groups[check.group, default: 0] += 1
        waves[check.wave, default: 0] += 1
        if firstRecipients[check.group, default: []].count < Self.mostSamples {
            firstRecipients[check.group, default: []].append(FirstRecipient(slot: slot, selectors: []))
        }
        return true
    }
}
