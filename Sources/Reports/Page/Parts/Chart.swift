public import Base
public import PushServices
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

/// From the rows of an export to the devices for which it was accepted, step by step, with what
/// each step left out. Every skip reason belongs to exactly one step: a step's number is that of
/// the step before minus what is listed between them.
public struct Funnel {
    /// The reason why rows were left out, in a sentence.
    public struct Note {
        var text: String
        var isTrouble: Bool

        /// - Parameter isTrouble: whether it needs attention.
        public init(_ text: String, isTrouble: Bool) { (self.text, self.isTrouble) = (text, isTrouble) }
    }

    struct Step {
        var name: String
        var count: Int
        /// The name of the figure in the JSON; nil for one that follows from others.
        var path: String?
        var drops: [(reason: SkipReason, rows: Int)] = []
        /// What else was lost since the step before.
        var losses: [HTML] = []
    }

    private(set) var steps: [Step]
    private let target: TargetForm
    private let notes: [SkipReason: [Note]]
    private let figure: (_ path: String, _ number: Int) -> HTML

    /// Of an export.
    /// - Parameters:
    ///   - target: what targets of the service are called.
    ///   - notes: by reason; shown at once where they mean trouble.
    ///   - figure: how to write a number that the JSON also holds.
    public init(
        rows: Int, skipped: [SkipReason: Int], audience: Int, target: TargetForm = PushServices.standard.target,
        notes: [SkipReason: [Note]] = [:],
        figure: @escaping (_ path: String, _ number: Int) -> HTML
    ) {
        self.target = target
        self.notes = notes
        self.figure = figure
        steps = [Step(name: "Rows of the export", count: rows, path: "rows")]
        let stages: [(name: String, reasons: [SkipReason])] = [
            ("Named by the campaign", [.badRow, .duplicateToken, .notMatched]), ("Conditions met", [.filtered]),
            ("Not excluded", [.excluded]),
        ]
        let last = SkipReason.allCases.filter { reason in !stages.contains { $0.reasons.contains(reason) } }
        for (place, stage) in (stages + [("Audience", last)]).enumerated() {
            let drops = stage.reasons.compactMap { reason in
                skipped[reason].flatMap { $0 > 0 ? (reason: reason, rows: $0) : nil }
            }
            .sorted { $0.rows > $1.rows }
            let isAudience = place == stages.count
            // A step that loses nothing is not shown.
            guard !drops.isEmpty || isAudience else { continue }
            let before = steps.last?.count ?? rows
            steps.append(
                Step(
                    name: stage.name, count: isAudience ? audience : before - drops.reduce(0) { $0 + $1.rows },
                    path: isAudience ? "audience" : nil, drops: drops))
        }
    }

    /// Adds the devices for which the service accepted it.
    mutating func end(accepted: Int, losses: [HTML]) {
        steps.append(Step(name: "Accepted", count: accepted, path: "outcomes/accepted", losses: losses))
    }

    /// The steps as bars on one scale, and, folded, what the reasons mean.
    public var html: HTML {
        let total = steps.first?.count ?? 0
        let items = steps.map { step in
            BarList.Item(
                "\(step.name)", step.path.map { figure($0, step.count) } ?? "\(TextFormat.count(step.count))",
                share: TextFormat.percent(total == 0 ? 0 : Double(step.count) / Double(total)),
                parts: [.init(step.count, ink: step.path == "outcomes/accepted" ? "accepted" : "plain")],
                notes: lines(step))
        }
        return
            "<div class=\"funnel\">\(BarList(items, whole: total).html)</div>\(FoldedSection("What left them out, in detail", details).html)"
    }

    private func lines(_ step: Step) -> [HTML] {
        let drops: [HTML] = step.drops.map { reason, rows in
            let troubles: [HTML] = (notes[reason] ?? []).filter(\.isTrouble).map { ": \(Prose.html($0.text))" }
            return
                "<span class=\"drop\(troubles.isEmpty ? "" : " trouble" as HTML)\">− \(figure("skipped/\(reason.rawValue)", rows)) \(OutcomeGuide.note(skipped: reason.rawValue, target: target))\(HTML(joined: troubles))</span>"
        }
        return drops + step.losses.map { "<span class=\"drop\">\($0)</span>" }
    }

    private var details: HTML {
        let told = steps.flatMap(\.drops).filter { !(notes[$0.reason] ?? []).isEmpty }
        let items: [HTML] = told.map { reason, _ in
            let texts: [HTML] = (notes[reason] ?? []).map { "<dd>\(Prose.html($0.text))</dd>" }
            return "<dt>\(reason.rawValue)</dt>\(texts)"
        }
        return items.isEmpty ? "" : "<dl class=\"facts\">\(items)</dl>"
    }

    static let style: HTML = """

        .funnel { break-inside: avoid; }
        .funnel .bars li { border-top: 0; padding: .3rem 0; }
        .funnel .note { padding-left: 1rem; border-left: .15rem solid var(--line); }

        """
}
