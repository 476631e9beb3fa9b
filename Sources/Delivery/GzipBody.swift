/// Bodies that were compressed although every request asks for `identity`: some proxies do that to
/// all answers.
///
/// Source: RFC 1952 (gzip) and RFC 1951 (deflate). The check sum is not compared: what is not whole
/// does not end, and what is not JSON is not understood.
enum GzipBody {
    /// Returns the body as it was before it was compressed; itself, if it is not compressed or not
    /// whole.
    /// - Parameter limit: the most bytes to return.
    static func plain(_ body: [UInt8], limit: Int) -> [UInt8] {
        guard let start = contents(of: body), start < body.count else { return body }
        var inflation = Inflation(bytes: body, place: start, limit: limit)
        return inflation.run() ? inflation.output : body
    }

    /// Where the compressed bytes begin; nil if this is no gzip member.
    private static func contents(of body: [UInt8]) -> Int? {
        guard body.count > 18, body[0] == 0x1F, body[1] == 0x8B, body[2] == 8 else { return nil }
        let flags = body[3]
        var place = 10
        // FEXTRA, with its length.
        if flags & 4 != 0 { place += 2 + Int(body[10]) + Int(body[11]) << 8 }
        // FNAME and FCOMMENT, which a zero ends.
        for flag in [8, 16] as [UInt8] where flags & flag != 0 {
            guard place < body.count, let end = body[place...].firstIndex(of: 0) else { return nil }
            place = end + 1
        }
        return flags & 2 != 0 ? place + 2 : place
    }
}

/// A Huffman code: how many symbols have each length, and the symbols in the order of their codes.
private struct HuffmanCode {
    static let longest = 15
    private(set) var counts = [Int](repeating: 0, count: longest + 1)
    private(set) var symbols: [Int] = []

    init(lengths: some Collection<Int>) {
        for length in lengths { counts[length] += 1 }
        for length in 1...Self.longest {
            for (symbol, its) in lengths.enumerated() where its == length { symbols.append(symbol) }
        }
    }
}

private struct Inflation {
    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145, 8193, 12_289,
        16_385, 24_577,
    ]
    /// In this order the lengths of the code for lengths come.
    private static let orderOfLengths = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    let bytes: [UInt8]
    /// The next byte, and what is left of the one before it.
    var place: Int
    private var bits = 0, bitCount = 0
    private let limit: Int
    private(set) var output: [UInt8] = []

    init(bytes: [UInt8], place: Int, limit: Int) { (self.bytes, self.place, self.limit) = (bytes, place, limit) }

    /// Returns whether all blocks were read.
    mutating func run() -> Bool {
        while true {
            guard let isLast = take(1), let kind = take(2) else { return false }
            let isRead =
                switch kind {
                case 0: copyStored()
                case 1: inflate(Self.fixedLiterals, Self.fixedDistances)
                case 2: inflateWithOwnCodes()
                default: false
                }
            guard isRead else { return false }
            if isLast == 1 { return true }
        }
    }

    private mutating func take(_ count: Int) -> Int? {
        while bitCount < count {
            guard place < bytes.count else { return nil }
            bits |= Int(bytes[place]) << bitCount
            place += 1
            bitCount += 8
        }
        defer {
            bits >>= count
            bitCount -= count
        }
        return bits & ((1 << count) - 1)
    }

    private mutating func symbol(_ code: HuffmanCode) -> Int? {
        var (value, first, index) = (0, 0, 0)
        for length in 1...HuffmanCode.longest {
            guard let bit = take(1) else { return nil }
            value |= bit
            let count = code.counts[length]
            if value - count < first {
                let place = index + value - first
                return code.symbols.indices.contains(place) ? code.symbols[place] : nil
            }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        return nil
    }

    private mutating func copyStored() -> Bool {
        (bits, bitCount) = (0, 0)
        guard place + 4 <= bytes.count else { return false }
        let count = Int(bytes[place]) | Int(bytes[place + 1]) << 8
        place += 4
        guard place + count <= bytes.count, output.count + count <= limit else { return false }
        output += bytes[place..<place + count]
        place += count
        return true
    }

    private static let fixedLiterals = HuffmanCode(
        lengths: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    private static let fixedDistances = HuffmanCode(lengths: Array(repeating: 5, count: 30))

    private mutating func inflateWithOwnCodes() -> Bool {
        guard let literals = take(5), let distances = take(5), let count = take(4) else { return false }
        var lengths = [Int](repeating: 0, count: Self.orderOfLengths.count)
        for place in Self.orderOfLengths.prefix(count + 4) {
            guard let length = take(3) else { return false }
            lengths[place] = length
        }
        let code = HuffmanCode(lengths: lengths), wanted = literals + 257 + distances + 1
        lengths = []
        while lengths.count < wanted {
            guard let symbol = symbol(code) else { return false }
            switch symbol {
            case 0..<16: lengths.append(symbol)
            case 16:
                guard let last = lengths.last, let more = take(2) else { return false }
                lengths += Array(repeating: last, count: more + 3)
            default:
                guard let more = symbol == 17 ? take(3) : take(7) else { return false }
                lengths += Array(repeating: 0, count: more + (symbol == 17 ? 3 : 11))
            }
        }
        guard lengths.count == wanted else { return false }
        return inflate(
            HuffmanCode(lengths: lengths[..<(literals + 257)]), HuffmanCode(lengths: lengths[(literals + 257)...]))
    }

    private mutating func inflate(_ literals: HuffmanCode, _ distances: HuffmanCode) -> Bool {
        while output.count <= limit {
            guard let symbol = symbol(literals) else { return false }
            switch symbol {
            case 0..<256: output.append(UInt8(symbol))
            case 256: return true
            default:
                guard let length = value(symbol - 257, Self.lengthBases, sharing: 4),
                    let distanceSymbol = self.symbol(distances),
                    let distance = value(distanceSymbol, Self.distanceBases, sharing: 2), distance <= output.count
                else { return false }
                for _ in 0..<length { output.append(output[output.count - distance]) }
            }
        }
        return false
    }

    /// A length or a distance: its base, and as many more bits as its place says.
    /// - Parameter sharing: how many places have one number of bits.
    private mutating func value(_ place: Int, _ bases: [Int], sharing: Int) -> Int? {
        guard bases.indices.contains(place) else { return nil }
        // The longest length has no further bits.
        let extra = place == 28 && sharing == 4 ? 0 : max(0, place / sharing - 1)
        return take(extra).map { bases[place] + $0 }
    }
}
