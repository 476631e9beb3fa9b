import Base
import Runs

/// An entry of the journal as the store keeps it.
struct JournalEntry {
    /// What it is about: the entries that several machines tell one another. The numbers are those
    /// of `volley_journal.kind`.
    enum Kind: Int {
        case claimed = 1, settled, reopened, deferred, callsNamed, callsForgotten, receipts, epochBegan, rested
    }

    var kind: Kind
    /// The recipients that it is about are in it.
    var ids: Range<Int>
    /// When it was written, by the worker's idea of the database's clock.
    var at: Timestamp
    var data: [UInt8]
}

extension JournalEntry {
    /// Packs what happened. Only entries of a `Kind` are in the journal.
    /// - Parameter now: for what has no moment of its own.
    init(_ entry: RunEntry, at now: Timestamp) {
        var writer = ByteWriter()
        var at = now, ids = 0..<0
        switch entry {
        case .claimed(let range, let unsent, let moment):
            (kind, ids, at) = (.claimed, range, moment)
            writer.put(unsent, from: range.lowerBound, since: moment)
        case .settled(let parts):
            let settlements = parts.count == 1 ? parts[0] : parts.flatMap(\.self)
            kind = .settled
            ids = Self.bounds(of: settlements.lazy.map(\.recipient))
            at = settlements.last?.settledAt ?? now
            writer.put(settlements, from: ids.lowerBound, since: at)
        case .reopened(let recipients, let resendsUnknown, let moment):
            (kind, ids, at) = (.reopened, Self.bounds(of: recipients), moment)
            writer.put(resendsUnknown ? 1 : 0)
            writer.put(raw: RecipientList.bytes(of: recipients))
        case .deferred(let range, let reason, let isTooLate, let moment):
            (kind, ids, at) = (.deferred, range, moment)
            writer.put(isTooLate ? 1 : 0)
            writer.put(reason.rawValue)
        case .callsNamed(let calls):
            kind = .callsNamed
            ids = Self.bounds(of: calls.lazy.flatMap(\.recipients))
            writer.put(calls)
        case .callsForgotten(let numbers):
            kind = .callsForgotten
            writer.put(numbers.count)
            for number in numbers { writer.put(number) }
        case .receipts(let receipts, let service):
            kind = .receipts
            writer.put(service)
            writer.put(receipts.count)
            for receipt in receipts { writer.put(receipt) }
        case .epochBegan(_, let moment, _): (kind, at) = (.epochBegan, moment)
        case .rested: kind = .rested
        case .lost, .segment, .state, .finished, .ordered, .epochNoted, .epochConfirmed, .epochEnded, .claimsNoted:
            preconditionFailure("the journal has no such entry")
        }
        (self.ids, self.at, data) = (ids, at, writer.bytes)
    }

    private static func bounds(of recipients: some Sequence<Int>) -> Range<Int> {
        var (least, most) = (Int.max, Int.min)
        for id in recipients { (least, most) = (min(least, id), max(most, id)) }
        return least <= most ? least..<most + 1 : 0..<0
    }

    /// Unpacks it.
    /// - Parameter sequence: its place in the journal, by which the calls in it are numbered.
    /// - Returns: nil if it is not what `init` makes.
    func fetched(sequence: Int) -> RunEntry? {
        data.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            let entry = fetched(&reader, sequence)
            return reader.isIntact && reader.isAtEnd ? entry.flatMap { isAbout($0) ? $0 : nil } : nil
        }
    }

    /// Whether `ids` are those of what was unpacked: a row that was damaged may still be read, as
    /// less or as about other recipients.
    private func isAbout(_ entry: RunEntry) -> Bool {
        switch entry {
        case .settled(let parts): Self.bounds(of: parts.lazy.joined().map(\.recipient)) == ids
        case .claimed(_, let unsent, _): unsent.allSatisfy { ids.contains($0.recipient) }
        case .reopened(let recipients, _, _): Self.bounds(of: recipients) == ids
        case .callsNamed(let calls): Self.bounds(of: calls.lazy.flatMap(\.recipients)) == ids
        default: true
        }
    }

    private func fetched(_ reader: inout ByteReader, _ sequence: Int) -> RunEntry? {
        switch kind {
        case .claimed:
            return reader.settlements(from: ids.lowerBound, since: at).map { .claimed(ids, unsent: $0, at: at) }
        case .settled: return reader.settlements(from: ids.lowerBound, since: at).map { .settled([$0]) }
        case .reopened:
            let resendsUnknown = reader.number() == 1
            return reader.recipients().map { .reopened($0, resendsUnknown: resendsUnknown, at: at) }
        case .deferred:
            let isTooLate = reader.number() == 1
            return OwnReason(rawValue: reader.string()).map { .deferred(ids, $0, isTooLate: isTooLate, at: at) }
        case .callsNamed: return reader.calls(sequence: sequence, at: at).map { .callsNamed($0) }
        case .callsForgotten:
            let count = reader.number()
            guard count <= data.count else { return nil }
            return .callsForgotten((0..<max(0, count)).map { _ in reader.number() })
        case .receipts:
            let service = reader.number(), count = reader.number()
            guard count <= data.count else { return nil }
            return .receipts((0..<max(0, count)).map { _ in reader.string() }, service: service)
        case .epochBegan: return .epochBegan("", at: at, from: [])
        case .rested: return .rested
        }
    }
}

