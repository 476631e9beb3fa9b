/// Base32 (RFC 4648 section 6) without padding, which people can read out and type.
enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// The letters for bytes; five bytes make eight letters.
    static func text(_ bytes: [UInt8]) -> String {
        var letters: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in bytes {
            bits = bits << 8 | Int(byte)
            count += 8
            while count >= 5 {
                count -= 5
                letters.append(alphabet[bits >> count & 31])
            }
            bits &= 1 << count - 1
        }
        if count > 0 { letters.append(alphabet[bits << (5 - count) & 31]) }
        return String(decoding: letters, as: UTF8.self)
    }
}
