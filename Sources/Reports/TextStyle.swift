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

/// Rows of a name, a number, a share, a bar and a few words, with aligned columns.
struct BarTable {
    struct Row {
        var name: String
        var number: Int
        var ink: TextStyle.Ink?
        /// A few words next to the bar, left out when the terminal is too narrow.
        var note = ""
        /// What it means and what to do, below the row.
        var explanation = ""
    }

    var rows: [Row]
    /// The number that is 100 %; without it there is no column of shares.
    var whole: Int?

    func lines(_ style: TextStyle) -> [String] {
        // Names of tags and languages come from exports.
        let rows = rows.map { row in
            var row = row
            (row.name, row.explanation) = (TextFormat.printable(row.name), TextFormat.printable(row.explanation))
            return row
        }
        let names = rows.map(\.name.count).max() ?? 0
        let numbers = rows.map { TextFormat.count($0.number).count }.max() ?? 0
        let largest = rows.map(\.number).max() ?? 0
        let fixed = 2 + names + 2 + numbers + 2 + (whole == nil ? 0 : 9)
        let notes = rows.map(\.note.count).max() ?? 0
        // Notes are shown only when a bar of ten columns fits next to them.
        let hasNotes = notes > 0 && fixed + 10 + 2 + notes <= style.width
        let columns = max(4, min(24, style.width - fixed - (hasNotes ? notes + 2 : 0)))
        return rows.flatMap { row in
            var line =
                "  \(TextFormat.padded(row.name, to: names))  \(TextFormat.aligned(TextFormat.count(row.number), to: numbers))  "
            if let whole { line += TextFormat.aligned(TextFormat.percent(share(row.number, of: whole)), to: 7) + "  " }
            let bar = TextFormat.bar(share(row.number, of: largest), width: columns)
            line += style.paint(bar, row.number > 0 ? row.ink : nil)
            if hasNotes, !row.note.isEmpty {
                line += String(repeating: " ", count: columns - bar.count + 2) + style.paint(row.note, .dim)
            }
            while line.last == " " { line.removeLast() }
            return [line] + style.wrapped(row.explanation, indent: 6).map { style.paint($0, .dim) }
        }
    }

    private func share(_ part: Int, of whole: Int) -> Double { whole > 0 ? Double(part) / Double(whole) : 0 }
}
