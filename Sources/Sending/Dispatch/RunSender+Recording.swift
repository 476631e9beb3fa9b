import Base
import Delivery
import Runs

/// The work of the recorder's thread: it writes settlements into the run file.
extension RunSender {
    /// Records settlements, group by group. If the run file cannot be written, sending stops.
    /// Volley then tries to record the rest for a few more seconds, in case disk space is freed.
    func record(from results: BoundedQueue<[Settlement]>, _ state: SendState, _ segments: [SegmentSending]) {
        var unrecorded: [[Settlement]] = []
        let groups = SettlementBatcher(results)
        while let group = groups.next() {
            for part in group.lazy.map(state.completed) {
                state.progress.add(part)
                session?.count(part)
                options.observer(.settled(part))
                unrecorded.append(part)
            }
            do {
                try noteReceipts(segments)
                try run.append(.settled(unrecorded))
                noteRecorded(unrecorded, state, segments)
                unrecorded.removeAll(keepingCapacity: true)
            } catch let end as SendingRevoked {
                segments.interrupt(.cancelled)
                if !end.isCancelled { state.fail(.ledger(.takenOver)) }
            } catch {
                segments.interrupt()
                state.fail(.ledger(.recordingFailed("\(error)")))
            }
        }
        // A store was waited for already.
        var retries = Retries(atMost: session == nil ? 20 : 0, milliseconds: 250)
        while !unrecorded.isEmpty, retries.pause() {
            if (try? run.append(.settled(unrecorded))) != nil { unrecorded = [] }
        }
        try? noteReceipts(segments)
        guard !unrecorded.isEmpty else { return }
        let others: UnknownPolicy = segments.contains { $0.access.resendsUnknown } ? .resend : .skip
        options.observer(.unrecorded(Self.count(unrecorded), byOthers: session == nil ? nil : others))
    }

    /// Records receipts, before the outcomes that came with them.
    private func noteReceipts(_ segments: [SegmentSending]) throws {
        for segment in segments {
            let receipts = segment.receipts.take()
            guard !receipts.isEmpty else { continue }
            do { try run.append(.receipts(receipts, service: segment.segment.service)) } catch {
                segment.receipts.putBack(receipts)
                throw error
            }
        }
    }

    /// The settlements of a part come from one sender, and so are of one segment.
    private func noteRecorded(_ parts: [[Settlement]], _ state: SendState, _ segments: [SegmentSending]) {
        state.recorded.add(Self.count(parts))
        if segments.count == 1 { return segments[0].recorded.add(Self.count(parts)) }
        for part in parts {
            guard let first = part.first,
                let segment = segments.first(where: { $0.segment.ids.contains(first.recipient) })
            else {
                continue
            }
            segment.recorded.add(part.count)
        }
    }

    private static func count(_ parts: [[Settlement]]) -> Int { parts.reduce(0) { $0 + $1.count } }
}
