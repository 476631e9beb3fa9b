import Base
import Content
import Delivery
import Runs

/// The reader's thread: run file to batches.
extension SendStage {
    /// Recipients of a claim at most; with a slow pace it covers less (`Pace.pushesAhead`).
    private static let largestClaim = 4000

    /// Pushes of a batch at most.
    private static let batchSize = 1000

    /// Reads, renders, claims and hands over until the run is through or the queue was closed.
    /// - Returns: recipients that were claimed but not handed over.
    func read(into batches: BoundedQueue<PushBatch>, _ state: SendState) -> Range<Int> {
        defer { batches.close() }
        let claimSize = min(Self.largestClaim, settings.pace?.pushesAhead ?? .max)
        do {
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
        } catch {
            state.fail("Reading and claiming stopped. \(error)")
        }
        return 0..<0
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
