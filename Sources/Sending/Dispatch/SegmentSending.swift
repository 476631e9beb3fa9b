import Base
import Delivery
import PushServices
import Runs
import Synchronization

/// A segment while it is sent. It has a reader, a sender, a queue between them and a brake of its
/// own; segments share the record and what is known of the run (`SendState`).
final class SegmentSending: Sendable {
    let segment: RunSegment
    let access: ServiceAccess
    let control = SendControl()
    let batches: BoundedQueue<PushBatch>
    /// Receipts of its service's answers that are not on the disk yet.
    let receipts = ReceiptQueue()
    /// How many of its settlements are on the disk.
    let recorded = WatchedCount()
    /// Limits how far ahead of the wire its recipients are claimed.
    let allowance: ClaimBudget
    private let isEnded = Atomic(false)

    /// - Parameter queue: the most batches between its reader and its sender.
    /// - Throws: a `Diagnostic` if no more files can be opened.
    init(_ segment: RunSegment, _ access: ServiceAccess, queue: Int) throws(Diagnostic) {
        self.segment = segment
        self.access = access
        batches = BoundedQueue(capacity: queue)
        let claiming = try Wakeup()
        batches.wakeWhenClosed(claiming)
        allowance = ClaimBudget(
            control: control, recorded: recorded, paces: access.paces, wakeup: claiming)
    }

    /// Whether its sender still runs.
    var isGoing: Bool { !isEnded.load(ordering: .acquiring) }

    func noteEnd() { isEnded.store(true, ordering: .releasing) }
}

extension [SegmentSending] {
    /// Tells all senders to end. Only the first request counts.
    func interrupt(_ request: SendControl.StopRequest = .interrupted) {
        for segment in self { segment.control.interrupt(request) }
    }

    var isInterrupted: Bool { contains { $0.control.isInterrupted } }

    /// What was asked of the senders; nil for nothing.
    var requested: SendControl.StopRequest? { lazy.compactMap(\.control.requested).first }

    /// What holds up the segments that are still sent, with one that it holds up; nil if nothing
    /// does.
    var wait: (wait: SendWait, segment: SegmentSending)? {
        let going = filter(\.isGoing), waits = going.map(\.control.wait)
        guard let wait = SendWait.together(waits), let place = waits.firstIndex(where: { $0 != nil }) else {
            return nil
        }
        // An outage of one service is more to know than the pace of another.
        let telling = waits.firstIndex { $0.map { SendWait.together([$0, wait]) == $0 && $0 == wait } ?? false }
        return (wait, going[telling ?? place])
    }
}
