/// Numbers with a fixed number of digits.
extension TextFormat {
    /// `007`; a longer number is not cut.
    public static func zeroPadded(_ number: Int, digits: Int = 2) -> String { filled(String(number), digits: digits) }

    /// `00ff`; a longer number is not cut.
    public static func hex(_ number: some FixedWidthInteger & UnsignedInteger, digits: Int, uppercase: Bool = false) -> String {
        filled(String(number, radix: 16, uppercase: uppercase), digits: digits)
    }

    /// `U+00A0`, the Unicode notation for characters.
    public static func codePoint(_ scalar: Unicode.Scalar) -> String { "U+" + hex(scalar.value, digits: 4, uppercase: true) }

    private static func filled(_ text: String, digits: Int) -> String {
        String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
