import Audience
import Base
import PushServices
import Reports

/// Who gets it and who does not: the way from the export to the audience, one count for each condition, and the groups of the audience.
extension PreviewPage {
    /// What the calls name, where the service chooses the devices.
    private func list(_ calls: [AudienceCall]) -> HTML {
        let items: [HTML] = AudienceCall.lines(calls, atMost: Preview.shownCalls).map { "<li dir=\"auto\">\($0)</li>" }
        return """
            <section class="panel"><h2>Who gets it</h2>
            <p class="note">\(preview.service.displayName) chooses the devices, and it alone knows how many they are. It gets these calls:</p>
            <ul class="plain">\(items)</ul>
            </section>
            """
    }

    var audience: HTML {
        if let calls = preview.calls { return list(calls) }
        let notes = Dictionary(grouping: preview.notes, by: \.reason).mapValues {
            $0.map { Funnel.Note($0.text(for: face), isTrouble: $0.isTrouble) }
        }
        let funnel = Funnel(
            rows: preview.audience.rows, skipped: preview.audience.skipped, audience: preview.audience.audience,
            target: preview.service.target, notes: notes, figure: figure)
        return """
            <section class="panel"><h2>Who gets it and who does not</h2>
            <p class="note">From the rows of the export to the audience. Each step keeps part of the step before. Shares are of the rows.</p>
            \(funnel.html)
            \(conditions)
            \(exclusions)
            </section>
            """
    }

    private var conditions: HTML {
        guard !preview.conditions.isEmpty else { return "" }
        let items = preview.conditions.enumerated().map { number, condition in
            let (rows, unreadable) = (condition.count.rows, condition.count.unreadableRows)
            var notes: [HTML] = ["of \(figure("conditions/\(number)/rows", number: rows)) rows checked"]
            if unreadable > 0 {
                let cells = condition.count.cells.map(AudienceWords.shown).joined(separator: ", ")
                notes.append(
                    "<span class=\"trouble\">\(figure("conditions/\(number)/unreadable", number: unreadable)) with a cell that cannot be compared: \(cells)</span>"
                )
            }
            return BarList.Item(
                "<span dir=\"auto\">\(condition.words)</span>", figure("conditions/\(number)/holds", number: condition.count.holdingRows),
                share: TextFormat.percent(
                    condition.count.rows == 0 ? 0 : Double(condition.count.holdingRows) / Double(condition.count.rows)),
                parts: [.init(condition.count.holdingRows)], notes: notes)
        }
        return """
            <h3>Each condition</h3>
            <p class="note">How many rows meet the condition, of the rows that the campaign names and that meet the conditions above it. Older rows of a device count too.</p>
            \(BarList(items, whole: preview.conditions.first?.count.rows).html)
            """
    }

    private var exclusions: HTML {
        guard !preview.audience.exclusions.isEmpty else { return "" }
        let items = preview.audience.exclusions.map {
            BarList.Item(
                "<span dir=\"auto\">\($0.name)</span>", "\(TextFormat.count($0.devices))", parts: [.init($0.devices)],
                notes: ["\($0.extent)"])
        }
        return "<h3>Excluded devices</h3>\(BarList(items).html)"
    }

    var groups: HTML {
        if preview.calls != nil { return "" }
        let total = preview.audience.audience
        let selectors = preview.audience.selectedBy.map {
            ("<span dir=\"auto\">\($0.selector)</span>" as HTML, figure("selected_by/\($0.selector)", number: $0.recipients), $0.recipients)
        }
        let languages = preview.languages.map { (Self.name($0.name), figure("languages/\($0.name)", number: $0.recipients), $0.recipients) }
        let shown = list("Languages", Array(languages.prefix(Self.shownLanguages)), of: total)
        let others = Array(languages.dropFirst(Self.shownLanguages))
        return """
            <section class="panel"><h2>The audience in groups</h2><div class="columns">
            <div>\(list("Selected by", selectors, of: total))\(list("Variants", variants, of: total + (preview.groups.holdout ?? 0)))</div>
            <div>\(shown)\(Fold("\(others.count) more languages", bars(others, of: total)).html)</div></div></section>
            """
    }

    /// How many languages are shown before a reader unfolds the rest.
    private static let shownLanguages = 12

    private static func name(_ language: String) -> HTML {
        language == "unknown" ? "Not known <span class=\"code\">unknown</span>" : LanguageName.html(language)
    }

    private var variants: [(name: HTML, number: HTML, count: Int)] {
        preview.groups.variants.map {
            ("<span dir=\"auto\">\($0.name)</span>", figure("variants/\($0.name)", number: $0.recipients), $0.recipients)
        }
            + (preview.groups.holdout.map { [("Holdout" as HTML, figure("skipped/holdout", number: $0), $0)] } ?? [])
    }

    private func list(_ title: String, _ rows: [(name: HTML, number: HTML, count: Int)], of total: Int) -> HTML {
        rows.isEmpty ? "" : "<h3>\(title)</h3>\(bars(rows, of: total))"
    }
}
