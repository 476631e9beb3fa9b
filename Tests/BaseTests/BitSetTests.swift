import Testing

@testable import Base

@Suite struct BitSetTests {
    @Test("holds what was put in, in order, once")
    func contents() {
        let numbers = [700, 0, 63, 64, 65, 5000, 64, 0]
        let set = BitSet(numbers)
        var found: [Int] = []
        set.forEach { found.append($0) }
        #expect(found == [0, 63, 64, 65, 700, 5000] && set.count == 6 && !set.isEmpty)
        #expect((-1...6000).allSatisfy { set.contains($0) == numbers.contains($0) })
        #expect(BitSet().isEmpty && !BitSet().contains(0) && BitSet() == [])
    }

    @Test("a rank counts the numbers below")
    func ranks() {
        var random = SystemRandomNumberGenerator()
        let numbers = (0..<20_000).filter { _ in random.next() % 3 == 0 } + [19_999, 20_000, 90_000, 90_001]
        let ranks = BitSet(numbers).ranks
        for (rank, number) in Set(numbers).sorted().enumerated() where ranks[number] != rank {
            Issue.record("\(number) has \(ranks[number])")
        }
    }

    @Test("recipients that were stored come back whole, without slots")
    func storedRecipients() throws {
        var batch = RecipientBatch()
        let recipients = (0..<5).map { number in
            Recipient(
                token: Target(normalized: "abcd000\(number)"), registrationID: "r\(number)",
                alias: number == 2 ? "" : "家庭",
                language: "de", fields: ["Ann\"a", "\(number)"])
        }
        for (slot, recipient) in recipients.enumerated() { batch.append(recipient, at: slot) }
        var bytes: [UInt8] = []
        batch.store(into: &bytes)
        var stored = RecipientBatch(stored: bytes)
        var found: [Int: Recipient?] = [:]
        stored.forEach { found[$0] = Recipient($1) }
        #expect(stored.count == 5 && found.isEmpty)
        stored.setSlot(7, of: 3)
        stored.append(recipients[0], at: 9)
        stored.forEach { found[$0] = Recipient($1) }
        #expect(found == [7: recipients[3], 9: recipients[0]])
        bytes = []
        RecipientBatch().store(into: &bytes)
        #expect(RecipientBatch(stored: bytes).count == 0)
    }

    @Test("recipients keep the numbers of their services, which cost nothing where there is one")
    func services() {
        func stored(_ services: [UInt8]) -> [UInt8] {
            var batch = RecipientBatch()
            for (slot, service) in services.enumerated() {
                batch.append(Recipient(token: Target(normalized: "abcd"), fields: []), at: slot, service: service)
            }
            var bytes: [UInt8] = []
            batch.store(into: &bytes)
            return bytes
        }
        var batch = RecipientBatch(stored: stored([0, 3, 255]))
        batch.complete(
            .init(
                token: batch.bytes.count, registrationID: batch.bytes.count, alias: batch.bytes.count,
                language: batch.bytes.count,
                fields: batch.bytes.count), service: 9)
        batch.setService(4, of: 0)
        #expect((0..<4).map { batch.withRecord($0) { $0.service } } == [4, 3, 255, 9])
        #expect(batch.withRecord(2) { String(decoding: $0.token, as: UTF8.self) } == "abcd")
        #expect(stored([0, 0, 0]).count == stored([0, 0, 1]).count - 3)
    }
}
