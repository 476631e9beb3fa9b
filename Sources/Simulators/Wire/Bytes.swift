import Base
import Glibc

/// Whether a byte is a decimal digit.
func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

/// Whether a byte is a letter of ASCII or a decimal digit.
func isLetterOrDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- UInt8(ascii: "a") < 26 }

/// A buffer for a request's headers and payload. Bytes are appended, and all removed at once.
///
/// An array would do, but it is retained, checked for uniqueness and released at every access. A
/// profile shows that without this, and without the checks named at `PushRequest`, a push takes a
/// fifth less of the server's time.
struct ByteArena: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        start = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit { start.deallocate() }

    mutating func removeAll() { count = 0 }

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        if count + bytes.count > capacity { grow(to: max(2 * capacity, count + bytes.count)) }
        if let source = bytes.baseAddress { (start + count).update(from: source, count: bytes.count) }
        count += bytes.count
    }

    /// The bytes of a range, valid until more are appended.
    subscript(range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "bytes beyond the end")
        return UnsafeBufferPointer(start: start + range.lowerBound, count: range.count)
    }

    private mutating func grow(to newCapacity: Int) {
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        larger.update(from: start, count: count)
        start.deallocate()
        start = larger
        capacity = newCapacity
    }
}

/// Whether two buffers hold the same bytes.
func areEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    guard let first = left.baseAddress, let second = right.baseAddress else { return true }
    return memcmp(first, second, left.count) == 0
}

/// Whether a buffer holds the same bytes as an array.
func areEqual(_ left: UnsafeBufferPointer<UInt8>, right: [UInt8]) -> Bool {
    right.withUnsafeBufferPointer { areEqual(left, $0) }
}

extension StaticString {
    /// Its UTF-8, without a terminating zero.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}

/// Decodes base64url without padding (RFC 7515 section 2); nil if the text is anything else.
func decodeBase64URL(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(text.count * 3 / 4)
    var bits: UInt32 = 0
    var count = 0
    for byte in text {
        let digit: UInt8
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): digit = 62
        case UInt8(ascii: "_"): digit = 63
        default: return nil
        }
        bits = bits << 6 | UInt32(digit)
        count += 6
        if count >= 8 {
            count -= 8
            result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
    }
    return result
}

/// A part of a JSON Web Token: RFC 7519 section 3; nil if it is not JSON in base64url.
func decodeTokenPart(_ part: ArraySlice<UInt8>) -> JSONValue? {
    decodeBase64URL(part).flatMap { try? JSONValue(parsing: $0) }
}

extension JSONValue {
    /// The whole seconds of a date in a JSON Web Token, which may have fractions (NumericDate, RFC
    /// 7519 section 2); nil for anything else.
    var tokenSeconds: Int64? {
        switch self {
        case .integer(let seconds): seconds
        case .double(let seconds): Int64(exactly: seconds.rounded(.down))
        default: nil
        }
    }
}
