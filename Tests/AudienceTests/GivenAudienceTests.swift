import Base
import Testing

@testable import Audience

@Suite("Recipients that need no export")
struct GivenAudienceTests {
    private final class Sink: RecipientSink {
        var received: [(slot: Int, token: String)] = []
        var dropped: [Int] = []
        var slots = 0
        let recordLimit = Int.max

        func receive(_ batch: RecipientBatch) {
            batch.forEach { received.append(($0, String(decoding: $1.token, as: UTF8.self))) }
        }

        func finish(slots: Int, dropping dropped: BitSet) {
            self.slots = slots
            dropped.forEach { self.dropped.append($0) }
        }
    }

    private static func recipients(_ targets: String...) -> [Recipient] {
        targets.map { Recipient(token: Target(normalized: $0), fields: [""]) }
    }

    @Test("each has its slot, and is counted as its check says")
    func counts() throws {
        let sink = Sink()
        let result = try GivenAudience(Self.recipients("tags/a", "tags/long", "everyone")).scan(into: sink) { record in
            record.token.count == 9
                ? RecipientCheck(payloadBytes: 9000, reason: .payloadTooLarge)
                : RecipientCheck(payloadBytes: 100, wave: record.token.count)
        }
        #expect(
            sink.received.map(\.slot) == [0, 1, 2] && sink.received.map(\.token) == ["tags/a", "tags/long", "everyone"])
        #expect(sink.slots == 3 && sink.dropped == [1])
        #expect(result.rows == 3 && result.audience == 2 && result.skipped == [.payloadTooLarge: 1])
        #expect(result.payloadBytes == [100: 2] && result.groups == [0: 2] && result.waves == [6: 1, 8: 1])
        #expect(result.largestSkippedPayload == AudienceResult.measurablePayload)
        #expect(result.firstRecipients[0]?.map(\.slot) == [0, 2])
    }

    @Test("the same recipients in the same order have the same digest, and no others do")
    func digest() throws {
        func digest(_ targets: String...) throws -> [UInt64] {
            try GivenAudience(targets.map { Recipient(token: Target(normalized: $0)) }).scan(into: Sink()) { _ in
                RecipientCheck()
            }.digest
        }
        #expect(
            try digest("a", "b") == digest("a", "b") && digest("a", "b") != digest("b", "a")
                && digest("a") != digest("a", "b"))
    }

    @Test("none are none") func none() throws {
        let sink = Sink()
        let result = try GivenAudience([]).scan(into: sink) { _ in RecipientCheck() }
        #expect(result.audience == 0 && result.rows == 0 && sink.slots == 0 && sink.received.isEmpty)
    }
}
