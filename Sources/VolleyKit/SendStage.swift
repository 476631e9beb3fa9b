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
    let route: Route
    let settings: RunSettings
    let template: PayloadTemplate
    let console: Console

    /// Recipients of a claim at most; with a slow pace it covers less (`Pace.pushesAhead`).
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
        route.apply(to: &sender)
        let delivery = try Sender(sender)
        console.detail(
            "Sending \(run.plan.id) to \(endpoint) \(route.description) as \(settings.topic), at most \(settings.pace?.description ?? "as fast as it goes")."
        )
        try run.setState(.running, reason: "", at: start, from: .planned)
        // From here on something may have been sent: whatever goes wrong is how the run ended, never "nothing was sent".
        return recorded(deliver(with: delivery))
    }

    /// Records how the run ended.
    private func recorded(_ end: SendEnd) -> SendEnd {
        do {
            switch end {
            case .finished: try run.setState(.finished, reason: "", at: .now())
            case .stopped(let reason): try run.setState(.stopped, reason: reason, at: .now())
            case .interrupted: try run.setState(.stopped, reason: "interrupted", at: .now())
            }
            return end
        } catch {
            return .stopped(reason: "The end of the run could not be recorded. \(error)")
        }
    }

    private func deliver(with delivery: Sender) -> SendEnd {
        let batches = BoundedQueue<PushBatch>(capacity: Self.queuedBatches)
        let results = BoundedQueue<[Settlement]>(capacity: 64)
        let control = SendControl()
        let state = SendState(total: run.plan.audience)
        let reader = WorkerThread("read") { read(into: batches, state) }
        let recorder = WorkerThread("record") { record(from: results, state, control) }
        let loop = WorkerThread("deliver") { delivery.run(source: batches, results: results, control: control) }
        watch(loop, state.progress, control)
        let end = loop.join()
        // The sender may have stopped while the reader was about to hand over one more batch.
        batches.close()
        let leftover = reader.join()
        results.close()
        recorder.join()
        release(leftover, because: end, state)
        if let failure = state.failure.withLock({ $0 }) { return .stopped(reason: failure) }
        return end
    }

    /// Records recipients that were claimed but never handed over.
    private func release(_ leftover: Range<Int>, because end: SendEnd, _ state: SendState) {
        let reason = end == .interrupted ? "Interrupted" : "Stopped"
        do {
            try run.record(leftover.map { Settlement(recipient: $0, outcome: .unsent, reason: reason, settledAt: .now()) })
        } catch {
            state.fail("Recording stopped. \(error)")
        }
    }

    /// Reads, renders, claims and hands over until the run is through or the queue was closed.
    /// - Returns: recipients that were claimed but not handed over.
    private func read(into batches: BoundedQueue<PushBatch>, _ state: SendState) -> Range<Int> {
        defer { batches.close() }
        let claimSize = min(Self.largestClaim, settings.pace?.pushesAhead ?? .max)
        do {
            var next = try run.firstUnclaimed()
            while next < run.plan.audience {
                let range = next..<min(next + claimSize, run.plan.audience)
                let batch = try render(run.recipients(range), range)
                try run.claim(range, at: .now())
                guard batches.put(batch) else { return range }
                next = range.upperBound
            }
        } catch {
            state.fail("Reading and claiming stopped. \(error)")
        }
        return 0..<0
    }

    private func render(_ recipients: [Recipient], _ range: Range<Int>) throws -> PushBatch {
        var batch = PushBatch()
        var payload: [UInt8] = []
        for (id, recipient) in zip(range, recipients) {
            guard recipient.fields.count == template.columns.count, template.render(recipient.fields, into: &payload) == nil else {
                throw Diagnostic("recipient \(id) has no payload any more: the file was changed after it was planned", file: run.path)
            }
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
                state.fail("Recording stopped. \(error)")
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
    private func watch(_ loop: WorkerThread<SendEnd>, _ progress: SendProgress, _ control: SendControl) {
        let clock = ContinuousClock()
        var marks: [(at: ContinuousClock.Instant, done: Int)] = [(clock.now, 0)]
        Interruption.pass(to: control, until: loop, console) {
            guard console.showsProgress, clock.now - (marks.last?.at ?? clock.now) >= .milliseconds(200) else { return }
            marks.append((clock.now, progress.done))
            if marks.count > 10 { marks.removeFirst() }
            let seconds = (marks[marks.count - 1].at - marks[0].at) / .seconds(1)
            console.progress(progress.line(rate: Double(marks[marks.count - 1].done - marks[0].done) / max(seconds, 0.001)))
        }
        console.clearProgress()
    }
}

/// What the threads of a sending run share.
private final class SendState: Sendable {
    let progress: SendProgress
    /// Why the run cannot go on, the first reason only.
    let failure = Mutex<String?>(nil)

    init(total: Int) { progress = SendProgress(total: total) }

    func fail(_ reason: String) {
        failure.withLock { $0 = $0 ?? reason }
    }
}
