import Base
import Runs

/// Columns beside one another, each of one or several parts on top of one another, drawn with SVG. What the columns say also stands in a table beside
/// them, as not everybody sees them.
struct Chart {
    struct Column {
        /// What it stands for, said when somebody points at it.
        var title: String
        var parts: [Part]

        var height: Int { parts.reduce(0) { $0 + $1.value } }
    }

    struct Part {
        var value: Int
        /// A class of `ReportStyle`, which fills it.
        var ink: String
    }

    /// What it shows, in a few words, for those who cannot see it.
    var title: String
    /// The same in a sentence or two, with its extremes.
    var description: String
    var columns: [Column]
    /// Below the first and the last column.
    var ends: (first: String, last: String)
    /// Below the chart: what a column is, and how high the highest is.
    var note: String
    /// Tells its patterns from those of another chart of the page.
    var name: String

    private static let width = 720
    private static let height = 150

    var html: HTML {
        """
        <figure class="chart">
        <svg viewBox="0 0 \(Self.width) \(Self.height)" role="img" aria-labelledby="\(name)-title \(name)-text">
        <title id="\(name)-title">\(title)</title>
        <desc id="\(name)-text">\(description)</desc>
        <line class="axis" x1="0" y1="\(Self.height - 1)" x2="\(Self.width)" y2="\(Self.height - 1)"/>
        \(columns.indices.filter { columns[$0].height > 0 }.map(column))
        </svg>
        <p class="ends"><span>\(ends.first)</span><span>\(ends.last)</span></p>
        <figcaption class="note">\(note)</figcaption>
        </figure>
        """
    }

    private func column(_ index: Int) -> HTML {
        let column = columns[index]
        let largest = columns.map(\.height).max() ?? 1
        let step = Double(Self.width) / Double(max(columns.count, 1))
        // A single column would be a wall.
        let width = min(step * (columns.count > 60 ? 0.92 : 0.84), 64)
        let left = Double(index) * step + (step - width) / 2
        var bottom = Double(Self.height - 1)
        let shown = column.parts.filter { $0.value > 0 }
        let rects: [HTML] = shown.map { part in
            // Something is always visible where there is something.
            let height = max(1.5, Double(part.value) / Double(largest) * Double(Self.height - 6))
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

    /// The patterns by which parts differ also without colours, once for all charts of a page.
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
}
