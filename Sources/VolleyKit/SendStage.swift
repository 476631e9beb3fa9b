import Base
import Campaigns
import Content
import Delivery
import Glibc
import Runs
import Synchronization

/// Sends a planned run: a thread reads, claims and renders, one delivers, one records; between them bounded queues of batches.
///
/// The order that makes a run accountable: a claim is committed before its recipients are handed on, and nothing
/// reaches the wire but what was handed on. See docs/architecture.md.
struct SendStage: Sendable {
    let run: RunStore
    let endpoint: Endpoint
    let credentials: Credentials
    let route: Route
    let settings: RunSettings
    let template: PayloadTemplate
    let console: Console

    /// Batches between reader and sender at most. Without a pace they last while the next claim is being prepared; with one, whatever is
    /// claimed ahead only grows what a crash leaves unknown.
    private var queuedBatches: Int { settings.pace == nil ? 4 : 2 }

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
        let batches = BoundedQueue<PushBatch>(capacity: queuedBatches)
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

    /// - Returns: recipients that were claimed but not handed over.
    private func read(into batches: BoundedQueue<PushBatch>, _ state: SendState) -> Range<Int> {
        defer { batches.close() }
        do { return try PushReader(run: run, template: template, pace: settings.pace).read(into: batches) } catch {
            state.fail("Reading and claiming stopped. \(error)")
            return 0..<0
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
final class SendState: Sendable {
    let progress: SendProgress
    /// Why the run cannot go on, the first reason only.
    let failure = Mutex<String?>(nil)

    init(total: Int) { progress = SendProgress(total: total) }

    func fail(_ reason: String) {
        failure.withLock { $0 = $0 ?? reason }
    }
}
