import Base
import Delivery
import Runs

/// The recorder's thread: settlements to run file.
extension RunSender {
    /// Records settlements, group after group. When the run file cannot be written, nothing more is sent, and what
    /// could not be recorded is tried again for a few seconds: space may be freed.
    func record(from results: BoundedQueue<[Settlement]>, _ state: SendState, _ control: SendControl) {
        var unrecorded: [[Settlement]] = []
        let groups = OutcomeGroups(results)
        while let group = groups.next() {
            for part in group.lazy.map(state.completed) {
                state.progress.add(part)
                attendance.observer(.settled(part))
                unrecorded.append(part)
            }
            do {
                try run.record(unrecorded)
                state.recorded.add(Self.count(unrecorded))
                unrecorded.removeAll(keepingCapacity: true)
            } catch {
                control.interrupt()
                state.fail(.ledger(.recordingFailed("\(error)")))
            }
        }
        var retries = Retries(atMost: 20, milliseconds: 250)
        while !unrecorded.isEmpty, retries.pause() {
            if (try? run.record(unrecorded)) != nil { unrecorded = [] }
        }
        if !unrecorded.isEmpty { attendance.observer(.unrecorded(Self.count(unrecorded))) }
    }

    private static func count(_ parts: [[Settlement]]) -> Int { parts.reduce(0) { $0 + $1.count } }
}
