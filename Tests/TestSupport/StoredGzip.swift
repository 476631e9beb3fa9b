/// Gzip data (RFC 1952) that contains its text unchanged, in stored blocks (RFC 1951, section
/// 3.2.4).
public enum StoredGzip {
    /// Optional parts of a member's header (RFC 1952, section 2.3.1): FHCRC, FEXTRA, FNAME and
    /// FCOMMENT.
    public struct Fields: OptionSet, Sendable {
        /// The bits of FLG.
        public let rawValue: UInt8
        /// FLG.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The optional parts.
        public static let headerChecksum = Fields(rawValue: 2), extra = Fields(rawValue: 4), name = Fields(rawValue: 8),
            comment = Fields(rawValue: 16)
    }

    /// Wraps a text, with a member for every `memberSize` bytes; if the number of members is
    /// divisible by three, the file is padded as on tapes.
    public static func wrap(_ text: [UInt8], memberSize: Int) -> [UInt8] {
        let starts = stride(from: 0, to: max(text.count, 1), by: memberSize)
        let members = starts.flatMap { member(Array(text[$0..<min($0 + memberSize, text.count)])) }
        return Array(starts).count.isMultiple(of: 3) ? padded(members) : members
    }

    /// A file with zeros after it until its last block is full: blocks of tapes have 512 bytes.
    public static func padded(_ file: [UInt8]) -> [UInt8] {
        file + [UInt8](repeating: 0, count: (512 - file.count % 512) % 512)
    }

    /// One member.
    public static func member(_ text: [UInt8], _ fields: Fields = []) -> [UInt8] {
        var member: [UInt8] = [0x1F, 0x8B, 8, fields.rawValue, 0, 0, 0, 0, 0, 255]
        if fields.contains(.extra) {
            member += littleEndian(UInt16(8)) + Array("AB".utf8) + littleEndian(UInt16(4)) + Array("wxyz".utf8)
        }
        if fields.contains(.name) { member += Array("devices.csv\0".utf8) }
        if fields.contains(.comment) { member += Array("all of them\0".utf8) }
        if fields.contains(.headerChecksum) { member += littleEndian(UInt16(truncatingIfNeeded: checksum(member))) }
        for start in stride(from: 0, to: max(text.count, 1), by: 0xFFFF) {
            let block = text[start..<min(start + 0xFFFF, text.count)]
            member.append(start + 0xFFFF >= text.count ? 1 : 0)
            member += littleEndian(UInt16(block.count)) + littleEndian(~UInt16(block.count)) + block
        }
        return member + littleEndian(checksum(text)) + littleEndian(UInt32(text.count))
    }

    private static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    /// CRC-32 (RFC 1952, section 8).
    private static func checksum(_ text: [UInt8]) -> UInt32 {
        var sum: UInt32 = ~0
        for byte in text {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 != 0 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
        }
        return ~sum
    }
}
