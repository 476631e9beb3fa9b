import Audience
import Base
import Content
import Delivery
import PushServices
import Runs

/// What the reader's thread does: run file to batches of payloads, claimed before they are handed on. Large claims are rendered by several threads; one
/// claims, and hands over in order.
struct PushReader: Sendable {
    let run: any RunLedger
    let messages: MessageCatalog
    /// nil when pushes go out as fast as they can.
    let pace: Pace?
    /// Of the service, whose requests are to be full.
    var batching = Batching.single
    /// Whether who is recorded as unknown is sent to again.
    let resendsUnknown: Bool
    /// nil to claim as far ahead as the queue goes.
    let allowance: ClaimBudget?
    /// The clock that claims are dated by.
    package let now: @Sendable () -> Timestamp
    /// Devices that may get no more; nil when there are none.
    let capped: CappedDevices?
    /// Is told how many claims were made (`RunLedger.claimCount`), before any of those recipients goes onto the wire; false when that could not be noted.
    var onClaimed: @Sendable (Int) -> Bool = { _ in true }
    /// Is told of capped recipients once they are recorded as unsent.
    let onCapped: @Sendable ([Settlement]) -> Void
    /// Called with the recorded attempts of recipients that are sent to again.
    let onEarlierAttempts: @Sendable ([Int: Int]) -> Void
    /// Is told of recipients who may have got the push already, before they are sent to again.
    let onInDoubt: @Sendable ([Int]) -> Void
    /// The messages again, one for each further thread that renders: what they consist of is counted by references, for which threads would wait for
    /// one another.
    var furtherMessages: [MessageCatalog] = []

    /// Recipients of a claim at most, for each thread that renders; with a slow pace it covers less (`Batching.pushesAhead`), and in a slow run (`ClaimBudget`).
    private static let largestClaim = 4000

    /// Pushes of a batch at most.
    private static let batchSize = 1000

    package init(
        run: any RunLedger, messages: MessageCatalog, pace: Pace?, resendsUnknown: Bool = true, allowance: ClaimBudget? = nil,
        now: @escaping @Sendable () -> Timestamp = { .now() }, capped: CappedDevices? = nil,
        onCapped: @escaping @Sendable ([Settlement]) -> Void = { _ in },
        onEarlierAttempts: @escaping @Sendable ([Int: Int]) -> Void = { _ in }, onInDoubt: @escaping @Sendable ([Int]) -> Void = { _ in }
    ) {
        (self.run, self.messages, self.pace) = (run, messages, pace)
        (self.resendsUnknown, self.allowance, self.now, self.onEarlierAttempts) = (resendsUnknown, allowance, now, onEarlierAttempts)
        (self.capped, self.onCapped, self.onInDoubt) = (capped, onCapped, onInDoubt)
    }

    private var claimSize: Int { min(Self.largestClaim * (1 + furtherMessages.count), pace.map(batching.pushesAhead) ?? .max) }

    /// Whole batches, so that they are as full as when one thread renders all.
    private var parts: RangeParts { RangeParts(unit: min(Self.batchSize, claimSize), threads: 1 + furtherMessages.count) }

