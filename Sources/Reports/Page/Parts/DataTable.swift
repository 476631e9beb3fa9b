public import Base

/// Many figures in rows and columns. On a phone each row becomes a block with the column's name
/// next to every figure, so that no figure is cut off.
struct DataTable {
    struct Row {
        var name: HTML
        /// In the order of the columns behind the first.
        var cells: [HTML]
        var isTotal = false
    }

    /// The first is that of the rows' names.
    var columns: [String]
    var rows: [Row]

    var html: HTML {
        let heads: [HTML] = columns.map { "<th scope=\"col\">\($0)</th>" }
        let lines: [HTML] = rows.map { row in
            let cells: [HTML] = zip(columns.dropFirst(), row.cells).map { "<td data-name=\"\($0)\">\($1)</td>" }
            return
                "<tr\(row.isTotal ? " class=\"total\"" : "" as HTML)><th scope=\"row\" dir=\"auto\">\(row.name)</th>\(cells)</tr>"
        }
        return "<table class=\"data\"><thead><tr>\(heads)</tr></thead><tbody>\(lines)</tbody></table>"
    }

    static let style: HTML = """

        .data { width: 100%; border-spacing: 0; font-size: .9375rem; font-variant-numeric: tabular-nums; }
        .data th, .data td { padding: .3rem .8rem .3rem 0; text-align: right; vertical-align: top; font-weight: normal; border-top: 1px solid var(--line); }
        .data th:first-child { text-align: left; overflow-wrap: anywhere; }
        .data td { overflow-wrap: anywhere; }
        .data thead th { color: var(--soft); font-size: .8125rem; border-top: 0; vertical-align: bottom; }
        .data th:last-child, .data td:last-child { padding-right: 0; }
        .data tr.total > * { font-weight: 600; }
        .data tr { break-inside: avoid; }
        .data thead { display: table-header-group; }
        @media (max-width: 40rem) {
          .data, .data tbody { display: block; }
          .data thead { display: none; }
          .data tr { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(8.5rem, 100%), 1fr)); gap: .1rem 1rem; padding: .5rem 0;
            border-top: 1px solid var(--line); }
          .data tr:first-child { border-top: 0; }
          .data th, .data td { display: block; padding: 0; border: 0; text-align: left; }
          .data th:first-child { grid-column: 1 / -1; font-weight: 600; }
          .data td::before { content: attr(data-name) " "; color: var(--soft); font-size: .8125rem; }
        }

        """
}

/// The texts of a campaign: a row for each language, a column for each variant; with one text only
/// its cards.
public struct TextMatrix {
    /// A text, in a variant and a language.
    public struct Cell {
        var variant: String
        var language: String
        var recipients: Int?
        var cards: [HTML]

        /// - Parameters:
        ///   - variant: blank without variants.
        ///   - language: blank for the text above `languages`.
        ///   - recipients: devices that get it; nil where that is not known.
        ///   - cards: how it reads.
        public init(variant: String, language: String, recipients: Int?, cards: [HTML]) {
            self.variant = variant
            self.language = language
            self.recipients = recipients
            self.cards = cards
        }
    }

    let cells: [Cell]

    /// - Parameter cells: in the order of the campaign.
    public init(_ cells: [Cell]) { self.cells = cells }

    /// More columns than a page is wide.
    private static let mostColumns = 3

    /// The matrix.
    public var html: HTML {
        guard cells.count > 1 else { return "<div class=\"cards\">\(cells.flatMap(\.cards))</div>" }
        var (variants, languages): ([String], [String]) = ([], [])
        for cell in cells {
            if !variants.contains(cell.variant) { variants.append(cell.variant) }
            if !languages.contains(cell.language) { languages.append(cell.language) }
        }
        let hasVariants = variants.count > 1 || variants != [""]
        let heads: [HTML] = variants.map { "<th scope=\"col\" dir=\"auto\">\($0.isEmpty ? "Text" : $0)</th>" }
        let rows: [HTML] = languages.map { language in
            let boxes: [HTML] = variants.map { variant in
                let cell = cells.first { $0.variant == variant && $0.language == language }
                return "<td data-name=\"\(variant)\">\(cell.map(Self.box) ?? "")</td>"
            }
            return "<tr><th scope=\"row\">\(Self.name(language, isAlone: languages.count == 1))</th>\(boxes)</tr>"
        }
        let head: HTML = hasVariants ? "<thead><tr><td></td>\(heads)</tr></thead>" : ""
        return """
            <table class="matrix\(variants.count > Self.mostColumns ? " many" : "" as HTML)\(hasVariants ? "" : " plain" as HTML)">\(head)<tbody>\(rows)</tbody></table>
            """
    }

