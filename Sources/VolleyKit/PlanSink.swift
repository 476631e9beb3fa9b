import Audience
import Base
import Content
import Cryptography
import Runs

/// Takes the recipients of a scan: renders each payload to see that it can be sent, keeps sizes and samples, and writes the run
/// file when there is one.
final class PlanSink: RecipientSink {
    private let template: PayloadTemplate
    private let writer: RunWriter?
    private let wantedSamples: Int
    private var samples: [Int: PreviewSample] = [:]
    /// Payload bytes by slot; a slot that cannot be sent to counts 0.
    private var sizes: [UInt16] = []
    private var payload: [UInt8] = []
    private var hash = SHA256()
    private(set) var payloadBytes: PayloadBytes?
    private(set) var keptSamples: [PreviewSample] = []
    private(set) var digest = ""

    /// Slots beyond the wanted ones that are kept as samples, because some of the first may drop out at the end.
    private static let spareSamples = 200

    /// - Parameters:
    ///   - writer: the run file; nil for a preview.
    ///   - identity: whatever else than the recipients decides about the plan, for its hash.
    init(template: PayloadTemplate, samples: Int, writer: RunWriter?, identity: [String]) {
        self.template = template
        self.writer = writer
        wantedSamples = samples
        for part in identity { hash.update(Array(part.utf8) + [0]) }
    }

    func put(_ recipient: Recipient, at slot: Int) throws -> SkipReason? {
        let failure = template.render(recipient.fields, into: &payload)
        let size = failure == nil ? UInt16(payload.count) : 0
        if slot < sizes.count { sizes[slot] = size } else { sizes.append(size) }
        absorb(recipient, slot)
        samples[slot] = nil
        if failure == nil, slot < wantedSamples + Self.spareSamples {
            samples[slot] = PreviewSample(slot: slot, token: recipient.token, payload: payload)
        }
        try writer?.put(recipient, at: slot)
        return failure?.skipReason
    }

    func finish(slots: Int, dropping dropped: [Int]) throws {
        try writer?.drop(dropped, of: slots)
        var counts = [Int](repeating: 0, count: Int(UInt16.max) + 1)
        let gone = Set(dropped)
        for slot in 0..<slots where !gone.contains(slot) {
            counts[Int(sizes[slot])] += 1
            if keptSamples.count < wantedSamples, let sample = samples[slot] { keptSamples.append(sample) }
        }
        payloadBytes = PayloadBytes(counts: counts)
        hash.update(Array("dropped \(dropped.count) of \(slots)".utf8))
        for slot in dropped { hash.update(Self.bytes(of: slot)) }
        digest = hash.finalizeHex()
        sizes = []
        samples = [:]
    }

    /// The plan's hash covers what is sent to whom, and nothing that may differ between two readings of the same files.
    private func absorb(_ recipient: Recipient, _ slot: Int) {
        var bytes = Self.bytes(of: slot)
        bytes.append(contentsOf: recipient.token.hex.utf8)
        for field in recipient.fields {
            bytes.append(0)
            bytes.append(contentsOf: field.utf8)
        }
        bytes.append(1)
        hash.update(bytes)
    }

    private static func bytes(of number: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}

/// One rendered push of a preview.
struct PreviewSample: Sendable {
    var slot: Int
    var token: DeviceToken
    var payload: [UInt8]
    var selectedBy: [String] = []
}

/// Sizes of all rendered payloads in bytes.
struct PayloadBytes: Hashable, Sendable {
    var min: Int
    var p50: Int
    var max: Int

    /// From the number of payloads of each size; nil when there are none.
    init?(counts: [Int]) {
        let total = counts.reduce(0, +)
        guard total > 0, let least = counts.firstIndex(where: { $0 > 0 }), let most = counts.lastIndex(where: { $0 > 0 }) else {
            return nil
        }
        var seen = 0
        let middle = counts.firstIndex { count in
            seen += count
            return seen * 2 >= total
        }
        (min, p50, max) = (least, middle ?? most, most)
    }
}
