/// A piece of a page. Interpolated text is escaped, so that nothing from an export or a campaign
/// can become markup.
///
/// ```swift
/// let name = "Tom & Anna"
/// let line: HTML = "<p>Hello \(name)</p>"  // <p>Hello Tom &amp; Anna</p>
/// ```
public struct HTML: ExpressibleByStringInterpolation, Sendable {
    /// As a browser reads it.
    public let markup: String

    init(markup: String) { self.markup = markup }

    /// Markup from a literal in the source.
    public init(stringLiteral value: String) { markup = value }

    /// Markup from a literal in the source; interpolated text is escaped.
    public init(stringInterpolation: StringInterpolation) { markup = stringInterpolation.markup }

    /// A sequence of pieces.
    public init(_ pieces: [HTML]) { markup = pieces.map(\.markup).joined(separator: "\n") }

    /// Pieces with nothing between them, for words of a sentence.
    public init(joined pieces: [HTML]) { markup = pieces.map(\.markup).joined() }

    /// The parts of literals with `\(…)`.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        /// An empty piece.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Markup, inserted unchanged.
        public mutating func appendLiteral(_ literal: String) { markup += literal }

        /// Text, escaped.
        public mutating func appendInterpolation(_ text: String) { markup += HTML.escaped(text) }

        /// A number, without separators.
        public mutating func appendInterpolation(_ number: Int) { markup += "\(number)" }

        /// A piece within a piece.
        public mutating func appendInterpolation(_ piece: HTML) { markup += piece.markup }

        /// A sequence of pieces.
        public mutating func appendInterpolation(_ pieces: [HTML]) { markup += HTML(pieces).markup }
    }

    /// Text for use between tags and in quoted attributes.
    public static func escaped(_ text: String) -> String { shown(text, isEscaped: true) }

    /// Text as a page has it: browsers do not accept control characters, not even as references.
    public static func shown(_ text: String) -> String { shown(text, isEscaped: false) }

    private static func shown(_ text: String, isEscaped: Bool) -> String {
        var shown: [UInt8] = []
        shown.reserveCapacity(text.utf8.count + text.utf8.count / 8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&") where isEscaped: shown += "&amp;".utf8
            case UInt8(ascii: "<") where isEscaped: shown += "&lt;".utf8
            case UInt8(ascii: ">") where isEscaped: shown += "&gt;".utf8
            case UInt8(ascii: "\"") where isEscaped: shown += "&quot;".utf8
            case UInt8(ascii: "'") where isEscaped: shown += "&#39;".utf8
            case 0x0A, 0x09: shown.append(byte)
            // U+0000 to U+001F, and U+007F to U+009F, which begin with C2 from U+0080 on.
            case ..<0x20, 0x7F: shown += "\u{FFFD}".utf8
            case 0x80..<0xA0 where shown.last == 0xC2:
                shown.removeLast()
                shown += "\u{FFFD}".utf8
            default: shown.append(byte)
            }
        }
        return String(decoding: shown, as: UTF8.self)
    }
}
