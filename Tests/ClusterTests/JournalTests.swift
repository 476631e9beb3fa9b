import Base
import PushServices
import Runs
import TestSupport
import Testing

@testable import Cluster

@Suite("what workers write")
struct JournalTests {
    private static let noon = Timestamp(epochSeconds: 1_796_126_400)

    private func roundTrip(_ entry: RunEntry, sequence: Int = 7) -> RunEntry? {
        JournalEntry(entry, at: Self.noon).fetched(sequence: sequence)
    }

    /// Entries have a closure in one case, and so are compared as text.
    private func expectRoundTrip(_ entry: RunEntry, at location: SourceLocation = #_sourceLocation) {
        let read = roundTrip(entry).map { "\($0)" }
        #expect(read == "\(entry)", sourceLocation: location)
    }

    private func settlements(_ random: inout SeededRandom, from first: Int) -> [Settlement] {
        (0..<Int.random(in: 0...300, using: &random)).map { _ in
            var settled = Settlement(
                recipient: first + Int.random(in: 0..<5000, using: &random),
                outcome: Outcome.allCases.randomElement(using: &random) ?? .failed,
                status: [0, 200, 410, 503].randomElement(using: &random) ?? 0,
                reason: ["", "Unregistered", "BadDeviceToken", "ä „“"].randomElement(using: &random) ?? "",
                attempts: Int.random(in: 0...9, using: &random),
                latencyMilliseconds: Int.random(in: 0...100_000, using: &random),
                settledAt: Self.noon.adding(seconds: Double(Int.random(in: -90_000...90_000, using: &random))))
            if Bool.random(using: &random) { settled.invalidSince = Self.noon.adding(seconds: -86_400) }
            return settled
        }
    }

    @Test("entries are read as they were written")
    func entries() {
        var random = SeededRandom(1)
        for _ in 0..<200 {
            let outcomes = settlements(&random, from: 1 << Int.random(in: 0...39, using: &random))
            expectRoundTrip(.settled([outcomes]))
            let first = Int.random(in: 0..<1_000_000, using: &random)
            let claim = RunEntry.claimed(first..<first + 9000, unsent: settlements(&random, from: first), at: Self.noon)
            expectRoundTrip(claim)
            let ids = Set((0..<50).map { _ in Int.random(in: 0..<100_000, using: &random) }).sorted()
            expectRoundTrip(.reopened(ids, resendsUnknown: true, at: Self.noon))
        }
        for entry in [
            .epochBegan("", at: Self.noon, from: []), .rested, .callsForgotten([3, 1 << 40]),
            .receipts(["a", "", "ä"], service: 2),
            .deferred(4..<9, .quietHours, isTooLate: true, at: Self.noon),
        ] as [RunEntry] { expectRoundTrip(entry) }
    }

    @Test("calls get numbers from their place in the journal")
    func calls() {
        let calls = [
            NamedCall(service: 1, name: "x", namedAt: Self.noon, recipients: [9, 3, 4]),
            NamedCall(service: 0, name: "", namedAt: Self.noon.adding(seconds: -5), recipients: [1]),
        ]
        guard case .callsNamed(let read)? = roundTrip(.callsNamed(calls), sequence: 5) else {
            Issue.record("no calls")
            return
        }
        #expect(read.map(\.number) == [5 * 4096 + 1, 5 * 4096 + 2])
        #expect(read.map(\.recipients) == calls.map(\.recipients) && read.map(\.name) == ["x", ""])
    }

    @Test("an entry that was cut off or changed is not read as another, and crashes nobody")
    func damage() {
        var random = SeededRandom(2)
        let entry = JournalEntry(
            .settled([
                settlements(&random, from: 0) + [Settlement(recipient: 1, outcome: .accepted, settledAt: Self.noon)]
            ]), at: Self.noon)
        for length in 0..<entry.data.count {
            var cut = entry
            cut.data = Array(entry.data.prefix(length))
            #expect(cut.fetched(sequence: 1) == nil, "\(length)")
        }
        for change in [
            { $0.data.append(0) }, { $0.data = [0] },
            { $0.ids = $0.ids.lowerBound + 1..<$0.ids.upperBound + 1_000_000 },
        ] as [(inout JournalEntry) -> Void] {
            var changed = entry
            change(&changed)
            #expect(changed.fetched(sequence: 1) == nil)
        }
        for _ in 0..<2000 {
            var changed = entry
            changed.data[Int.random(in: 0..<entry.data.count, using: &random)] = UInt8.random(
                in: 0...255, using: &random)
            changed.kind =
                [.claimed, .settled, .reopened, .deferred, .callsNamed, .callsForgotten, .receipts].randomElement(
                    using: &random)
                ?? .claimed
            _ = changed.fetched(sequence: 1)
        }
    }

