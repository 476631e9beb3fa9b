import Base
import Content
import Delivery
import PushServices
import Runs

/// The work of the reader's thread: it turns the run file into batches of payloads, and claims each
/// batch before it hands it on. Several threads render a large claim; one thread claims, and hands
/// over in order.
struct PushReader: Sendable {
    let run: any RunLedger
    let messages: MessageCatalog
    /// The paces of the service's requests, which should be full.
    let paces: RequestPaces
    /// The number of the service whose pushes are read.
    var service = 0
    /// Counts claims, with other readers of the run; nil for one that reads alone.
    var claims: ClaimCount?
    /// Calls that an earlier process named, and that are sent again under their names before
    /// everything else.
    var repeats: [NamedCall] = []
    /// The generations beyond the first of pushes, by recipient, for a service that recognizes a
    /// push by its generation; nil for others.
    var generations: [Int: UInt16]?
    /// Whether devices that are recorded as unknown get the push again.
    let resendsUnknown: Bool
    /// How many recipients are worth a claim of their own: many where each claim goes to a server
    /// and back.
    var worthwhileClaim = 1
    /// Where several machines send, takes recipients of a segment that were claimed and must be
    /// sent to again, and returns the ranges that they are in; nil to look at all claims.
    var leaseAgain: (@Sendable (Range<Int>) throws -> [Range<Int>])?
    /// The limit on claims; nil to claim as far ahead as the queue has room.
    let allowance: ClaimBudget?
    /// The clock that dates the claims.
    package let now: @Sendable () -> Timestamp
    /// The recipients that may get no more pushes.
    let capped: CappedRecipients
    /// Called with the number of claims so far (`RunClaims.made`), before a push to any of those
    /// recipients is on the wire; returns false if that could not be noted.
    var onClaimed: @Sendable (Int) -> Bool = { _ in true }
    /// Called with capped recipients once they are recorded as unsent.
    let onCapped: @Sendable ([Settlement]) -> Void
    /// Called with the recorded attempts of recipients that get the push again.
    let onEarlierAttempts: @Sendable ([Int: Int]) -> Void
    /// Called with recipients that may already have got the push, before they get it again.
    let onInDoubt: @Sendable ([Int]) -> Void
    /// Further copies of the messages, one for each additional thread that renders: threads that
    /// share one copy would contend for its reference counts.
    var furtherMessages: [MessageCatalog] = []

    /// The most recipients of a claim, for each thread that renders, unless the ledger requests
    /// more. A claim is smaller at a slow pace (`RequestPaces.pushesAhead`) and in a slow run
    /// (`ClaimBudget`).
    private static let largestClaim = 4000

    /// The most pushes of a batch.
    private static let batchSize = 1000

    package init(
        run: any RunLedger, messages: MessageCatalog, paces: RequestPaces, resendsUnknown: Bool = true,
        allowance: ClaimBudget? = nil,
        now: @escaping @Sendable () -> Timestamp = { .now() }, capped: CappedRecipients = CappedRecipients(),
        onCapped: @escaping @Sendable ([Settlement]) -> Void = { _ in },
        onEarlierAttempts: @escaping @Sendable ([Int: Int]) -> Void = { _ in },
        onInDoubt: @escaping @Sendable ([Int]) -> Void = { _ in }
    ) {
        self.run = run
        self.messages = messages
        self.paces = paces
        self.resendsUnknown = resendsUnknown
        self.allowance = allowance
        self.now = now
        self.onEarlierAttempts = onEarlierAttempts
        self.capped = capped
        self.onCapped = onCapped
        self.onInDoubt = onInDoubt
    }

    private var claimSize: Int {
        min(max(Self.largestClaim * (1 + furtherMessages.count), worthwhileClaim), paces.pushesAhead ?? .max)
    }

    /// How a claim is divided among threads: into whole batches, so that they are as full as if one
    /// thread rendered them all.
    private var parts: RangeParts {
        RangeParts(unit: min(Self.batchSize, claimSize), threads: 1 + furtherMessages.count)
    }

