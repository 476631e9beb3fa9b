import Runs
import Testing

/// Compared with a set of numbers that does the same slowly.
@Suite("claims as a set of ranges")
struct ClaimSetTests {
    private static let ids = 0..<48

    /// The normal form of sets of ranges, so that equal ones are equal.
    private func isTidy(_ claims: ClaimSet) -> Bool {
        claims.ranges.allSatisfy { !$0.isEmpty }
            && zip(claims.ranges, claims.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }
    }

    private func anyRange(_ random: inout Seeded) -> Range<Int> {
        let first = Int.random(in: Self.ids, using: &random)
        return first..<min(Self.ids.upperBound, first + Int.random(in: 0...7, using: &random))
    }

    @Test("it answers as a set of numbers does, whatever is put in", arguments: 0..<200)
    func property(seed: Int) {
        var random = Seeded(state: UInt64(seed))
        var (claims, numbers): (ClaimSet, Set<Int>) = (ClaimSet(), [])
        var inserted: [Range<Int>] = []
        for _ in 0..<Int.random(in: 1...14, using: &random) {
            let range = anyRange(&random)
            claims.insert(range)
            numbers.formUnion(range)
            inserted.append(range)
            #expect(isTidy(claims))
            #expect(claims.ranges.flatMap(\.self) == numbers.sorted())
            #expect(claims.count == numbers.count && claims.isEmpty == numbers.isEmpty)
        }
        for id in -2..<Self.ids.upperBound + 2 { #expect(claims.contains(id) == numbers.contains(id)) }
        for _ in 0..<20 {
            let range = anyRange(&random)
            #expect(claims.contains(all: range) == numbers.isSuperset(of: range))
            let (inside, outside) = (claims.ranges(in: range), claims.gaps(in: range))
            #expect(inside.flatMap(\.self) == numbers.intersection(range).sorted())
            #expect(outside.flatMap(\.self) == Set(range).subtracting(numbers).sorted())
            #expect(
                isTidy(ClaimSet(inside)) && ClaimSet(inside).ranges == inside && ClaimSet(outside).ranges == outside)
        }
        #expect(ClaimSet(inserted.shuffled(using: &random)) == claims)
    }

    @Test("claims that follow one another are one range")
    func inOrder() {
        var claims = ClaimSet()
        for start in stride(from: 0, to: 10_000_000, by: 4000) { claims.insert(start..<start + 4000) }
        #expect(claims.ranges == [0..<10_000_000])
        #expect(claims.gaps(in: 9_999_000..<10_000_002) == [10_000_000..<10_000_002])
    }

    @Test("nobody is in none of its ranges, and everybody can be claimed yet")
    func empty() {
        #expect(ClaimSet().isEmpty && ClaimSet().gaps(in: 3..<9) == [3..<9] && ClaimSet().ranges(in: 3..<9).isEmpty)
        #expect(ClaimSet([5..<5, 7..<7]).isEmpty && ClaimSet().gaps(in: 4..<4).isEmpty)
        #expect(ClaimSet().contains(all: 2..<2) && !ClaimSet().contains(2))
    }
}
