import Base

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
