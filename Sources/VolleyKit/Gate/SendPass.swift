import Base
import Delivery
import Runs

/// What `RunGate.pass` gives: the right to send a run, until it ends.
struct SendPass: ~Copyable {
    fileprivate let run: RunStore
    fileprivate let record: SendingRecord
    fileprivate let time: ScheduledTime?
    /// Is told what is claimed before it goes onto the wire; nil for a retry, which sends nothing of the run itself.
    let marks: ClaimMarks?
    /// What must stay in its place as long as it is sent.
    let files: FilesInPlace

    init(run: RunStore, record: SendingRecord, time: ScheduledTime?, marks: ClaimMarks?) {
        (self.run, self.record, self.time, self.marks) = (run, record, time, marks)
        files = FilesInPlace(run)
    }

    /// Notes how far the run is, for the next time. What cannot be noted changes nothing in how it ended.
    consuming func end(_ console: Console) {
        do { try record.end(run) } catch {
            console.warn(
                "How far the run is could not be noted beside it, so that an older copy of its file would not be recognised. \(error)")
        }
        if let state = try? run.status().state { time?.note(state) }
    }
}