    /// Reads, renders, claims and hands over until some recipients are through or the queue was closed: first who was claimed before and is not
    /// settled, then who was never claimed.
    /// - Returns: recipients that were claimed but not handed over, because the queue was closed.
    /// - Throws: `Diagnostic` when the run file cannot be read or claimed from; everybody claimed was handed over then.
    func read(_ ids: Range<Int>? = nil, into batches: BoundedQueue<PushBatch>) throws -> [Int] {
        let ids = ids ?? 0..<run.plan.audience
        let claimed = try run.claims()
        // Count from here: no other process claims meanwhile, and whatever was claimed must be handed over.
        var claims = try run.claimCount()
        for range in claimed.ranges(in: ids) {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.largestClaim) where !batches.isClosed {
                let left = try readAgain(start..<min(start + Self.largestClaim, range.upperBound), claims: &claims, into: batches)
                if !left.isEmpty { return left }
            }
        }
        let team = RangeTeam("render") { range, renderer in Result { try render(range, isClaimed: false, renderer: renderer) } }
        return try claim(ids, claims: &claims, renderedBy: team, into: batches)
    }

    /// Who was never claimed.
    /// - Parameter claims: that were made so far.
    /// - Returns: who was claimed but not handed over.
    private func claim(
        _ leg: Range<Int>, claims: inout Int, renderedBy team: RangeTeam<Rendered>, into batches: BoundedQueue<PushBatch>
    ) throws -> [Int] {
        while let next = try run.lease(atMost: claimSize, of: leg) {
            let size = allowance?.wait(forAtMost: claimSize) { batches.isClosed } ?? claimSize
            // Do not read devices that get nothing anyway once nothing more is sent.
            if batches.isClosed { return [] }
            let claim = next.prefix(size)
            // Read everything before the claim: a device that cannot be read must not be claimed.
            let rendered = Rendered(try team.run(parts.parts(of: claim)))
            try run.claim(claim, unsent: rendered.capped, at: now())
            if !rendered.capped.isEmpty { onCapped(rendered.capped) }
            claims += claim.count
            guard onClaimed(claims) else { return rendered.batches.flatMap { $0.pushes.map(\.recipient) } }
            let left = handOver(rendered.batches[...], to: batches)
            if !left.isEmpty { return left }
        }
        return []
    }

    /// Who was claimed before and is not settled.
    /// - Parameter claims: that were made so far.
    private func readAgain(_ range: Range<Int>, claims: inout Int, into batches: BoundedQueue<PushBatch>) throws -> [Int] {
        let rendered = try render(range, isClaimed: true, renderer: 0)
        if !rendered.capped.isEmpty {
            try run.record(rendered.capped)
            onCapped(rendered.capped)
        }
        onInDoubt(rendered.inDoubt)
        for batch in rendered.batches {
            _ = allowance?.wait(forAtMost: batch.pushes.count) { batches.isClosed }
            onEarlierAttempts(try run.reopen(batch.pushes.map(\.recipient), resendsUnknown: resendsUnknown))
            claims += batch.pushes.count
            guard onClaimed(claims) else { return batch.pushes.map(\.recipient) }
            let left = handOver([batch], to: batches)
            if !left.isEmpty { return left }
        }
        return []
    }

    /// - Returns: who was not handed over.
    private func handOver(_ rendered: ArraySlice<PushBatch>, to batches: BoundedQueue<PushBatch>) -> [Int] {
        allowance?.noteClaimed(rendered.reduce(0) { $0 + $1.pushes.count })
        var rest = rendered
        while let batch = rest.first, batches.put(batch) { rest.removeFirst() }
        return rest.flatMap { $0.pushes.map(\.recipient) }
    }

    /// What is to be done for some recipients.
    private struct Rendered: Sendable {
        /// What is to be pushed.
        var batches: [PushBatch] = []
        /// Of those who may get no more.
        var capped: [Settlement] = []
        /// Those among the batches who may have got the push already.
        var inDoubt: [Int] = []

        init() {}

        /// Parts in the order of their recipients.
        init(_ parts: [Rendered]) {
            if parts.count == 1 {
                self = parts[0]
                return
            }
            (batches, capped, inDoubt) = (parts.flatMap(\.batches), parts.flatMap(\.capped), parts.flatMap(\.inDoubt))
        }
    }

    /// - Parameter renderer: the number of the thread, 0 for the one that claims.
    private func render(_ range: Range<Int>, isClaimed: Bool, renderer: Int) throws -> Rendered {
        let messages = renderer == 0 ? messages : furtherMessages[renderer - 1]
        let size = min(Self.batchSize, claimSize)
        var rendered = Rendered()
        let now = now()
        var batch = PushBatch()
        var chooser = MessageChooser(messages)
        let hasChoice = messages.hasChoice
        let hasZone = run.plan.fields.count > messages.columns.count && run.plan.fields.last == ExportColumns.Standard.timezone.rawValue
        // The zone of a device follows what its texts need.
        let cells = messages.columns.count + (hasZone ? 1 : 0)
        func append(_ push: StoredPush) throws {
            // What may have arrived is the same push once more.
            if let capped, !push.mayHaveArrived, capped.contains(token: push.token) {
                let attempts = push.attempts
                rendered.capped.append(
                    Settlement(recipient: push.id, outcome: .unsent, own: .frequencyCap, attempts: attempts, settledAt: now))
                return
            }
            if push.mayHaveArrived { rendered.inDoubt.append(push.id) }
            if batch.pushes.isEmpty {
                // A little more than the last one needed: payloads of a run differ in a few cells.
                batch.reserve(pushes: size, bytes: rendered.batches.last.map { $0.bytes.count * 9 / 8 } ?? 0)
            }
            try batch.append(recipient: push.id, token: push.token) { bytes in
                let message = hasChoice ? chooser.message(variant: push.variant, language: push.language) : 0
                guard push.cells.count == cells, let message,
                    messages.append(message: message, push.cells, language: push.language, to: &bytes) == nil
                else {
                    throw Diagnostic(
                        "recipient \(push.id) no longer has a payload: the file was changed after it was planned", file: run.place)
                }
            }
            if batch.pushes.count == size {
                rendered.batches.append(batch)
                batch = PushBatch()
            }
        }
        if isClaimed {
            try run.forEachUnsettledPush(
                in: range, resendsUnknown: resendsUnknown, closing: [.frequencyCap], withTraits: messages.needsTraits, append)
        } else {
            try run.forEachPush(in: range, withTraits: messages.needsTraits, append)
        }
        if !batch.pushes.isEmpty { rendered.batches.append(batch) }
        return rendered
    }
}