    @Test("recipients are read from a block as they were packed, also after others were left out")
    func blocks() {
        let recipients = [
            ["00ff" + String(repeating: "a", count: 60), "reg", "alias", "zh-Hans", "short", "[\"a \\\" b\"]"],
            ["", "", "", "", "", "[]"], ["not hex", "ä", "x", "", "", "[\"\"]"], ["ABCD", "", "", "de", "", "[]"],
            ["abc", "", "", "", "", "[]"],
        ]
        var writer = ByteWriter()
        for texts in recipients { lend(texts) { writer.put($0) } }
        writer.bytes.withUnsafeBytes { bytes in
            var reader = RecipientBlockReader(bytes)
            for texts in recipients { #expect(reader.next(Self.texts) == texts) }
            #expect(reader.isIntact && reader.isAtEnd)
            reader = RecipientBlockReader(bytes)
            for (number, texts) in recipients.enumerated() {
                if number.isMultiple(of: 2) { reader.skip() } else { #expect(reader.next(Self.texts) == texts) }
            }
            #expect(reader.isIntact && reader.isAtEnd)
        }
    }

    private static func texts(_ recipient: StoredRecipient) -> [String] {
        [
            recipient.token, recipient.registrationID, recipient.alias, recipient.language, recipient.variant,
            recipient.fields,
        ].map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private func lend(_ texts: [String], _ body: (StoredRecipient) -> Void) {
        func lent(_ place: Int, _ buffers: [UnsafeBufferPointer<UInt8>]) {
            guard place < texts.count else {
                return body(
                    StoredRecipient(
                        token: buffers[0], registrationID: buffers[1], alias: buffers[2], language: buffers[3],
                        variant: buffers[4],
                        fields: buffers[5]))
            }
            Array(texts[place].utf8).withUnsafeBufferPointer { lent(place + 1, buffers + [$0]) }
        }
        lent(0, [])
    }

    @Test("of a leased range is given what was not claimed, the lowest first, and it is exhausted once all is claimed")
    func leasedRanges() {
        var leasedRanges = LeasedRanges()
        leasedRanges.take(.init(ids: 10..<30, again: nil), besides: ClaimSet([14..<16]))
        leasedRanges.take(.init(ids: 50..<60, again: [RepeatedRecipient(id: 55, attempts: 2, mayHaveArrived: true)]))
        #expect(leasedRanges.next(atMost: 100, of: 0..<100) == 10..<14)
        #expect(leasedRanges.contain(16..<30) && !leasedRanges.contain(10..<17))
        leasedRanges.remove(10..<14)
        #expect(
            leasedRanges.next(atMost: 5, of: 0..<100) == 16..<21
                && leasedRanges.next(atMost: 5, of: 28..<100) == 28..<30)
        #expect(leasedRanges.exhausted == [])
        leasedRanges.remove(16..<30)
        leasedRanges.removeAgain([55])
        #expect(leasedRanges.next(atMost: 5, of: 0..<100) == nil && leasedRanges.exhausted == [10, 50])
    }

    @Test("a worker may settle what it has open, once; whom it gave back it may settle later")
    func own() {
        func settled(_ id: Int, _ outcome: Outcome = .accepted) -> Settlement {
            Settlement(recipient: id, outcome: outcome, settledAt: Self.noon)
        }
        var own = UnsettledPushes()
        own.open(1000..<1100)
        #expect(
            own.contain([settled(1000), settled(1099)]) && !own.contain([settled(999)])
                && !own.contain([settled(1000), settled(1000)]))
        own.settle([settled(1000), settled(1050, .unsent)])
        #expect(!own.contain([settled(1000)]) && own.contain([settled(1050)]) && !own.isIdle)
        own.settle((1000..<1100).filter { $0 != 1050 }.map { settled($0) })
        #expect(own.isIdle && own.contain([settled(1050)]))
        own.open([1050])
        #expect(!own.isIdle)
        own.open(5000..<7000)
        let all = own.settleAll(
            [settled(1050)] + (5000..<7000).reversed().map { settled($0, $0 == 6000 ? .unsent : .accepted) })
        #expect(all && own.isIdle && own.contain([settled(6000)]))
        let (again, unclaimed) = (own.settleAll([settled(5999)]), own.settleAll([settled(9)]))
        #expect(!again && !unclaimed)
        own.open(8000..<8002)
        let (twice, other) = (own.settleAll([settled(8000), settled(8000)]), own.settleAll([settled(8001)]))
        #expect(!twice && other)
    }

    @Test(
        "parts of a pace are the same after they were stored; what a worker that is gone cannot have used is free at once"
    )
    func parts() {
        var stored = DividedParts(text: "", limit: 90)
        #expect(stored.parts.beat(of: "1", number: 1, used: 0, wants: true) == 90)
        #expect(stored.parts.beat(of: "2", number: 1, used: 0, wants: true) == 0)
        let again = DividedParts(text: stored.text, limit: 90)
        #expect(again.parts.parts == stored.parts.parts && again.parts.turns == stored.parts.turns)
        stored.free(["1"], at: 1_000_000, after: 60)
        stored = DividedParts(text: stored.text, limit: 90)
        stored.free(["1"], at: 1_050_000, after: 60)
        // Three a second for thirteen seconds: a second's share of 90, rounded up, and one more.
        #expect(stored.parts.beat(of: "2", number: 2, used: 0, wants: true) == 90 - 39)
        stored.free(["1"], at: 1_061_001, after: 60)
        #expect(stored.parts.beat(of: "2", number: 3, used: 0, wants: true) == 90)
    }

    @Test(
        "what had left a worker that is gone counts, and what may have left it since its last beat",
        arguments: [0, 20, 80])
    func gone(left: Int) {
        var stored = DividedParts(text: "", limit: 90)
        #expect(stored.parts.beat(of: "1", number: 1, used: left, left: left, wants: true) == 90)
        stored = DividedParts(text: stored.text, limit: 90)
        for _ in 0..<2 { stored.free(["1"], at: 1_000_000, after: 60) }
        #expect(stored.parts.beat(of: "2", number: 1, used: 0, wants: true) == 90 - min(90, left + 39))
        // One that has said that nothing more leaves it.
        stored = DividedParts(text: "", limit: 90)
        #expect(stored.parts.beat(of: "1", number: 1, used: 90, left: left, wants: true) == 90)
        #expect(stored.parts.beat(of: "1", number: 2, used: left, left: left, wants: false) == 0)
        stored.free(["1"], at: 1_000_000, after: 60)
        #expect(stored.parts.beat(of: "2", number: 1, used: 0, wants: true) == 90 - left)
    }
}
