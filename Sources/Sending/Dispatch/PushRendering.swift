import Base
import Content
import Delivery
import PushServices
import Runs

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
