public import Base

/// Names with numbers and bars, one below the other. Bars share one scale so that you can compare
/// them.
///
/// ```swift
/// let accepted = BarList.Item("accepted", "4,990", parts: [BarList.Part(4990)])
/// let bars = BarList([accepted], whole: 5000)
/// ```
public struct BarList {
    /// A line.
    public struct Item {
        var name: HTML
        var number: HTML
        var share: String
        var parts: [Part]
        var notes: [HTML]

        /// - Parameters:
        ///   - number: as it is shown.
        ///   - share: the share of the whole, in words; blank for none.
        ///   - parts: of the bar, from left to right.
        ///   - notes: paragraphs below it; those that need attention have the class `trouble`.
        public init(_ name: HTML, _ number: HTML, share: String = "", parts: [Part], notes: [HTML] = []) {
            self.name = name
            self.number = number
            self.share = share
            self.parts = parts
            self.notes = notes
        }
    }

    /// A part of a bar.
    public struct Part {
        var value: Int
        var ink: String

        /// - Parameter ink: an outcome, or `plain`.
        public init(_ value: Int, ink: String = "plain") { (self.value, self.ink) = (value, ink) }
    }

    let items: [Item]
    let whole: Int

    /// - Parameter whole: the number of a bar over the whole width; nil for the largest number.
    public init(_ items: [Item], whole: Int? = nil) {
        self.items = items
        self.whole = max(1, whole ?? items.map { $0.parts.reduce(0) { $0 + $1.value } }.max() ?? 1)
    }

    /// The list; empty without items.
    public var html: HTML {
        guard !items.isEmpty else { return "" }
        return "<ul class=\"bars\">\(items.map(line))</ul>"
    }

    private func line(_ item: Item) -> HTML {
        let notes: [HTML] = item.notes.map { "<p class=\"note\">\($0)</p>" }
        return """
            <li><div class="line"><span class="name">\(item.name)</span><span class="number"><b>\(item.number)</b> <span class="share">\(item.share)</span></span>\
            <svg class="track" viewBox="0 0 \(Self.width) 10" preserveAspectRatio="none" aria-hidden="true">\(bars(item.parts))</svg></div>\(notes)</li>
            """
    }

    /// Units of a bar over the whole width. A width in a style attribute would be refused by
    /// servers that forbid them.
    private static let width = 1000

    private func bars(_ parts: [Part]) -> [HTML] {
        var left = 0
        return parts.filter { $0.value > 0 }.map { part in
            // A number above zero is always visible.
            let width = max(4, Int((Double(part.value) / Double(whole) * Double(Self.width)).rounded()))
            defer { left += width }
            return "<rect class=\"\(part.ink)-bar\" x=\"\(left)\" width=\"\(width)\" height=\"10\"/>"
        }
    }

    static let style: HTML = """

        .bars { list-style: none; margin: 0; padding: 0; }
        .bars li { padding: .45rem 0; border-top: 1px solid var(--line); break-inside: avoid; }
        .bars li:first-child { border-top: 0; }
        .line { display: grid; grid-template-columns: minmax(9rem, 15rem) minmax(0, 1fr) minmax(8.5rem, auto); gap: 0 1rem; align-items: center; }
        .line .name { grid-column: 1; min-width: 0; overflow-wrap: anywhere; }
        .line .number { grid-column: 3; grid-row: 1; text-align: right; font-variant-numeric: tabular-nums; }
        .line .share { display: inline-block; min-width: 4rem; color: var(--soft); font-size: .875rem; }
        .track { grid-column: 2; grid-row: 1; display: block; width: 100%; height: .7rem; background: var(--track); border-radius: .35rem;
          overflow: hidden; }
        .plain-bar { fill: var(--bar); } .accepted-bar { fill: var(--accepted); } .invalid_token-bar { fill: var(--invalid); }
        .rejected-bar { fill: var(--rejected); } .failed-bar { fill: var(--failed); } .unknown-bar { fill: var(--unknown); }
        .unsent-bar { fill: var(--unsent); } .lost-bar { fill: var(--lost); }
        .bars .note { max-width: 46rem; margin-top: .15rem; }
        .trouble { color: var(--warn); }
        @media (min-width: 40.01rem) { .columns .line { grid-template-columns: minmax(0, 1.6fr) minmax(3rem, 1fr) minmax(8rem, auto); } }
        @media (max-width: 40rem) {
          .line, .columns .line { grid-template-columns: minmax(0, 1fr) auto; }
          .track { grid-column: 1 / -1; grid-row: 2; height: .5rem; margin-top: .2rem; }
          .line .number { grid-column: 2; }
          .line .share { min-width: 3.4rem; }
        }
        @media print { .bars li { padding: .2rem 0; } .track { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }

        """
}
