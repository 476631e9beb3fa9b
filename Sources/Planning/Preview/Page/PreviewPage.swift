import Audience
public import Base
import PushServices
public import Reports

/// A preview as a page: one file that needs no network and no script, for a phone, a large screen
/// or paper.
///
/// The first screen says how many devices get what, when, where and under which rules. Then follow
/// warnings, every text, and the devices that get it and those that do not.
public struct PreviewPage: Sendable {
    let preview: Preview
    let madeAt: Timestamp
    /// The readers.
    let face: TextMedium
    /// Makes the items of the warnings for readers in a browser; nil for the terminal's words.
    let items: (@Sendable ([Diagnostic]) -> [HTML])?

    /// - Parameters:
    ///   - madeAt: the time shown in the footer.
    ///   - items: makes the items of the list of warnings; nil for the terminal's words.
    public init(
        preview: Preview, madeAt: Timestamp, for face: TextMedium = .terminal,
        items: (@Sendable ([Diagnostic]) -> [HTML])? = nil
    ) {
        self.preview = preview
        self.madeAt = madeAt
        self.face = face
        self.items = items
    }

    var badge: EnvironmentBadge { EnvironmentBadge(preview.destination, of: preview.service) }

    /// The page as one HTML file.
    public var html: HTML {
        PageStyle.document(title: "Preview of \(preview.campaign), \(preview.destination)", style: "", content)
    }

    /// What the page shows, to embed in another page with `PageStyle.sheet`.
    public var content: HTML { parts.withoutTokens }

    private var parts: HTML {
        """
        \(head)
        \(summary)
        \(warnings)
        \(texts)
        \(audience)
        \(groups)
        \(schedule)
        \(comparison)
        <footer>\(face == .terminal ? "Plan hash \(String(preview.planHash.prefix(16))) · " : "" as HTML)made by Volley \(volleyVersion) at \(moment(madeAt)) \(preview.calls == nil ? " · \(preview.service.target.nouns) are shortened" : "")\
        <span class="when-printed"> · folded sections are not printed</span></footer>
        """
    }

    private var head: HTML {
        let about: HTML = preview.words.description.map { "<p class=\"about\" dir=\"auto\">\($0)</p>" } ?? ""
        return """
            <header>
            <p class="eyebrow"><span>Preview · nothing was sent</span> \(badge.html)</p>
            <h1>\(preview.campaign)</h1>
            \(about)
            </header>
            """
    }

    // MARK: - Pieces

    /// `2026-12-01 09:00 UTC`
    func moment(_ moment: Timestamp) -> String {
        moment.description.prefix(16).replacing("T", with: " ") + " UTC"
    }

    /// What selects a device, in the words of the readers: `tag:vip`, or `the tag vip`.
    func selector(_ name: String) -> String {
        guard face == .console else { return name }
        return name.hasPrefix("tag:") ? "the tag \(name.dropFirst("tag:".count))" : name.replacing("_", with: " ")
    }

    /// A number that `preview --json` also holds, under the path of members that leads to it,
    /// joined by slashes.
    func figure(_ path: String, number: Int) -> HTML {
        "<span data-figure=\"\(path)\" data-value=\"\(number)\">\(TextFormat.count(number))</span>"
    }

    /// Names with their numbers, on one scale.
    func bars(_ rows: [(name: HTML, number: HTML, count: Int)], of total: Int) -> HTML {
        let items = rows.map { name, number, count in
            BarList.Item(
                name, number, share: TextFormat.percent(total == 0 ? 0 : Double(count) / Double(total)),
                parts: [.init(count)])
        }
        return BarList(items, whole: total).html
    }
}

/// When it goes out, and what changed since the last run.
extension PreviewPage {
    var schedule: HTML {
        guard let schedule = preview.schedule else { return "" }
        let details: [HTML] = schedule.details.map { "<li>\($0)</li>" }
        let list: HTML = details.isEmpty ? "" : "<ul>\(details)</ul>"
        return """
            <section class="panel"><h2>When it goes out</h2>
            <p>\(schedule.headline)</p>
            \(list)</section>
            """
    }

