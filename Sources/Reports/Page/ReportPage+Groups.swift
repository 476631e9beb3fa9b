import Base
import PushServices
import Runs

/// Variants and the holdout, and languages.
extension ReportPage {
    /// How many languages are shown before a reader unfolds the rest.
    private static let shownLanguages = 12

    // MARK: - Variants

    var variants: HTML {
        let variants = report.variants
        guard !variants.isEmpty || report.holdout != nil else { return "" }
        let texts = PlannedText.all(in: report.plan)
        let all = report.plan.audience + (report.holdout ?? 0)
        var boxes: [HTML] = variants.map { variant in
            let text = texts.filter { $0.variant == variant.name }.max { $0.recipients < $1.recipients }
            let card: HTML = text.map { PushCard(app: report.plan.app, $0.push).html } ?? ""
            return box(
                "\(variant.name)", number: figure("variants/\(variant.name)/audience", number: variant.audience),
                share: "\(Self.percent(variant.audience, of: all))", what: accepted(variant), card: card)
        }
        if let holdout = report.holdout {
            boxes.append(
                box(
                    "Holdout", number: figure("skipped/holdout", number: holdout),
                    share: "\(Self.percent(holdout, of: all))",
                    what: "got nothing, to compare with", isHoldout: true))
        }
        let table = groupTable("Variant", path: "variants", variants)
        return """
            <section class="panel short"><h2>Variants\(report.holdout == nil ? "" : ", and the holdout" as HTML)</h2>
            <p class="note">What these groups did later (visits, purchases) shows which text works better, or if the campaign does. \(report.takers) \(report.services.count > 1 ? "accept" : "accepts") a dull text as \
            readily as a good one. The CSV report lists the devices of each variant, so you can compare them elsewhere.</p>
            <div class="groups">\(boxes)</div>
            \(FoldedSection("Every outcome of each variant", table).html)
            </section>
            """
    }

    private func box(
        _ name: HTML, number: HTML, share: HTML, what: HTML, card: HTML = "", isHoldout: Bool = false
    ) -> HTML {
        """
        <div class="group\(isHoldout ? " holdout" : "" as HTML)"><p class="name" dir="auto">\(name)</p>
        <p><b>\(number)</b> devices, \(share)</p><p class="note">\(what)</p>\(card)</div>
        """
    }

    private func accepted(_ group: ReportGroup) -> HTML {
        guard hasBegun else { return report.isHeld ? "not sent by the backup" : "not sent yet" }
        return "\(TextFormat.percent(group.share(.accepted))) accepted\(report.isHeld ? " by the backup" : "" as HTML)"
    }

    // MARK: - Languages

    var languages: HTML {
        let languages = report.languages
        guard languages.count > 1 else { return "" }
        let items = languages.prefix(Self.shownLanguages).map { group in
            BarList.Item(
                Self.name(group.name), figure("languages/\(group.name)/audience", number: group.audience),
                share: hasBegun ? "\(TextFormat.percent(group.share(.accepted)))" : percent(group.audience),
                parts: [.init(hasBegun ? group.count(.accepted) : group.audience, ink: hasBegun ? "accepted" : "plain")]
                    + (hasBegun ? [.init(group.audience - group.count(.accepted), ink: "lost")] : []))
        }
        let hidden = languages.dropFirst(Self.shownLanguages)
        let devices = hidden.reduce(0) { $0 + $1.audience }
        let more: HTML =
            hidden.isEmpty
            ? ""
            : "<p class=\"note\">and \(TextFormat.count(hidden.count)) more languages with \(TextFormat.devices(devices))</p>"
        let how =
            hasBegun
            ? "The share says for how many of a language’s devices it was accepted; the bar’s end shows the others."
            : "Shares are of the audience."
        return """
            <section class="panel"><h2>Languages</h2>
            <p class="note">By the language that the export gives for the device, not the language of the text it got. \(how)</p>
            \(BarList(Array(items)).html)\(more)
            \(FoldedSection("Every outcome of each language", groupTable("Language", path: "languages", languages)).html)
            \(FoldedSection("Every language of every variant", cross).html)
            </section>
            """
    }

    private static func name(_ language: String) -> HTML {
        language == Report.unknownLanguage
            ? "Not known <span class=\"code\">\(language)</span>" : LanguageName.html(language)
    }

    private var cross: HTML {
        HTML(
            report.languagesOfVariants.map { variant, languages in
                "<h3 dir=\"auto\">\(variant)</h3>\(groupTable("Language", path: "languages_of_variants/\(variant)", languages))"
            })
    }

    // MARK: - In full

    private func groupTable(_ name: String, path: String, _ groups: [ReportGroup]) -> HTML {
        guard !groups.isEmpty else { return "" }
        let shown = Outcome.allCases.filter { outcome in
            outcome == .accepted || groups.contains { $0.count(outcome) > 0 }
        }
        var rows = groups.prefix(Self.shownRows).map { group in
            DataTable.Row(
                name: name == "Language" ? Self.name(group.name) : "\(group.name)",
                cells: [
                    figure("\(path)/\(group.name)/audience", number: group.audience),
                    hasBegun ? "\(TextFormat.percent(group.share(.accepted)))" : "–",
                ] + shown.map { figure("\(path)/\(group.name)/\($0.name)", number: group.count($0)) })
        }
        let hidden = groups.dropFirst(Self.shownRows)
        if !hidden.isEmpty {
            rows.append(
                DataTable.Row(
                    name: "and \(TextFormat.count(hidden.count)) more",
                    cells: ["\(TextFormat.count(hidden.reduce(0) { $0 + $1.audience }))"]
                        + Array(repeating: "", count: shown.count + 1)))
        }
        return DataTable(columns: [name, "devices", "share accepted"] + shown.map(\.name), rows: rows).html
    }

    static let groupStyle: HTML = """

        .groups { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 14rem), 1fr)); gap: .8rem; align-items: stretch; }
        @media print { .groups { grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); } }
        .group { border: 1px solid var(--line); border-radius: .7rem; padding: .8rem .9rem; min-width: 0; break-inside: avoid; }
        .group.holdout { border-style: dashed; }
        .group .name { font-weight: 600; }
        .group b { font-size: 1.35rem; font-variant-numeric: tabular-nums; }
        .group .push { margin-top: .6rem; padding: .9rem .8rem; }
        .group .push::before { inset: .35rem; border-radius: .8rem; }
        .group .icon { display: none; }

        """
}