    /// Reads, renders, claims and hands over until the given recipients are done or the queue is
    /// closed: first the recipients that were claimed before and are not settled, then those that
    /// were never claimed.
    /// - Parameter ids: the recipients; nil for all of the run.
    /// - Returns: recipients that were claimed but not handed over, because the queue was closed or
    ///   `onClaimed` failed.
    /// - Throws: `Diagnostic` if the run file cannot be read or claimed from; every claimed
    ///   recipient has been handed over then.
    func read(_ ids: Range<Int>? = nil, into batches: BoundedQueue<PushBatch>) throws -> [Int] {
        let ids = ids ?? 0..<run.plan.audience
        let claims: ClaimCount
        if let shared = self.claims {
            claims = shared
        } else {
            // Count from here: no other process claims from now on.
            claims = ClaimCount()
            claims.start(at: try run.claims().made)
        }
        for call in repeats where !batches.isClosed { try read(call, claims, into: batches) }
        for range in try leaseAgain?(ids) ?? run.claims().claimed.ranges(in: ids) {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.largestClaim)
            where !batches.isClosed {
                let left = try readAgain(
                    start..<min(start + Self.largestClaim, range.upperBound), claims, into: batches)
                if !left.isEmpty { return left }
            }
        }
        let rangeThreads = RangeThreads("render") { range, renderer in
            Result { try render(range, isClaimed: false, renderer: renderer) }
        }
        return try claim(ids, claims, renderedBy: rangeThreads, into: batches)
    }

    /// Hands over a call that an earlier process named, as it was. If the queue is closed, it stays
    /// in doubt.
    private func read(_ call: NamedCall, _ claims: ClaimCount, into batches: BoundedQueue<PushBatch>) throws {
        guard let first = call.recipients.min(), let last = call.recipients.max() else { return }
        let rendered = try render(first..<last + 1, isClaimed: true, renderer: 0, of: Set(call.recipients))
        guard rendered.batches.count == 1, var batch = rendered.batches.first,
            batch.pushes.count == call.recipients.count
        else {
            throw Diagnostic("recipients of the call \(call.number) are missing", file: run.place)
        }
        batch.call = EarlierCall(name: call.name, namedAt: call.namedAt)
        _ = allowance?.wait(forAtMost: batch.pushes.count) { batches.isClosed }
        onEarlierAttempts(try reopen(batch))
        guard claims.add(batch.pushes.count, noting: onClaimed) else { return }
        _ = handOver([batch], to: batches)
    }

    /// The pasts of pushes that are sent again. Those of which nothing is in doubt get the next
    /// generation, as the service may have refused the last one; it is recorded before they are
    /// handed over.
    private func pasts(of batch: PushBatch, inDoubt: Set<Int>, _ generations: [Int: UInt16]) throws -> [Int:
        PushHistory]
    {
        var pasts: [Int: PushHistory] = [:]
        var raised: [UInt16: [Int]] = [:]
        for push in batch.pushes {
            let generation = generations[push.recipient] ?? 0, isInDoubt = inDoubt.contains(push.recipient)
            let next = isInDoubt || generation == .max ? generation : generation + 1
            pasts[push.recipient] = PushHistory(generation: next, isInDoubt: isInDoubt)
            if !isInDoubt { raised[next, default: []].append(push.recipient) }
        }
        try run.append(
            .callsNamed(
                raised.sorted { $0.key < $1.key }.map {
                    NamedCall(service: service, name: "\($0.key)", namedAt: now(), recipients: $0.value)
                }))
        return pasts
    }

    /// Takes back the outcomes of a batch that is about to be sent again.
    /// - Returns: the attempts that were recorded.
    private func reopen(_ batch: PushBatch) throws -> [Int: Int] {
        try run.append(.reopened(batch.pushes.map(\.recipient), resendsUnknown: resendsUnknown, at: .now())).attempts
    }

    /// Claims and hands over recipients that were never claimed.
    /// - Returns: recipients that were claimed but not handed over.
    private func claim(
        _ segment: Range<Int>, _ claims: ClaimCount, renderedBy rangeThreads: RangeThreads<RenderedPushes>,
        into batches: BoundedQueue<PushBatch>
    ) throws -> [Int] {
        while let next = try run.lease(atMost: claimSize, of: segment) {
            let size = allowance?.wait(forAtMost: claimSize) { batches.isClosed } ?? claimSize
            // Once nothing more is sent, do not read further devices.
            if batches.isClosed { return [] }
            let claim = next.prefix(size)
            // Read everything before the claim: a device that cannot be read must not be claimed.
            let rendered = RenderedPushes(try rangeThreads.run(parts.parts(of: claim)))
            try run.append(.claimed(claim, unsent: rendered.capped, at: now()))
            if !rendered.capped.isEmpty { onCapped(rendered.capped) }
            guard claims.add(claim.count, noting: onClaimed) else {
                return rendered.batches.flatMap { $0.pushes.map(\.recipient) }
            }
            let left = handOver(rendered.batches[...], to: batches)
            if !left.isEmpty { return left }
        }
        return []
    }

    /// Hands over recipients that were claimed before and are not settled.
    /// - Returns: recipients that were not handed over.
    private func readAgain(_ range: Range<Int>, _ claims: ClaimCount, into batches: BoundedQueue<PushBatch>) throws
        -> [Int]
    {
        let rendered = try render(range, isClaimed: true, renderer: 0)
        if !rendered.capped.isEmpty {
            try run.append(.settled([rendered.capped]))
            onCapped(rendered.capped)
        }
        onInDoubt(rendered.inDoubt)
        for var batch in rendered.batches {
            _ = allowance?.wait(forAtMost: batch.pushes.count) { batches.isClosed }
            onEarlierAttempts(try reopen(batch))
            if let generations { batch.pasts = try pasts(of: batch, inDoubt: Set(rendered.inDoubt), generations) }
            guard claims.add(batch.pushes.count, noting: onClaimed) else { return batch.pushes.map(\.recipient) }
            let left = handOver([batch], to: batches)
            if !left.isEmpty { return left }
        }
        return []
    }

    /// - Returns: recipients that were not handed over.
    private func handOver(_ rendered: ArraySlice<PushBatch>, to batches: BoundedQueue<PushBatch>) -> [Int] {
        allowance?.noteClaimed(rendered.reduce(0) { $0 + $1.pushes.count })
        var rest = rendered
        while let batch = rest.first, batches.put(batch) { rest.removeFirst() }
        return rest.flatMap { $0.pushes.map(\.recipient) }
    }

    /// - Parameters:
    ///   - renderer: the number of the thread, 0 for the thread that claims.
    ///   - workers: the recipients of a call, in one batch; nil for all that are in no repeated
    ///     call.
    private func render(_ range: Range<Int>, isClaimed: Bool, renderer: Int, of members: Set<Int>? = nil) throws
        -> RenderedPushes
    {
        let repeated = isClaimed && members == nil ? Set(repeats.lazy.flatMap(\.recipients)) : []
        let messages = renderer == 0 ? messages : furtherMessages[renderer - 1]
        var rendering = PushRendering(messages, for: self, batchSize: members?.count ?? min(Self.batchSize, claimSize))
        if isClaimed {
            let open = OpenOutcomes(resendsUnknown: resendsUnknown, closing: [.frequencyCap])
            try run.forEachPush(in: range, PushSelection(unsettled: open, withTraits: messages.needsTraits)) { push in
                if members?.contains(push.id) ?? !repeated.contains(push.id) {
                    try rendering.add(push, messages, in: run)
                }
            }
        } else {
            try run.forEachPush(in: range, PushSelection(withTraits: messages.needsTraits)) {
                try rendering.add($0, messages, in: run)
            }
        }
        return rendering.finish()
    }
}

