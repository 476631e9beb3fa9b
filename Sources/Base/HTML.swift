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
    public static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n", "\t": escaped.unicodeScalars.append(scalar)
            default:
                // Browsers do not accept control characters, not even as references.
                let isControl = scalar.properties.generalCategory == .control
                escaped.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
            }
        }
        return escaped
    }
}
