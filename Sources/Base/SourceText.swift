/// Text from a file that a person wrote, which still knows where it stands.
public struct SourceText: Hashable, Sendable {
    /// How the text was written; decides how far an offset into the value can be traced back to the file.
    public enum Style: Hashable, Sendable {
        /// As it stands, or between single or double quotes: on one line, an offset is a column.
        case plain, singleQuoted, doubleQuoted
        /// `|`: lines are kept.
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

    /// Text with its place.
    public init(_ value: String, at position: SourcePosition, style: Style = .plain) {
        self.value = value
        self.position = position
        self.style = style
    }

    /// The place of the character at a UTF-8 offset into `value`. Exact for plain and quoted text on one line without
    /// escapes, and by line for literal blocks; otherwise the start of the text.
    public func position(atUTF8Offset offset: Int) -> SourcePosition {
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
}