/// The work for some recipients.
struct RenderedPushes: Sendable {
    /// The pushes to send.
    var batches: [PushBatch] = []
    /// The settlements of recipients that may get no more pushes.
    var capped: [Settlement] = []
    /// The recipients in the batches that may have got the push already.
    var inDoubt: [Int] = []

    init() {}

    /// Joins parts that are in the order of their recipients.
    init(_ parts: [RenderedPushes]) {
        if parts.count == 1 {
            self = parts[0]
            return
        }
        (batches, capped, inDoubt) = (parts.flatMap(\.batches), parts.flatMap(\.capped), parts.flatMap(\.inDoubt))
    }
}

/// Renders pushes, in the order in which they are read, into batches. Belongs to one thread.
struct PushRendering {
    private let service: Int
    private let batchSize: Int
    private let capped: CappedRecipients
    /// When capped recipients are settled.
    private let now: Timestamp
    private let hasChoice: Bool
    /// What ids follow from, if requests carry one push each and so each payload has that of its
    /// push; nil if no payload has one yet.
    private let seed: RunSeed?
    /// How many cells each recipient has: those that its texts need, and behind them its zone, if
    /// the run has zones.
    private let cells: Int
    private var chooser: MessageChooser
    private var batch = PushBatch()
    private var rendered = RenderedPushes()

