import Base

/// How wide reports for people may be, and whether they use colours; other text forms are in
/// `TextFormat`.
struct TextStyle {
    enum Ink: String {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
    }

    /// Columns of the terminal, at least 60.
    let width: Int
    let colour: Bool

    init(width: Int, colour: Bool) {
        self.width = max(60, width)
        self.colour = colour
    }

    func paint(_ text: String, _ ink: Ink?) -> String {
        guard colour, let ink, !text.isEmpty else { return text }
        return "\u{1B}[\(ink.rawValue)m\(text)\u{1B}[0m"
    }

    /// `2026-12-01 09:00:00 UTC`
    static func moment(_ moment: Timestamp) -> String {
        moment.description.dropLast().replacing("T", with: " ") + " UTC"
    }

    /// Text from elsewhere (a server's reason) must not steer the terminal or break the table.
    static func safe(_ text: String, limit: Int = 48) -> String {
        let clean = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory.isPrintable ? $0 : "\u{FFFD}" }))
        return clean.count <= limit ? clean : clean.prefix(limit - 1) + "…"
    }

    /// Breaks text between words; every line begins with `indent` columns of space.
    func wrapped(_ text: String, indent: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        if !line.isEmpty { lines.append(line) }
        return lines.map { String(repeating: " ", count: indent) + $0 }
    }
}

extension Unicode.GeneralCategory {
    fileprivate var isPrintable: Bool {
        switch self {
        case .control, .format, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator, .privateUse: false
        default: true
        }
    }
}