extension ByteWriter {
    /// Settlements whose reasons are written once.
    fileprivate mutating func put(_ settlements: [Settlement], from first: Int, since moment: Timestamp) {
        reserve(16 * settlements.count + 16)
        put(settlements.count)
        var reasons: [String: Int] = [:]
        var before = first
        // Neighbours mostly have the same reason: the dictionary is asked when it changes.
        var last = ("", 0)
        for settled in settlements {
            put(signed: settled.recipient - before)
            before = settled.recipient
            put(byte: UInt8(truncatingIfNeeded: settled.outcome.rawValue) | (settled.invalidSince == nil ? 0 : 0x80))
            put(settled.status)
            if last.0 != settled.reason {
                last = (settled.reason, settled.reason.isEmpty ? 0 : reasons[settled.reason] ?? -1)
            }
            if last.1 < 0 {
                last.1 = reasons.count + 1
                reasons[settled.reason] = last.1
                put(last.1)
                put(settled.reason)
            } else {
                put(last.1)
            }
            put(settled.attempts)
            put(settled.latencyMilliseconds)
            put(signed: Int(settled.settledAt.epochMilliseconds - moment.epochMilliseconds))
            if let since = settled.invalidSince { put(signed: Int(since.epochMilliseconds)) }
        }
    }

    fileprivate mutating func put(_ calls: [NamedCall]) {
        put(calls.count)
        for call in calls {
            put(call.service)
            put(call.name)
            put(signed: Int(call.namedAt.epochMilliseconds))
            let recipients = RecipientList.bytes(of: call.recipients)
            put(recipients.count)
            put(raw: recipients)
        }
    }
}

extension ByteReader {
    fileprivate mutating func settlements(from first: Int, since moment: Timestamp) -> [Settlement]? {
        let count = number()
        var settlements: [Settlement] = []
        settlements.reserveCapacity(min(count, 1 << 20))
        var reasons = [""]
        var before = first
        for _ in 0..<max(0, count) {
            guard isIntact else { return nil }
            let (recipient, isFar) = before.addingReportingOverflow(signed())
            guard !isFar, (0...1 << 40).contains(recipient) else { return nil }
            before = recipient
            let flags = byte()
            guard let outcome = Outcome(rawValue: Int(flags & 0x7F)) else { return nil }
            let status = number(), place = number()
            if place == reasons.count { reasons.append(string()) }
            guard reasons.indices.contains(place) else { return nil }
            let attempts = number(), latency = number(), elapsed = signed()
            guard let settledAt = Self.moment(moment.epochMilliseconds, elapsed) else { return nil }
            var settled = Settlement(
                recipient: before, outcome: outcome, status: status, reason: reasons[place], attempts: attempts,
                latencyMilliseconds: latency, settledAt: settledAt)
            if flags & 0x80 != 0 {
                guard let since = Self.moment(0, signed()) else { return nil }
                settled.invalidSince = since
            }
            settlements.append(settled)
        }
        return settlements
    }

    /// A moment, in milliseconds after another; nil for one outside the years 1 to 9999.
    private static func moment(_ start: Int64, _ milliseconds: Int) -> Timestamp? {
        let (moment, isFar) = start.addingReportingOverflow(Int64(milliseconds))
        guard !isFar, (-62_135_596_800_000...253_402_300_799_999).contains(moment) else { return nil }
        return Timestamp(epochMilliseconds: moment)
    }

    fileprivate mutating func recipients() -> [Int]? {
        var rest: [UInt8] = []
        while !isAtEnd { rest.append(byte()) }
        return rest.withUnsafeBytes { RecipientList.read($0) }
    }

    fileprivate mutating func calls(sequence: Int, at moment: Timestamp) -> [NamedCall]? {
        var calls: [NamedCall] = []
        let count = number()
        for place in 0..<max(0, min(count, JournalEntry.mostCalls)) {
            let service = number(), name = string(), moment = signed(), bytes = number()
            let (first, isFar) = sequence.multipliedReportingOverflow(by: JournalEntry.mostCalls)
            guard !isFar, first < 1 << 62, let namedAt = Self.moment(0, moment),
                let recipients = RecipientList.read(raw(bytes))
            else {
                return nil
            }
            calls.append(
                NamedCall(
                    number: first + place + 1, service: service, name: name, namedAt: namedAt,
                    recipients: recipients))
        }
        return calls
    }
}

extension JournalEntry {
    /// Calls of an entry at most: their numbers follow from its place in the journal.
    static let mostCalls = 4096
}
