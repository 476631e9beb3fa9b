import Testing

@testable import VolleyKit

@Suite("parts of a claim")
struct ClaimPartsTests {
    @Test("cover it in order, whole batches each but the last, one for each thread at most", arguments: 1...9)
    func cover(renderers: Int) {
        let shares = ClaimParts(unit: 10, renderers: renderers)
        for count in [1, 9, 10, 11, 35, 80, 99, 100, 1001] {
            let parts = shares.parts(of: 7..<7 + count)
            #expect(parts.first?.lowerBound == 7 && parts.last?.upperBound == 7 + count && parts.count <= renderers)
            #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
            #expect(parts.allSatisfy { !$0.isEmpty } && parts.dropLast().allSatisfy { $0.count % 10 == 0 })
            let batches = parts.map { ($0.count + 9) / 10 }
            #expect((batches.max() ?? 0) - (batches.min() ?? 0) <= 1)
        }
    }

    @Test("a claim of one batch has one part")
    func small() {
        #expect(ClaimParts(unit: 1000, renderers: 8).parts(of: 5..<1005) == [5..<1005])
    }
}
