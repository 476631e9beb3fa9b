/// A piece of a page. Whatever text is interpolated is escaped, so that nothing from an export or a campaign can become markup.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    /// As a browser reads it.
    let markup: String

    init(stringLiteral value: String) { markup = value }

    init(stringInterpolation: StringInterpolation) { markup = stringInterpolation.markup }

    /// Pieces in a row.
    init(_ pieces: [HTML]) { markup = pieces.map(\.markup).joined(separator: "\n") }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { markup += literal }

        mutating func appendInterpolation(_ text: String) { markup += HTML.escaped(text) }

        mutating func appendInterpolation(_ number: Int) { markup += "\(number)" }

        mutating func appendInterpolation(_ piece: HTML) { markup += piece.markup }

        mutating func appendInterpolation(_ pieces: [HTML]) { markup += HTML(pieces).markup }
    }

    /// Text that can stand between tags and in attributes with quotes.
    static func escaped(_ text: String) -> String {
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
                // Browsers do not take control characters, not even as references.
                let isControl = scalar.properties.generalCategory == .control
                escaped.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
            }
        }
        return escaped
    }
}
