import Testing

@testable import Base

@Suite("parts of a range")
struct RangePartsTests {
    @Test("cover it in order, whole units each but the last, one for each thread at most", arguments: 1...9)
    func cover(threads: Int) {
        let shares = RangeParts(unit: 10, threads: threads)
        for count in [1, 9, 10, 11, 35, 80, 99, 100, 1001] {
            let parts = shares.parts(of: 7..<7 + count)
            #expect(parts.first?.lowerBound == 7 && parts.last?.upperBound == 7 + count && parts.count <= threads)
            #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
            #expect(parts.allSatisfy { !$0.isEmpty } && parts.dropLast().allSatisfy { $0.count % 10 == 0 })
            let units = parts.map { ($0.count + 9) / 10 }
            #expect((units.max() ?? 0) - (units.min() ?? 0) <= 1)
        }
    }

    @Test("a range of one unit has one part, and so has an empty one")
    func small() {
        #expect(RangeParts(unit: 1000, threads: 8).parts(of: 5..<1005) == [5..<1005])
        #expect(RangeParts(unit: 1000, threads: 8).parts(of: 5..<5) == [5..<5])
    }
}
