import Base
import Content
import Delivery
import Runs

/// What the reader's thread does: run file to batches of payloads, claimed before they are handed on.
struct PushReader: Sendable {
    let run: RunStore
    let template: PayloadTemplate
    /// nil when pushes go out as fast as they can.
    let pace: Pace?

    /// Recipients of a claim at most; with a slow pace it covers less (`Pace.pushesAhead`).
    private static let largestClaim = 4000

    /// Pushes of a batch at most.
    private static let batchSize = 1000

    /// Reads, renders, claims and hands over until the run is through or the queue was closed.
    /// - Returns: recipients that were claimed but not handed over, because the queue was closed.
    /// - Throws: `Diagnostic` when the run file cannot be read or claimed from; everybody claimed was handed over then.
    func read(into batches: BoundedQueue<PushBatch>) throws -> Range<Int> {
        let claimSize = min(Self.largestClaim, pace?.pushesAhead ?? .max)
        var next = try run.firstUnclaimed()
        while next < run.plan.audience {
            let claim = next..<min(next + claimSize, run.plan.audience)
            // All of it before the claim: whoever cannot be read must not be claimed.
            let rendered = try render(claim)
            try run.claim(claim, at: .now())
            for batch in rendered {
                guard batches.put(batch) else { return next..<claim.upperBound }
                next += batch.pushes.count
            }
        }
        return next..<next
    }

    private func render(_ claim: Range<Int>) throws -> [PushBatch] {
        var batches: [PushBatch] = []
        for start in stride(from: claim.lowerBound, to: claim.upperBound, by: Self.batchSize) {
            let range = start..<min(start + Self.batchSize, claim.upperBound)
            var batch = PushBatch()
            // A little more than the last one needed: payloads of a run differ in a few cells.
            batch.reserve(pushes: range.count, bytes: batches.last.map { $0.bytes.count * 9 / 8 } ?? 0)
            try run.forEachPush(in: range) { id, token, cells in
                try batch.append(recipient: id, token: token) { bytes in
                    guard cells.count == template.columns.count, template.append(cells, to: &bytes) == nil else {
                        throw Diagnostic(
                            "recipient \(id) has no payload any more: the file was changed after it was planned", file: run.path)
                    }
                }
            }
            batches.append(batch)
        }
        return batches
    }
}
