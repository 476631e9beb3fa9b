/// What the first bytes of a text file say about its encoding. Volley reads UTF-8, with or without
/// byte order marks in front.
public enum TextEncoding {
    /// U+FEFF in UTF-8, which editors on Windows write in front of a text.
    public static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// What to do about a file in another encoding.
    public static let remedy = "Save it again with the encoding UTF-8; most editors offer that under 'Save as'."

    /// How many bytes the byte order marks in front of a text take. Tools that put files together
    /// leave several.
    public static func markBytes(_ bytes: some Collection<UInt8>) -> Int {
        var rest = bytes[...]
        while rest.starts(with: mark) { rest = rest.dropFirst(mark.count) }
        return bytes.count - rest.count
    }

    /// The encoding of Unicode in which a text is written, `UTF-16` or `UTF-32`; nil for UTF-8 and
    /// for everything that is no such text.
    public static func foreign(_ bytes: some Collection<UInt8>) -> String? {
        let start = Array(bytes.prefix(4))
        if start == [0xFF, 0xFE, 0, 0] || start == [0, 0, 0xFE, 0xFF] { return "UTF-32" }
        if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) { return "UTF-16" }
        // Without a mark, a text that begins with ASCII shows it by its zeros.
        guard start.allSatisfy({ $0 == 0 || (0x09...0x7E).contains($0) }) else { return nil }
        switch start.map({ $0 == 0 }) {
        case [false, true, true, true], [true, true, true, false]: return "UTF-32"
        case [false, true, false, true], [true, false, true, false], [false, true], [true, false]: return "UTF-16"
        default: return nil
        }
    }

    /// A text without its byte order marks.
    /// - Throws: a `Mistake` that names the encoding, if it is another than UTF-8.
    public static func withoutMarks(_ bytes: [UInt8]) throws(Mistake) -> [UInt8] {
        if let other = foreign(bytes) { throw Mistake("the file is written in \(other), not in UTF-8", remedy: remedy) }
        let count = markBytes(bytes)
        return count == 0 ? bytes : Array(bytes.dropFirst(count))
    }
}
