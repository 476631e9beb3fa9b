import Base

@testable import Audience

/// The result of a scan.
struct ScanOutcome {
    /// nil if the scan threw.
    var result: AudienceResult?
    /// What it threw.
    var refusal = ""
    /// The recipients of the first slots, as far as they were kept; nil if a newer row was not
    /// passed on.
    var recipients: [String?] = []

    /// Scans a file. Checks what must hold for every single scan.
    init(_ input: ScanInput, _ path: String, _ limits: ReadingLimits) throws(FuzzFinding) {
        let sink = KeepingSink(recordLimit: input.recordLimit)
        do {
            result = try input.query(path).scan(
                into: sink, limits: limits, checking: input.judge)
        } catch {
            refusal = "\(error)"
            try require(!refusal.isEmpty, "a refusal says nothing")
            return
        }
        recipients = sink.recipients
        if let result { try Self.check(result, sink) }
    }

    private static func check(_ result: AudienceResult, _ sink: KeepingSink) throws(FuzzFinding) {
        let skipped = result.skipped.values.reduce(0, +)
        try require(
            result.rows == result.audience + skipped, "\(result.rows) rows are not \(result.audience) + \(skipped)")
        try require(result.languages.values.reduce(0, +) == result.audience, "languages: \(result.languages)")
        try require(result.payloadBytes.values.reduce(0, +) == result.audience, "payloads: \(result.payloadBytes)")
        try require(sink.slots - sink.dropped.count == result.audience, "\(sink.slots) slots without \(sink.dropped)")
        try require(sink.dropped == sink.dropped.sorted(), "dropped slots out of order: \(sink.dropped)")
        if sink.recordLimit == .max {
            try require(
                sink.recipients.count(where: { $0 != nil }) == result.audience, "recipients: \(sink.recipients)")
        }
    }

    /// Refuses another scan of the same bytes with a different result.
    /// - Parameter comparesWarnings: if no row has a name, the warnings about it depend on the
    ///   contents of the first chunk.
    func requireEqual(_ other: ScanOutcome, comparesWarnings: Bool, _ note: String) throws(FuzzFinding) {
        // Whether damage in compressed data is noticed before another mistake depends on how much
        // is read at once.
        let isDamaged =
            [refusal, other.refusal].contains { $0.contains("the gzip data ") } && !refusal.isEmpty
            && !other.refusal.isEmpty
        try require(isDamaged || refusal == other.refusal, "\(note): '\(refusal)' and '\(other.refusal)'")
        try require(summary == other.summary, "\(note): \(summary) and \(other.summary)")
        let isSame = zip(recipients, other.recipients).allSatisfy { $0 == nil || $1 == nil || $0 == $1 }
        try require(
            isSame && recipients.count == other.recipients.count, "\(note): \(recipients) and \(other.recipients)")
        guard comparesWarnings, let warnings = result?.warnings, let others = other.result?.warnings else { return }
        try require(warnings == others, "\(note): \(warnings) and \(others)")
    }

    /// Everything that a result says except its warnings.
    private var summary: String {
        guard let result else { return "" }
        let skipped = result.skipped.sorted { $0.key.rawValue < $1.key.rawValue }
        let languages = result.languages.sorted { $0.key < $1.key },
            payloads = result.payloadBytes.sorted { $0.key < $1.key }
        return
            "\(result.rows) \(result.audience) \(skipped) \(result.selectedBy) \(languages) \(payloads) \(result.badRows) "
            + "\(result.digest) \(result.firstRecipients.sorted { $0.key < $1.key })"
    }
}

/// Keeps the recipients of a scan as text.
private final class KeepingSink: RecipientSink {
    let recordLimit: Int
    private(set) var slots = 0
    private(set) var dropped: [Int] = []
    private var kept: [Int: String] = [:]

    init(recordLimit: Int) { self.recordLimit = recordLimit }

    func receive(_ batch: RecipientBatch) { batch.forEach { kept[$0] = Self.text($1) } }

    func forget(slot: Int) { kept[slot] = nil }

    func finish(slots: Int, dropping dropped: BitSet) {
        self.slots = slots
        dropped.forEach { self.dropped.append($0) }
    }

    var recipients: [String?] {
        let gone = Set(dropped)
        return (0..<min(slots, recordLimit)).map { gone.contains($0) ? nil : kept[$0] }
    }

    private static func text(_ record: RecipientRecord) -> String {
        [record.token, record.registrationID, record.alias, record.language, record.fields]
            .map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|")
    }
}