    /// - Parameter reader: what reads the pushes.
    init(_ messages: MessageCatalog, for reader: PushReader, batchSize: Int) {
        self.batchSize = batchSize
        service = reader.service
        capped = reader.capped
        now = reader.now()
        let plan = reader.run.plan
        hasChoice = messages.hasChoice
        seed = messages.isTracked && messages.services[reader.service].batching.largestTargets == 1 ? plan.seed : nil
        let hasZone =
            plan.fields.count > messages.columns.count && plan.fields.last == ExportColumns.Standard.timezone.rawValue
        cells = messages.columns.count + (hasZone ? 1 : 0)
        chooser = MessageChooser(messages)
    }

    /// Renders a push, unless its device may get no more.
    /// - Parameter messages: as in `init`. They are no part of this value, from which the compiler
    ///   would copy them for every push.
    /// - Throws: a `Diagnostic` if it has no payload: the run was changed after it was planned.
    mutating func add(_ push: StoredPush, _ messages: MessageCatalog, in run: any RunLedger) throws {
        // A push that may have arrived is the same push again, so the cap does not apply.
        if !push.mayHaveArrived, capped.contains(push) {
            rendered.capped.append(
                Settlement(
                    recipient: push.id, outcome: .unsent, own: .frequencyCap, attempts: push.attempts, settledAt: now))
            return
        }
        if push.mayHaveArrived { rendered.inDoubt.append(push.id) }
        if batch.pushes.isEmpty {
            // Reserve a little more than the last batch needed: payloads of a run differ in a few
            // cells.
            batch.reserve(pushes: batchSize, bytes: rendered.batches.last.map { $0.bytes.count * 9 / 8 } ?? 0)
        }
        let message = hasChoice ? chooser.message(variant: push.variant, language: push.language, service: service) : 0
        try batch.append(recipient: push.id, token: push.token) { bytes in
            let start = bytes.count
            guard push.cells.count == cells, let message,
                messages.append(message: message, push.cells, language: push.language, to: &bytes) == nil
            else {
                throw Diagnostic(
                    "recipient \(push.id) no longer has a payload: the file was changed after it was planned",
                    file: run.place)
            }
            if let seed { PushIDPlace.fill(&bytes, from: start, with: PushID(runSeed: seed, recipient: push.id)) }
        }
        if batch.pushes.count == batchSize { finishBatch() }
    }

    private mutating func finishBatch() {
        rendered.batches.append(batch)
        batch = PushBatch()
    }

    /// Returns all that was rendered.
    consuming func finish() -> RenderedPushes {
        if !batch.pushes.isEmpty { finishBatch() }
        return rendered
    }
}
