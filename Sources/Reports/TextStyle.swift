import Base

/// How reports for people write numbers, bars and colours.
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

    /// `1,096,469`
    static func thousands(_ number: Int) -> String {
        var text = ""
        for (index, digit) in String(number.magnitude).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + String(text.reversed())
    }

    /// `36.5 %`, never rounded to nothing or to everything: `<0.1 %`, `>99.9 %`.
    static func percent(_ part: Int, of whole: Int) -> String {
        guard whole > 0, part > 0 else { return "0 %" }
        if part == whole { return "100 %" }
        let tenths = Int((Double(part) * 1000 / Double(whole)).rounded())
        if tenths == 0 { return "<0.1 %" }
        if tenths >= 1000 { return ">99.9 %" }
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// A bar in eighths of a column, scaled so that `largest` fills `columns`; anything above zero shows.
    static func bar(_ value: Int, of largest: Int, columns: Int) -> String {
        guard largest > 0, value > 0, columns > 0 else { return "" }
        let eighths = max(1, Int((Double(value) / Double(largest) * Double(columns * 8)).rounded()))
        let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
    }

    /// `3 min 41 s`, `2 h 5 min`, `850 ms`
    static func duration(milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        if seconds < 1 { return "\(milliseconds) ms" }
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3600 { return seconds % 60 == 0 ? "\(seconds / 60) min" : "\(seconds / 60) min \(seconds % 60) s" }
        let minutes = seconds / 60
        return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
    }

    /// `2026-12-01 09:00:00 UTC`
    static func moment(_ moment: Timestamp) -> String {
        moment.description.dropLast().replacing("T", with: " ") + " UTC"
    }

    /// Text from elsewhere (a server's reason) must not steer the terminal or break the table.
    static func safe(_ text: String, limit: Int = 48) -> String {
        let clean = String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory.isPrintable ? $0 : "\u{FFFD}" }))
        return clean.count <= limit ? clean : clean.prefix(limit - 1) + "…"
    }

    static func padded(_ text: String, _ width: Int, right: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return right ? space + text : text + space
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
