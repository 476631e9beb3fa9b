/// How many different texts there are among many, from their hashes: exact up to `kept`, then an estimate that is off by about 1.6 %.
///
/// It keeps the smallest hashes (Bar-Yossef et al., "Counting distinct elements in a data stream"): if the largest of k different ones lies
/// at the part p of all hashes, there are about (k − 1) / p texts.
struct DistinctTexts: Sendable {
    /// So many hashes are kept.
    static let kept = 4096

    private var hashes: Set<UInt64> = []
    /// Only smaller hashes can be among those that are kept.
    private(set) var bound = UInt64.max

    mutating func insert(_ hash: UInt64) {
        guard hash < bound else { return }
        hashes.insert(hash)
        // Sorted once for many that came.
        if hashes.count == 2 * Self.kept { trim() }
    }

    private mutating func trim() {
        let sorted = hashes.sorted()
        bound = sorted[Self.kept]
        hashes = Set(sorted[..<Self.kept])
    }

    /// A hash of a text: the same in every process, so that a preview says the same each time.
    static func hash(of text: ArraySlice<UInt8>) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: text.count)
        text.withUnsafeBytes { bytes in
            var offset = 0
            while offset + 8 <= bytes.count {
                mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)), into: &hash)
                offset += 8
            }
            var rest: UInt64 = 0
            for byte in bytes[offset...] { rest = rest << 8 | UInt64(byte) }
            mix(rest, into: &hash)
        }
        return hash
    }

    /// The steps of SplitMix64 (`SplitMix`), of which each is a bijection.
    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = (hash ^ word) &+ 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 30) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ hash >> 27) &* 0x94D0_49BB_1331_11EB
        hash ^= hash >> 31
    }

    /// The number of texts.
    var count: Int {
        guard hashes.count > Self.kept || bound < .max else { return hashes.count }
        let smallest = hashes.sorted().prefix(Self.kept)
        guard let largest = smallest.last else { return 0 }
        return Int(Double(smallest.count - 1) / (Double(largest) / Double(UInt64.max)))
    }
}
