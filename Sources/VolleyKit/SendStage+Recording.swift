import Base
import Delivery
import Glibc
import Runs

/// The recorder's thread: settlements to run file.
extension SendStage {
    /// Settlements of a transaction, a few more at most. A claim waits while one is written.
    private static let fullGroup = 10_000

    /// Records settlements, as many at a time as have come meanwhile. When the run file cannot be written, nothing more is sent, and what
    /// could not be recorded is tried again for a few seconds: space may be freed.
    func record(from results: BoundedQueue<[Settlement]>, _ state: SendState, _ control: SendControl) {
        var unrecorded: [Settlement] = []
        var waiting: [Settlement]?
        var waitingSince: Int?
        while let first = waiting ?? results.take() {
            let taken = state.recordingLag.now
            // What was put into the queue while the group before was written has waited since that was taken out of it.
            state.recordingLag.set(waitingSince: waitingSince ?? taken)
            var group: [Settlement]? = first
            while let next = group {
                state.progress.add(next)
                unrecorded += state.withEarlierAttempts(next)
                group = unrecorded.count < Self.fullGroup ? results.takeIfReady() : nil
            }
            do {
                try run.record(unrecorded)
                unrecorded.removeAll(keepingCapacity: true)
            } catch {
                control.interrupt()
                state.fail("Recording stopped. \(error)")
            }
            waiting = results.takeIfReady()
            waitingSince = waiting == nil ? nil : taken
            state.recordingLag.set(waitingSince: waitingSince)
        }
        for _ in 0..<20 where !unrecorded.isEmpty {
            usleep(250_000)
            if (try? run.record(unrecorded)) != nil { unrecorded = [] }
        }
        if !unrecorded.isEmpty {
            console.warn("\(TextFormat.count(unrecorded.count)) answers could not be recorded; the report counts their devices as unknown.")
        }
    }
}
