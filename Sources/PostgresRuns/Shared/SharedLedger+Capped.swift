package import Base
import Postgres
import Runs
import Synchronization

/// Frequency caps of a run that several machines send. Only the machine that has the run's file knows what its other runs have sent: it says who gets nothing
/// (as of each round, as for a run that it sends alone), and the others leave exactly those out. Until they know, they send nothing.
///
/// What was said is forgotten with each new life, each pause and each end of a pause (`change(to:…)`): other runs may have sent meanwhile.
extension SharedLedger {
    /// Finds recipients that may get no more pushes, and says so to all members. For the machine that has the run's file.
    /// - Parameter isCapped: whether a device may get no more, by its target; nil if there is none of them.
    /// - Returns: their ids.
    /// - Throws: `NotSending`: this member was declared dead, or the run has another life. `Diagnostic`: the store or the file cannot be used.
    package func shareCapped(_ isCapped: ((_ target: UnsafeBufferPointer<UInt8>) -> Bool)?) throws -> BitSet {
        var capped = BitSet()
        if let isCapped {
            try replica.forEachStoredRecipient(in: 0..<plan.audience) { id, recipient in
                if isCapped(recipient.token) { capped.insert(id) }
            }
        }
        let (me, life) = state.withLock { ($0.sender, $0.life) }
        guard let me else { throw NotSending(isCancelled: false) }
        let bytes = CappedIDs.bytes(of: capped)
        let count = try ask { connection in
            try connection.run(
                """
                UPDATE volley_run SET capped = $2 WHERE number = $1 AND life = $3
                    AND EXISTS (SELECT 1 FROM volley_sender WHERE number = $4 AND dead_at IS NULL FOR SHARE)
                """, [.int(run), .bytes(bytes), .text(life ?? ""), .int(me)], within: asking.answerSeconds)
        }
        guard count == 1 else { throw NotSending(isCancelled: false) }
        return capped
    }

    /// Recipients that may get no more pushes, by their ids; nil while the machine that has the run's file has not said.
    package func cappedIDs() throws -> BitSet? {
        var bytes: [UInt8]?
        try ask { connection in
            try connection.run("SELECT capped FROM volley_run WHERE number = $1", [.int(run)], within: asking.answerSeconds) {
                bytes = $0.isNull(0) ? nil : Array($0.bytes(0))
            }
        }
        guard let bytes else { return nil }
        guard let ids = CappedIDs.read(bytes, below: plan.audience) else {
            throw broken("the set of those who may get no more pushes cannot be read")
        }
        return ids
    }
}

/// Ids as the store keeps them: of each the distance from the one before, ascending.
enum CappedIDs {
    static func bytes(of ids: BitSet) -> [UInt8] {
        var writer = ByteWriter(), last = 0
        writer.reserve(ids.count)
        ids.forEach { id in
            writer.put(id - last)
            last = id
        }
        return writer.bytes
    }

    /// nil if they cannot be read.
    static func read(_ bytes: [UInt8], below audience: Int) -> BitSet? {
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes), ids = BitSet(), last = 0
            while !reader.isAtEnd {
                let (id, isTooLarge) = last.addingReportingOverflow(reader.number())
                guard reader.isIntact, !isTooLarge, id >= last, id < audience else { return nil }
                ids.insert(id)
                last = id
            }
            return ids
        }
    }
}
