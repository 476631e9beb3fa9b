import Base
import Runs

/// Columns side by side, each made of one or several stacked parts, with a value axis that begins
/// at 0. Drawn with SVG; labels are text next to it, so that they stay legible at every width. A
/// table repeats what the columns show, as not every reader can see them.
struct Chart {
    struct Column {
        /// What it shows; the tooltip.
        var title: String
        var parts: [Part]

        var height: Int { parts.reduce(0) { $0 + $1.value } }
    }

    struct Part {
        var value: Int
        /// The class of `Chart.style` that fills it.
        var ink: String
    }

    /// What it shows, in a few words, for readers that cannot see it.
    var title: String
    /// The same in a sentence or two, with its extremes.
    var description: String
    /// What the value axis counts: `devices in 5 seconds`.
    var unit: String
    var columns: [Column]
    /// Below the columns, from the first to the last, evenly.
    var marks: [String]
    /// Below the chart: what a column is, and how high the highest is.
    var note: String
    /// Distinguishes its texts from those of another chart on the page.
    var name: String

    private static let width = 720
    private static let height = 160

    var html: HTML {
        let top = Self.scale(for: columns.map(\.height).max() ?? 0)
        let lines: [HTML] = [0, Self.height / 2, Self.height].map {
            "<line class=\"axis\" x1=\"0\" y1=\"\($0)\" x2=\"\(Self.width)\" y2=\"\($0)\"/>"
        }
        let ticks: [HTML] = [top, top / 2, 0].map { "<span>\(TextFormat.count($0))</span>" }
        let ends: [HTML] = marks.map { "<span>\($0)</span>" }
        return """
            <figure class="chart">
            <p class="unit">\(unit)</p>
            <div class="plot"><div class="ticks" aria-hidden="true">\(ticks)</div>
            <svg viewBox="0 0 \(Self.width) \(Self.height)" preserveAspectRatio="none" role="img" aria-labelledby="\(name)-title \(name)-text">
            <title id="\(name)-title">\(title)</title>
            <desc id="\(name)-text">\(description)</desc>
            \(lines)
            \(columns.indices.filter { columns[$0].height > 0 }.map { column($0, top: top) })
            </svg>
            <p class="ends">\(ends)</p></div>
            <figcaption class="note">\(note)</figcaption>
            </figure>
            """
    }

    /// The end of an axis up to `value`: a round, even number.
    static func scale(for value: Int) -> Int {
        var unit = 1
        while true {
            for step in [2, 4, 6, 10] where step * unit >= value { return step * unit }
            unit *= 10
        }
    }

    private func column(_ index: Int, top: Int) -> HTML {
        let column = columns[index]
        let step = Double(Self.width) / Double(max(columns.count, 1))
        // A single column would look like a wall.
        let width = min(step * (columns.count > 60 ? 0.92 : 0.84), 64)
        let left = Double(index) * step + (step - width) / 2
        var bottom = Double(Self.height)
        let shown = column.parts.filter { $0.value > 0 }
        let rects: [HTML] = shown.map { part in
            // A number above zero is always visible.
            let height = max(1.5, Double(part.value) / Double(top) * Double(Self.height))
            bottom -= height
            return """
                <rect class="\(part.ink)" x="\(Self.text(left))" y="\(Self.text(max(0, bottom)))" width="\(Self.text(width))" height="\(Self.text(height))"/>
                """
        }
        return "<g><title>\(column.title)</title>\(rects)</g>"
    }

    /// With one digit behind the point.
    private static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// The patterns that distinguish parts without colours, once for all charts of a page.
    static let patterns: HTML = """
        <svg class="patterns" width="0" height="0" aria-hidden="true"><defs>
        <pattern id="rejected" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="base rejected-base" width="6" height="6"/><rect class="gap" width="2" height="6"/></pattern>
        <pattern id="failed" width="6" height="5" patternUnits="userSpaceOnUse"><rect class="base failed-base" width="6" height="5"/><rect class="gap" width="6" height="1.5"/></pattern>
        <pattern id="unknown" width="5" height="5" patternUnits="userSpaceOnUse"><rect class="base unknown-base" width="5" height="5"/><circle class="gap" cx="2.5" cy="2.5" r="1.3"/></pattern>
        <pattern id="unsent" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect class="base unsent-base" width="6" height="6"/><rect class="gap" width="3.5" height="6"/></pattern>
        </defs></svg>
        """

    /// A sample of a part's look.
    static func swatch(_ outcome: Outcome) -> HTML {
        """
        <svg class="swatch" width="14" height="14" aria-hidden="true"><rect class="\(outcome.name)" width="14" height="14" rx="2"/></svg>
        """
    }

    /// Outcomes with samples of their looks.
    static func legend(_ items: [(outcome: Outcome, words: HTML)]) -> HTML {
        let lines: [HTML] = items.map { "<li>\(swatch($0.outcome))\($0.words)</li>" }
        return "<ul class=\"legend\">\(lines)</ul>"
    }

    static let style: HTML = """

        .chart { margin: .6rem 0 .4rem; break-inside: avoid; }
        .chart .unit { font-size: .8125rem; color: var(--soft); margin-bottom: .4rem; }
        .plot { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .2rem .6rem; }
        .plot svg { display: block; width: 100%; height: 10rem; overflow: visible; }
        .ticks { display: flex; flex-direction: column; justify-content: space-between; text-align: right; font-size: .8125rem; line-height: 1;
          color: var(--soft); font-variant-numeric: tabular-nums; margin: -.4rem 0; }
        .axis { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
        .ends { grid-column: 2; display: flex; justify-content: space-between; gap: 1rem; color: var(--soft); font-size: .8125rem;
          font-variant-numeric: tabular-nums; }
        .chart figcaption { margin-top: .3rem; }
        .patterns { position: absolute; }
        .swatch { display: inline-block; vertical-align: -.12rem; margin-right: .4rem; flex: none; }
        .legend { list-style: none; display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; margin: .4rem 0 .5rem; padding: 0; font-size: .875rem; }
        .accepted { fill: var(--accepted); } .invalid_token { fill: var(--invalid); } .rejected { fill: url(#rejected); }
        .failed { fill: url(#failed); } .unknown { fill: url(#unknown); } .unsent { fill: url(#unsent); } .answers { fill: var(--bar); }
        .rejected-base { fill: var(--rejected); } .failed-base { fill: var(--failed); } .unknown-base { fill: var(--unknown); }
        .unsent-base { fill: var(--unsent); } .gap { fill: var(--paper); }
        .whole { display: block; width: 100%; height: 1.1rem; border-radius: .35rem; margin: .6rem 0 .2rem; background: var(--track); }
        @media print { .plot svg { height: 5.5rem; } .chart, .whole, .swatch { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }

        """
}
