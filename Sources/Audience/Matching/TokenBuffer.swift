import Base
import CSIMD

/// Room for one token, lower-cased.
struct TokenBuffer: ~Copyable {
    private let digits = UnsafeMutablePointer<UInt8>.allocate(capacity: DeviceToken.digitRange.upperBound)

    deinit { digits.deallocate() }

    /// The digits of a token in lower case, valid until the next call; nil when it cannot be one. Judges as `DeviceToken.normalize`.
    @inline(__always) func normalize(_ cell: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard DeviceToken.digitRange.contains(cell.count), cell.count & 1 == 0, let base = cell.baseAddress else { return nil }
        var place = 0
        var isValid: Int32 = 1
        while place + 16 <= cell.count {
            isValid &= volley_lower_hex(base + place, digits + place)
            place += 16
        }
        while place < cell.count {
            let byte = cell[place]
            let isDigit = byte &- UInt8(ascii: "0") <= 9 || (byte | 0x20) &- UInt8(ascii: "a") <= 5
            if !isDigit { isValid = 0 }
            digits[place] = byte | 0x20
            place += 1
        }
        return isValid != 0 ? UnsafeBufferPointer(start: digits, count: cell.count) : nil
    }
}
