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
                token: Target(normalized: "abcd000\(number)"), registrationID: "r\(number)", alias: number == 2 ? "" : "家庭",
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
}
