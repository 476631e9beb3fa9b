import Base
import Testing

@testable import Planning

@Suite("Counting different texts")
struct DistinctTextsTests {
    private func count(of number: Int, times: Int = 1, seed: UInt64 = 7) -> Int {
        var texts = DistinctTexts()
        for _ in 0..<times {
            var random = SplitMix(seed: seed)
            for _ in 0..<number { texts.insert(random.next()) }
        }
        return texts.count
    }

    @Test("some thousands are counted exactly, however often each comes", arguments: [0, 1, 2, 4095, 4096])
    func exact(number: Int) { #expect(count(of: number) == number && count(of: number, times: 3) == number) }

    @Test("texts that differ in one byte, or in their lengths, are different")
    func hashes() {
        var texts = (0..<100_000).map { Array("{\"title\":\"Hello Name\($0)\"}".utf8) }
        texts += (0..<40).map { Array(repeating: 0, count: $0) }
        #expect(Set(texts.map { DistinctTexts.hash(of: $0[...]) }).count == texts.count)
        var counted = DistinctTexts()
        for text in texts { counted.insert(DistinctTexts.hash(of: text[...])) }
        #expect(abs(Double(counted.count) / Double(texts.count) - 1) < 0.08, "\(counted.count)")
    }

    @Test(
        "many are estimated within some percent, and repeats change nothing", arguments: [4097, 8192, 50_000, 400_000])
    func estimate(number: Int) {
        for seed in 1...5 as ClosedRange<UInt64> {
            let counted = count(of: number, seed: seed)
            #expect(abs(Double(counted) / Double(number) - 1) < 0.08, "\(counted)")
            #expect(count(of: number, times: 2, seed: seed) == counted)
        }
    }
}
