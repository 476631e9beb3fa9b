import Testing

@testable import Planning

@Suite("sizes of payloads")
struct PayloadBytesTests {
    private func bytes(_ sizes: [Int]) -> PayloadBytes? {
        PayloadBytes(counts: Dictionary(sizes.map { ($0, 1) }, uniquingKeysWith: +))
    }

    @Test("have no figures without payloads")
    func none() { #expect(bytes([]) == nil) }

    @Test("have the middle one as median, the lower of two middles")
    func median() {
        #expect(bytes([7]).map { [$0.min, $0.p50, $0.max] } == [7, 7, 7])
        #expect(bytes([3, 9]).map { [$0.min, $0.p50, $0.max] } == [3, 3, 9])
        #expect(bytes([1, 50, 99]).map { [$0.min, $0.p50, $0.max] } == [1, 50, 99])
    }
}
