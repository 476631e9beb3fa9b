/// Gzip files (RFC 1952) that hold their text as it is, in stored blocks (RFC 1951, section 3.2.4).
enum StoredGzip {
    /// Wraps a text, a member for every so many bytes; every third member is padded as tapes are.
    static func wrap(_ text: [UInt8], memberSize: Int) -> [UInt8] {
        stride(from: 0, to: max(text.count, 1), by: memberSize).enumerated().flatMap { index, start in
            member(Array(text[start..<min(start + memberSize, text.count)])) + (index % 3 == 2 ? [0, 0, 0] : [])
        }
    }

    /// - Parameter text: at most 65,535 bytes.
    private static func member(_ text: [UInt8]) -> [UInt8] {
        let count = UInt16(text.count)
        let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        return header + [1] + littleEndian(count) + littleEndian(~count) + text + littleEndian(checksum(text))
            + littleEndian(UInt32(text.count))
    }

    private static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    /// CRC-32 (RFC 1952, section 8).
    private static func checksum(_ text: [UInt8]) -> UInt32 {
        ~text.reduce(~0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 != 0 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
        }
    }
}
