import Base
import Campaigns
import Content
import Delivery
import Glibc
import Runs
import Synchronization

/// Sends a planned run: a thread reads, claims and renders, one delivers, one records; between them bounded queues of batches.
///
/// The order that makes a run accountable: a claim is committed before its recipients are rendered and handed on, and nothing
/// reaches the wire but what was handed on. See docs/architecture.md.
struct SendStage: Sendable {
    let run: RunStore
    let endpoint: Endpoint
    let credentials: Credentials
    let settings: RunSettings
    let template: PayloadTemplate
    let console: Console

    /// Recipients of a claim at most. At the pace of a slow run a claim covers a tenth of a second, so that a crash leaves little
    /// claimed without an outcome.
    private static let largestClaim = 1000

    /// Batches between two threads at most.
    private static let queuedBatches = 2

    /// Sends until everything is settled, the run must stop, or someone interrupts.
    /// - Returns: how it ended; also when recording failed, which ends the run as stopped.
    func send() throws -> SendEnd {
        let start = Timestamp.now()
        var sender = SenderSettings(
            endpoint: endpoint, credentials: credentials, headers: settings.headers(startingAt: start), runSeed: run.plan.seed)
        sender.pace = settings.pace
        sender.deadline = settings.deadline(startingAt: start)
        sender.resendsUnknown = settings.unknownPolicy == .resend
        let delivery = try Sender(sender)
        console.detail(
            "Sending \(run.plan.id) to \(endpoint) as \(settings.topic), at most \(settings.pace?.description ?? "as fast as it goes").")
        try run.setState(.running, reason: "", at: start)
        let end = try deliver(with: delivery)
        switch end {
        case .finished: try run.setState(.finished, reason: "", at: .now())
        case .stopped(let reason): try run.setState(.stopped, reason: reason, at: .now())
        case .interrupted: try run.setState(.stopped, reason: "interrupted", at: .now())
        }
        return end
    }

    private func deliver(with delivery: Sender) throws -> SendEnd {
        let batches = BoundedQueue<PushBatch>(capacity: Self.queuedBatches)
        let results = BoundedQueue<[Settlement]>(capacity: 64)
        let control = SendControl()
        let state = SendState(total: run.plan.audience)
        let reader = WorkerThread { read(into: batches, state) }
        let recorder = WorkerThread { record(from: results, state, control) }
        let loop = WorkerThread {
            defer { state.isDelivered.store(true, ordering: .releasing) }
            return delivery.run(source: batches, results: results, control: control)
        }
        watch(state, control)
        let end = loop.join()
        // The sender may have stopped while the reader was about to hand over one more batch.
        batches.close()
        let leftover = reader.join()
        results.close()
        recorder.join()
        try run.record(leftover.map { Settlement(recipient: $0, outcome: .unsent, reason: "Stopped", settledAt: .now()) })
        if let failure = state.failure.withLock({ $0 }) { return .stopped(reason: failure) }
        return end
    }

    /// Reads, claims, renders and hands over until the run is through or the queue was closed.
    /// - Returns: recipients that were claimed but not handed over.
    private func read(into batches: BoundedQueue<PushBatch>, _ state: SendState) -> Range<Int> {
        defer { batches.close() }
        let claimSize = settings.pace.map { min(Self.largestClaim, max(1, Int($0.perSecond / 10))) } ?? Self.largestClaim
        do {
            var next = try run.firstUnclaimed()
            while next < run.plan.audience, !state.isDelivered.load(ordering: .acquiring) {
                let range = next..<min(next + claimSize, run.plan.audience)
                let recipients = try run.recipients(range)
                try run.claim(range, at: .now())
                guard batches.put(render(recipients, range)) else { return range }
                next = range.upperBound
            }
        } catch {
            state.fail("Reading the run stopped: \(error)")
        }
        return 0..<0
    }

    private func render(_ recipients: [Recipient], _ range: Range<Int>) -> PushBatch {
        var batch = PushBatch()
        var payload: [UInt8] = []
        for (id, recipient) in zip(range, recipients) {
            let failure = template.render(recipient.fields, into: &payload)
            precondition(failure == nil, "recipient \(id) was planned with a payload that cannot be rendered")
            batch.append(recipient: id, token: recipient.token.hex, payload: payload)
        }
        return batch
    }

    /// Records settlements in the groups in which they come. When the run file cannot be written, nothing more is sent, and what could
    /// not be recorded is tried again for a few seconds: space may be freed.
    private func record(from results: BoundedQueue<[Settlement]>, _ state: SendState, _ control: SendControl) {
        var unrecorded: [Settlement] = []
        while let group = results.take() {
            state.progress.add(group)
            unrecorded += group
            do {
                try run.record(unrecorded)
                unrecorded = []
            } catch {
                control.interrupt()
                state.fail("Recording stopped: \(error)")
            }
        }
        for _ in 0..<20 where !unrecorded.isEmpty {
            usleep(250_000)
            if (try? run.record(unrecorded)) != nil { unrecorded = [] }
        }
        if !unrecorded.isEmpty {
            console.warn("\(TextFormat.count(unrecorded.count)) answers could not be recorded; the report counts their devices as unknown.")
        }
    }

    /// Shows the progress and passes on an interruption until the delivery has ended.
    private func watch(_ state: SendState, _ control: SendControl) {
        let clock = ContinuousClock()
        var marks: [(at: ContinuousClock.Instant, done: Int)] = [(clock.now, 0)]
        while !state.isDelivered.load(ordering: .acquiring) {
            usleep(20_000)
            if Interruption.isRequested, !control.isInterrupted {
                console.say("Interrupted: waiting for the answers that are under way. Once more ends at once.")
                control.interrupt()
            }
            guard console.showsProgress, clock.now - (marks.last?.at ?? clock.now) >= .milliseconds(200) else { continue }
            marks.append((clock.now, state.progress.done))
            if marks.count > 10 { marks.removeFirst() }
            let seconds = (marks[marks.count - 1].at - marks[0].at) / .seconds(1)
            console.progress(state.progress.line(rate: Double(marks[marks.count - 1].done - marks[0].done) / max(seconds, 0.001)))
        }
        console.clearProgress()
    }
}

/// What the threads of a sending run share.
private final class SendState: Sendable {
    let progress: SendProgress
    /// The delivery has ended; nothing more is read or claimed.
    let isDelivered = Atomic(false)
    /// Why the run cannot go on, the first reason only.
    let failure = Mutex<String?>(nil)

    init(total: Int) { progress = SendProgress(total: total) }

    func fail(_ reason: String) {
        failure.withLock { $0 = $0 ?? reason }
    }
}
