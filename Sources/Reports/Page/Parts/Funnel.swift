public import Base
public import PushServices

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
