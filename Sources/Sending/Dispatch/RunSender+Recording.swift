import Base
import Delivery
import Runs

/// The work of the recorder's thread: it writes settlements into the run file.
extension RunSender {
    /// Records settlements, group by group. If the run file cannot be written, sending stops. Volley then tries to record the rest for a
    /// few more seconds, in case disk space is freed.
    func record(from results: BoundedQueue<[Settlement]>, _ state: SendState, _ legs: [LegSending]) {
        var unrecorded: [[Settlement]] = []
        let groups = OutcomeGroups(results)
        while let group = groups.next() {
            for part in group.lazy.map(state.completed) {
                state.progress.add(part)
                team?.count(part)
                attendance.observer(.settled(part))
                unrecorded.append(part)
            }
            do {
                try noteReceipts(legs)
                try run.append(.settled(unrecorded))
                noteRecorded(unrecorded, state, legs)
                unrecorded.removeAll(keepingCapacity: true)
            } catch let end as NotSending {
                legs.interrupt(.cancelled)
                if !end.isCancelled { state.fail(.ledger(.takenOver)) }
            } catch {
                legs.interrupt()
                state.fail(.ledger(.recordingFailed("\(error)")))
            }
        }
        // A store was waited for already.
        var retries = Retries(atMost: team == nil ? 20 : 0, milliseconds: 250)
        while !unrecorded.isEmpty, retries.pause() {
            if (try? run.append(.settled(unrecorded))) != nil { unrecorded = [] }
        }
        try? noteReceipts(legs)
        guard !unrecorded.isEmpty else { return }
        let others: UnknownPolicy = legs.contains { $0.access.resendsUnknown } ? .resend : .skip
        attendance.observer(.unrecorded(Self.count(unrecorded), byOthers: team == nil ? nil : others))
    }

    /// Records receipts, before the outcomes that came with them.
    private func noteReceipts(_ legs: [LegSending]) throws {
        for leg in legs {
            let receipts = leg.receipts.take()
            guard !receipts.isEmpty else { continue }
            do { try run.append(.receipts(receipts, service: leg.leg.service)) } catch {
                leg.receipts.putBack(receipts)
                throw error
            }
        }
    }

    /// The settlements of a part come from one sender, and so are of one leg.
    private func noteRecorded(_ parts: [[Settlement]], _ state: SendState, _ legs: [LegSending]) {
        state.recorded.add(Self.count(parts))
        if legs.count == 1 { return legs[0].recorded.add(Self.count(parts)) }
        for part in parts {
            guard let first = part.first, let leg = legs.first(where: { $0.leg.ids.contains(first.recipient) }) else { continue }
            leg.recorded.add(part.count)
        }
    }

    private static func count(_ parts: [[Settlement]]) -> Int { parts.reduce(0) { $0 + $1.count } }
}