    /// A language's name; the text above `languages` is for all others.
    static func name(_ language: String, isAlone: Bool) -> HTML {
        if language.isEmpty {
            return isAlone ? "All languages" : "Every other language <span class=\"code\">default</span>"
        }
        return LanguageName.html(language)
    }

    private static func box(_ cell: Cell) -> HTML {
        guard let recipients = cell.recipients else { return HTML(cell.cards) }
        let words = recipients == 0 ? "no device gets it" : TextFormat.devices(recipients)
        return "<p class=\"count\(recipients == 0 ? " none" : "" as HTML)\">\(words)</p>\(cell.cards)"
    }

    static let style: HTML = """

        .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: 1rem; align-items: start; }
        .matrix { width: 100%; border-spacing: 0; table-layout: fixed; }
        .matrix th { text-align: left; vertical-align: top; font-weight: 600; overflow-wrap: anywhere; }
        .matrix thead td, .matrix tbody th { width: 9.5rem; }
        .matrix th, .matrix td { padding: .8rem .5rem .8rem 0; border-top: 1px solid var(--line); vertical-align: top; }
        .matrix thead th, .matrix thead td { border-top: 0; padding-top: 0; padding-bottom: .3rem; }
        .matrix tr { break-inside: avoid; }
        .matrix .push { padding: 1rem .8rem; }
        .matrix .push::before { inset: .35rem; border-radius: .8rem; }
        .matrix .icon { display: none; }
        .matrix .code { display: block; }
        .unread { color: var(--soft); border: 1px dashed var(--line); border-radius: .7rem; padding: .6rem .8rem; font-size: .9375rem; line-height: 1.35; }
        .count { font-size: .8125rem; color: var(--soft); margin-bottom: .3rem; }
        .count.none { color: var(--warn); }
        @media (max-width: 40rem) {
          .matrix, .matrix tbody, .matrix tr, .matrix th, .matrix td { display: block; width: auto; }
          .matrix thead { display: none; }
          .matrix tbody th { width: auto; padding: .8rem 0 0; }
          .matrix td { padding: .4rem 0; border-top: 0; }
          .matrix td::before { content: attr(data-name); font-weight: 600; font-size: .8125rem; }
        }
        @media (min-width: 40.01rem) {
          .matrix.many thead { display: none; }
          .matrix.many tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); column-gap: .8rem; border-top: 1px solid var(--line); }
          .matrix.many th { grid-column: 1 / -1; width: auto; padding-bottom: 0; }
          .matrix.many th, .matrix.many td { border-top: 0; }
          .matrix.many td::before { content: attr(data-name); font-weight: 600; font-size: .8125rem; }
        }
        @media print { .matrix th, .matrix td { padding: .35rem .5rem .35rem 0; } .matrix .push { padding: .4rem .6rem; } .matrix .push::before { inset: 0; } }

        """
}

/// A part of a page that is folded until the reader opens it. Print leaves out what is folded.
public struct FoldedSection {
    let title: HTML
    let content: HTML

    /// - Parameter title: says what is inside, so that readers need not open it to know.
    public init(_ title: HTML, _ content: HTML) { (self.title, self.content) = (title, content) }

    /// The folded part; empty without content.
    public var html: HTML {
        content.markup.isEmpty
            ? "" : "<details><summary>\(title)</summary><div class=\"folded\">\(content)</div></details>"
    }

    static let style: HTML = """

        details { margin-top: .6rem; }
        summary { cursor: pointer; color: var(--link); font-size: .875rem; padding: .15rem 0; }
        .folded { margin: .5rem 0 1rem; }
        .folded > * + * { margin-top: .8rem; }
        .when-printed { display: none; }
        @media print { details:not([open]) { display: none; } summary { color: var(--ink); } .when-printed { display: inline; } }

        """
}

/// A sentence that terminals also show: text between backticks is something to type, or a name in a
/// file.
public enum Prose {
    /// The sentence with its commands as code; a backtick without a partner stays one. As on a
    /// terminal, characters that change the direction of text are escapes: the rest of the sentence
    /// stays as it is.
    public static func html(_ text: String) -> HTML {
        let text = TextFormat.printable(text)
        let parts = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, parts.count % 2 == 1 else { return "\(text)" }
        return HTML(joined: parts.enumerated().map { $0 % 2 == 0 ? "\($1)" : "<code>\($1)</code>" })
    }
}
