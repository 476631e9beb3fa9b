/// Text from a file that a person wrote, with its place in the file.
public struct SourceText: Hashable, Sendable {
    /// How the text was written; decides how precisely an offset into the value can be traced back to the file.
    public enum Style: Hashable, Sendable {
        /// Bare, or between single or double quotes: on one line, an offset is a column.
        case plain, singleQuoted, doubleQuoted
        /// `|`: line breaks are kept.
        case literal
        /// `>`: lines are joined.
        case folded
    }

    /// The text itself, quotes and escapes resolved.
    public var value: String
    /// Where the node starts (for quoted text: the quote).
    public var position: SourcePosition
    /// How it was written.
    public var style: Style
    /// The places of its parts, ordered by offset, if its style alone does not give them: lines that were joined, escapes.
    public var parts: [Part]

    /// From an offset up to the next part, characters follow one another on one line of the file.
    public struct Part: Hashable, Sendable {
        /// Into the value, in UTF-8.
        public var offset: Int
        /// The place of the first character.
        public var line: Int, column: Int

        /// A part.
        public init(offset: Int, line: Int, column: Int) {
            self.offset = offset
            self.line = line
            self.column = column
        }
    }

    /// Text with its place.
    public init(_ value: String, at position: SourcePosition, style: Style = .plain, parts: [Part] = []) {
        self.value = value
        self.position = position
        self.style = style
        self.parts = parts
    }

    /// The place of the character at a UTF-8 offset into `value`. Exact if the parts are known, and for plain and quoted text on one line
    /// without escapes; the line for literal blocks; otherwise the start of the text.
    public func position(atUTF8Offset offset: Int) -> SourcePosition {
        if let part = parts.last(where: { $0.offset <= offset }) { return position(atUTF8Offset: offset, in: part) }
        let bytes = value.utf8
        guard let end = bytes.index(bytes.startIndex, offsetBy: offset, limitedBy: bytes.endIndex) else { return position }
        let before = value[..<end]
        var place = position
        switch style {
        case .plain: place.column += before.unicodeScalars.count
        case .singleQuoted: place.column += 1 + before.unicodeScalars.reduce(0) { $0 + ($1 == "'" ? 2 : 1) }
        case .doubleQuoted: place.column += 1 + before.unicodeScalars.count
        case .literal:
            place.line += 1 + before.unicodeScalars.count { $0 == "\n" }
            place.column = 1
        case .folded: break
        }
        return place
    }

    private func position(atUTF8Offset offset: Int, in part: Part) -> SourcePosition {
        let bytes = value.utf8
        let start = bytes.index(bytes.startIndex, offsetBy: part.offset, limitedBy: bytes.endIndex) ?? bytes.endIndex
        let end = bytes.index(bytes.startIndex, offsetBy: offset, limitedBy: bytes.endIndex) ?? bytes.endIndex
        var place = position
        (place.line, place.column) = (part.line, part.column + value.unicodeScalars[start..<end].count)
        return place
    }
}
