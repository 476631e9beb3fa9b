/// Hex digits read back.
enum Hex {
    /// The bytes; nil for an odd number of digits, or for anything else than `0` to `9` and `a` to
    /// `f`.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[place]), let low = value(digits[place + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
