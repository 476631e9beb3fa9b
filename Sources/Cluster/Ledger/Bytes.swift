/// Numbers and texts as bytes: seven bits of a number in each byte, the lowest first, the highest
/// bit set in all but the last.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    @inline(__always) mutating func put(_ number: Int) {
        var rest = UInt(bitPattern: number)
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// A number that may be below 0, in few bytes if it is near 0.
    @inline(__always) mutating func put(signed number: Int) { put(number << 1 ^ number >> (Int.bitWidth - 1)) }

    mutating func put(_ text: String) {
        var text = text
        text.withUTF8 { put($0) }
    }

    @inline(__always) mutating func put(_ text: UnsafeBufferPointer<UInt8>) {
        put(text.count)
        bytes.append(contentsOf: text)
    }

    mutating func put(byte: UInt8) { bytes.append(byte) }

    mutating func put(raw other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }

    /// How many bytes there are.
    var count: Int { bytes.count }

    /// Writes a number over bytes that are there, the highest byte first.
    mutating func replace(at place: Int, bigEndian number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(place..<place + $0.count, with: $0) }
    }
}

/// Reads what `ByteWriter` wrote. Once something cannot be read, everything after it is 0 and
/// blank, and `isIntact` is false.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private var place = 0
    private(set) var isIntact = true

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { place >= bytes.count }

    @inline(__always) mutating func number() -> Int {
        var (value, shift) = (UInt(0), UInt(0))
        while place < bytes.count, shift < 64 {
            let byte = bytes[place]
            place += 1
            value |= UInt(byte & 0x7F) << shift
            if byte < 0x80 { return Int(bitPattern: value) }
            shift += 7
        }
        isIntact = false
        place = bytes.count
        return 0
    }

    @inline(__always) mutating func signed() -> Int {
        let value = UInt(bitPattern: number())
        return Int(bitPattern: value >> 1) ^ -Int(bitPattern: value & 1)
    }

    mutating func byte() -> UInt8 {
        guard place < bytes.count else {
            isIntact = false
            return 0
        }
        defer { place += 1 }
        return bytes[place]
    }

    /// Lent.
    @inline(__always) mutating func text() -> UnsafeBufferPointer<UInt8> {
        let count = number()
        return raw(count).bindMemory(to: UInt8.self)
    }

    @inline(__always) mutating func raw(_ count: Int) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= bytes.count - place else {
            isIntact = false
            place = bytes.count
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        defer { place += count }
        return UnsafeRawBufferPointer(rebasing: bytes[place..<place + count])
    }

    mutating func string() -> String { String(decoding: text(), as: UTF8.self) }
}