    var comparison: HTML {
        guard let comparison = preview.comparison, !comparison.shiftTexts.isEmpty else { return "" }
        let shifts: [HTML] = comparison.shiftTexts.map { "<li>\($0)</li>" }
        return """
            <section class="panel short"><h2>Since the last run</h2>
            <p>\(comparison.text), planned at \(moment(comparison.plannedAt)). Reasons that left out a larger or smaller share of the rows than in that run:</p>
            <ul>\(shifts)</ul></section>
            """
    }
}

/// What needs attention before the campaign is sent.
extension PreviewPage {
    /// How many warnings of one name are shown one by one.
    private static let shownOfAKind = 3

    var warnings: HTML {
        var parts: [HTML] = []
        let count = preview.lint.shown.count
        if count > 0 {
            parts.append(
                "<section class=\"warnings\"><h2>\(count) \(TextFormat.plural(count, one: "warning"))</h2><ul>\(items?(preview.lint.shown) ?? shown)</ul></section>"
            )
        }
        if !preview.lint.silenced.isEmpty {
            let silenced: [HTML] = preview.lint.silenced.map { warning, reason in
                let allowed: HTML = "<span class=\"note\">Allowed: \(reason)</span>"
                if let items { return "\(items([warning]))<li>\(allowed)</li>" }
                return
                    "<li>\(warning.message) <span class=\"chip\">\(warning.name?.rawValue ?? "")</span><br>\(allowed)</li>"
            }
            let title: HTML = "\(silenced.count) allowed \(TextFormat.plural(silenced.count, one: "warning"))"
            parts.append(FoldedSection(title, "<ul>\(silenced)</ul>").html)
        }
        return HTML(parts)
    }

    private var shown: [HTML] {
        var counts: [WarningName?: Int] = [:]
        for warning in preview.lint.shown { counts[warning.name, default: 0] += 1 }
        var seen: [WarningName?: Int] = [:]
        return preview.lint.shown.compactMap { warning in
            seen[warning.name, default: 0] += 1
            let (number, count) = (seen[warning.name] ?? 0, counts[warning.name] ?? 0)
            if warning.name != nil, number > Self.shownOfAKind {
                guard number == count, let name = warning.name else { return nil }
                return "<li>… and \(count - Self.shownOfAKind) more <span class=\"chip\">\(name.rawValue)</span></li>"
            }
            let place: HTML = (warning.position?.description ?? warning.file).map { "<code>\($0)</code> " } ?? ""
            let name: HTML = warning.name.map { " <span class=\"chip\">\($0.rawValue)</span>" } ?? ""
            let remedy: HTML = warning.remedy(for: face).map { " \(Prose.html($0))" } ?? ""
            return "<li>\(place)\(Prose.html(warning.message(for: face))).\(remedy)\(name)</li>"
        }
    }
}

/// Every text, as its first recipients get it: a row for each language, a column for each variant.
extension PreviewPage {
    var texts: HTML {
        let groups = preview.groups.messages
        guard groups.contains(where: { $0.recipients > 0 }) else {
            return
                "<section class=\"panel\"><h2>What people read</h2><p class=\"note\">No device gets this campaign.</p></section>"
        }
        let cells = groups.indices.map { number in
            TextMatrix.Cell(
                variant: [groups[number].service, groups[number].variant].filter { !$0.isEmpty }.joined(
                    separator: ", "),
                language: groups[number].language, recipients: groups[number].recipients,
                cards: cards(number))
        }
        let holdout: HTML =
            preview.groups.holdout.map {
                "<p class=\"note\">In addition, \(TextFormat.counted($0, one: "device of the holdout gets", many: "devices of the holdout get")) nothing, for comparison.</p>"
            } ?? ""
        let note: HTML =
            groups.count > 1
            ? "<p class=\"note\">\(groups.count) texts, each as one of its devices gets it. A text that no device gets is shown as in the campaign file.</p>"
            : "<p class=\"note\">One text, as \(preview.calls == nil ? "the first of its devices" : "every device") gets it.</p>"
        return "<section class=\"panel\"><h2>What people read</h2>\(note)\(TextMatrix(cells).html)\(holdout)</section>"
    }

