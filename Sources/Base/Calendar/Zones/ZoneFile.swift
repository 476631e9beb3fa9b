/// A zone's file as written by the tz database's compiler. Source: RFC 9636, TZif; reads only what
/// clocks need. The bytes may be anything.
struct ZoneFile {
    /// Ascending, seconds since 1970.
    var transitions: [Int64]
    /// Seconds east of UTC from each transition on.
    var offsets: [Int]
    /// Seconds east of UTC before the first transition.
    var firstOffset: Int
    /// The rule for all times after the last transition; nil if the file ends without one.
    var footer: PosixZone?

    private struct Header {
        static let length = 44
        var isUTCCount, isStandardCount, leapCount, timeCount, typeCount, characterCount: Int
    }

    /// nil if the bytes are not a zone of format 2 or later, or count leap seconds.
    init?(_ bytes: [UInt8]) {
        guard let (header, block64) = Self.newBlock(of: bytes), header.typeCount > 0, header.leapCount == 0 else {
            return nil
        }
        let rest = block64.dropFirst(Header.length)
        let block =
            header.timeCount * 9 + header.typeCount * 6 + header.characterCount + header.isStandardCount
            + header.isUTCCount
        guard rest.count >= block else { return nil }
        let types = rest.dropFirst(header.timeCount * 9)
        let offsetOfType = (0..<header.typeCount).map { type in
            Int(Int32(truncatingIfNeeded: Self.number(types.dropFirst(type * 6).prefix(4))))
        }
        guard offsetOfType.allSatisfy({ abs($0) <= ZoneRules.largestOffset }) else { return nil }
        transitions = (0..<header.timeCount).map { Int64(bitPattern: Self.number(rest.dropFirst($0 * 8).prefix(8))) }
        let indices = rest.dropFirst(header.timeCount * 8).prefix(header.timeCount)
        guard indices.allSatisfy({ Int($0) < header.typeCount }),
            zip(transitions, transitions.dropFirst()).allSatisfy(<)
        else {
            return nil
        }
        offsets = indices.map { offsetOfType[Int($0)] }
        firstOffset = offsetOfType[0]
        let tail = rest.dropFirst(block)
        guard tail.first == UInt8(ascii: "\n"), let end = tail.dropFirst().firstIndex(of: UInt8(ascii: "\n")) else {
            return nil
        }
        let text = String(decoding: tail[tail.startIndex + 1..<end], as: UTF8.self)
        footer = PosixZone(text)
        if footer == nil, !text.isEmpty { return nil }
    }

    /// Whether the bytes are a zone that counts leap seconds, as the files below `right` do: their
    /// moments are not seconds since 1970 as POSIX defines them.
    static func countsLeapSeconds(_ bytes: [UInt8]) -> Bool { (newBlock(of: bytes)?.header.leapCount ?? 0) > 0 }

    /// The header of the block with 64 bits, and the bytes from there on. The block before it is
    /// for programs that support only 32 bits.
    private static func newBlock(of bytes: [UInt8]) -> (header: Header, rest: ArraySlice<UInt8>)? {
        guard let first = header(bytes[...]), bytes[4] >= UInt8(ascii: "2") else { return nil }
        let oldBlock =
            first.timeCount * 5 + first.typeCount * 6 + first.characterCount + first.leapCount * 8
            + first.isStandardCount
            + first.isUTCCount
        let rest = bytes.dropFirst(Header.length + oldBlock)
        return header(rest).map { ($0, rest) }
    }

    private static func header(_ bytes: ArraySlice<UInt8>) -> Header? {
        guard bytes.count >= Header.length, bytes.prefix(4).elementsEqual("TZif".utf8) else { return nil }
        // No zone has nearly this many; the limit keeps the sums of damaged files small.
        let counts = (0..<6).map { Int(number(bytes.dropFirst(20 + $0 * 4).prefix(4))) }
        guard counts.allSatisfy({ $0 < 1 << 20 }) else { return nil }
        return Header(
            isUTCCount: counts[0], isStandardCount: counts[1], leapCount: counts[2], timeCount: counts[3],
            typeCount: counts[4],
            characterCount: counts[5])
    }

    /// Big-endian.
    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