    private func cards(_ number: Int) -> [HTML] {
        let samples = preview.samples.filter { $0.message == number }
        guard samples.isEmpty else { return samples.map(card) }
        let texts: [HTML] = preview.groups.messages[number].texts.map { key, text in
            "<p class=\"\(key)\" dir=\"auto\">\(text)</p>"
        }
        return texts.isEmpty ? [] : ["<div class=\"unread\">\(texts)</div>"]
    }

    private func card(_ sample: PreviewSample) -> HTML {
        let payload = sample.shownPayload
        let card = PushCard(app: preview.app, sample.service.shown(payload))
        let names = sample.selectedBy.map(selector).joined(separator: ", ")
        let detail: HTML = """
            \(card.marks)<p class="note">\(sample.shownToken)\(names.isEmpty ? "" : " · \(names)")</p><pre dir="ltr">\(payload.indentedText)</pre>
            """
        return
            "<article>\(card.html)\(FoldedSection(face == .terminal ? "Payload, \(sample.payload.count) bytes" : "For app developers: what the service gets", detail).html)</article>"
    }
}

/// The devices that get it and those that do not: the way from the export to the audience, one
/// count for each condition, and the groups of the audience.
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
                "<span dir=\"auto\">\(condition.words)</span>",
                figure("conditions/\(number)/holds", number: condition.count.holdingRows),
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
                notes: ["\($0.effect)"])
        }
        return "<h3>Excluded devices</h3>\(BarList(items).html)"
    }

    var groups: HTML {
        if preview.calls != nil { return "" }
        let total = preview.audience.audience
        let selectors = preview.audience.selectedBy.map {
            (
                "<span dir=\"auto\">\(selector($0.selector))</span>" as HTML,
                figure("selected_by/\($0.selector)", number: $0.recipients), $0.recipients
            )
        }
        let languages = preview.languages.map {
            (Self.name($0.name), figure("languages/\($0.name)", number: $0.recipients), $0.recipients)
        }
        let shown = list("Languages", Array(languages.prefix(Self.shownLanguages)), of: total)
        let others = Array(languages.dropFirst(Self.shownLanguages))
        return """
            <section class="panel"><h2>The audience in groups</h2><div class="columns">
            <div>\(list("Selected by", selectors, of: total))\(list("Variants", variants, of: total + (preview.groups.holdout ?? 0)))</div>
            <div>\(shown)\(FoldedSection("\(others.count) more languages", bars(others, of: total)).html)</div></div></section>
            """
    }

    /// How many languages are shown before a reader unfolds the rest.
    private static let shownLanguages = 12

    private static func name(_ language: String) -> HTML {
        language == "unknown" ? "Not known <span class=\"code\">unknown</span>" : LanguageName.html(language)
    }

    private var variants: [(name: HTML, number: HTML, count: Int)] {
        preview.groups.variants.map {
            (
                "<span dir=\"auto\">\($0.name)</span>", figure("variants/\($0.name)", number: $0.recipients),
                $0.recipients
            )
        }
            + (preview.groups.holdout.map { [("Holdout" as HTML, figure("skipped/holdout", number: $0), $0)] } ?? [])
    }

    private func list(_ title: String, _ rows: [(name: HTML, number: HTML, count: Int)], of total: Int) -> HTML {
        rows.isEmpty ? "" : "<h3>\(title)</h3>\(bars(rows, of: total))"
    }
}
