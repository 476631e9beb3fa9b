import Audience
import Base
import Reports

/// A preview as a page: one file that needs no network and no script, for a phone, a large screen or paper.
struct PreviewPage {
    let preview: Preview
    /// For people; nil when the campaign has none.
    let description: String?
    let madeAt: Timestamp

    /// Warnings of one name that are shown one by one.
    private static let shownOfAKind = 3

    var html: HTML {
        PageStyle.document(
            title: "Preview of \(preview.campaign)", style: PreviewStyle.sheet,
            """
            \(head)
            \(figures)
            \(warnings)
            <h2>What people see</h2>
            \(messages)
            <h2>Who gets it</h2>
            <div class="columns">
            \(table("Selected by", preview.audience.selectedBy.map { ($0.selector, $0.recipients) }, of: preview.audience.audience))
            \(table("Languages", preview.languages.map { ($0.name, $0.recipients) }, of: preview.audience.audience))
            \(table("Texts", preview.groups.texts.map { ($0.name, $0.recipients) }, of: preview.audience.audience))
            \(table("Variants", variants, of: preview.audience.audience + (preview.groups.holdout ?? 0)))
            </div>
            \(schedule)
            <h2>Who does not</h2>
            \(skipped)
            \(exclusions)
            \(comparison)
            <footer>Plan hash \(String(preview.planHash.prefix(16))) · made by Volley \(volleyVersion) at \(moment(madeAt)) · device tokens are shortened</footer>
            """)
    }

    private var head: HTML {
        let text: [HTML] = description.map { ["<p class=\"lead\" dir=\"auto\">\($0)</p>"] } ?? []
        return """
            <header>
            <p class="eyebrow">Preview · nothing was sent</p>
            <h1>\(preview.campaign)</h1>
            \(text)
            </header>
            """
    }

    // MARK: - Figures

    private var figures: HTML {
        var figures = [
            figure(
                TextFormat.count(preview.audience.audience), preview.audience.audience == 1 ? "device" : "devices",
                "of \(preview.app) (\(preview.destination)), from \(TextFormat.count(preview.audience.rows)) rows")
        ]
        if let pace = preview.pace, let seconds = preview.secondsAtPace {
            figures.append(figure(TextFormat.duration(seconds: seconds), "", "to send, at \(pace)"))
        } else {
            figures.append(figure("No pace", "", "as fast as the server allows"))
        }
        if let bytes = preview.payloadBytes {
            let size = bytes.min == bytes.max ? "\(bytes.max)" : "\(bytes.min)–\(bytes.max)"
            figures.append(
                figure(size, "bytes", bytes.min == bytes.max ? "each payload" : "a payload; half of them have at most \(bytes.p50)"))
        }
        if let comparison = preview.comparison {
            let change = comparison.change.map { $0 == 0 ? "±0 %" : "\($0 < 0 ? "−" : "+")\(TextFormat.percent(abs($0)))" } ?? "new"
            figures.append(figure(change, "", comparison.text))
        }
        return "<section class=\"figures\">\(figures)</section>"
    }

    private func figure(_ value: String, _ unit: String, _ note: String) -> HTML {
        "<div class=\"figure\"><p><b>\(value)</b> \(unit)</p><p class=\"note\">\(note)</p></div>"
    }

    private var warnings: HTML {
        guard !preview.lint.shown.isEmpty || !preview.lint.silenced.isEmpty else { return "" }
        var counts: [WarningName?: Int] = [:]
        for warning in preview.lint.shown { counts[warning.name, default: 0] += 1 }
        var seen: [WarningName?: Int] = [:]
        let shown: [HTML] = preview.lint.shown.compactMap { warning in
            seen[warning.name, default: 0] += 1
            let (number, count) = (seen[warning.name] ?? 0, counts[warning.name] ?? 0)
            if warning.name != nil, number > Self.shownOfAKind {
                guard number == count, let name = warning.name else { return nil }
                return "<li>… and \(count - Self.shownOfAKind) more <span class=\"chip\">\(name.rawValue)</span></li>"
            }
            let place: HTML = (warning.position?.description ?? warning.file).map { "<code>\($0)</code> " } ?? ""
            let name: HTML = warning.name.map { " <span class=\"chip\">\($0.rawValue)</span>" } ?? ""
            let remedy: HTML = warning.remedy.map { " \($0)" } ?? ""
            return "<li>\(place)\(warning.message).\(remedy)\(name)</li>"
        }
        let silenced: [HTML] = preview.lint.silenced.map { warning, reason in
            "<li>\(warning.message) <span class=\"chip\">\(warning.name?.rawValue ?? "")</span><br><span class=\"note\">Allowed: \(reason)</span></li>"
        }
        var parts: [HTML] = []
        if !shown.isEmpty { parts.append("<section class=\"warnings\"><h2>Warnings</h2><ul>\(shown)</ul></section>") }
        if !silenced.isEmpty {
            parts.append(
                "<details class=\"silenced\"><summary>\(silenced.count) allowed warning\(silenced.count == 1 ? "" : "s")</summary><ul>\(silenced)</ul></details>"
            )
        }
        return HTML(parts)
    }

    // MARK: - Messages

    private var messages: HTML {
        let groups = preview.groups.messages
        let sections: [HTML] = groups.indices.compactMap { number in
            let samples = preview.samples.filter { $0.message == number }
            guard groups[number].recipients > 0 else { return nil }
            let count = "\(TextFormat.count(groups[number].recipients)) device\(groups[number].recipients == 1 ? "" : "s")"
            let heading: HTML = groups.count == 1 ? "" : "<h3>\(preview.groups.name(of: number)) <span class=\"note\">\(count)</span></h3>"
            let cards = samples.map(card)
            return "<section class=\"message\">\(heading)<div class=\"cards\">\(cards)</div></section>"
        }
        return sections.isEmpty ? "<p class=\"note\">Nobody gets this campaign.</p>" : HTML(sections)
    }

    private func card(_ sample: PreviewSample) -> HTML {
        let payload = sample.shownPayload
        let push = ShownPush(payload)
        let names = sample.selectedBy.joined(separator: ", ")
        return """
            <article>
            \(push.isSilent ? silent : lockScreen(push))
            \(marks(push))
            <p class="note">\(sample.token.redacted)\(names.isEmpty ? "" : " · \(names)")</p>
            <details><summary>Payload, \(sample.payload.count) bytes</summary><pre dir="ltr">\(payload.indentedText)</pre></details>
            </article>
            """
    }

    private var silent: HTML { "<div class=\"push silent\"><p>Nobody sees this push: it wakes the app in the background.</p></div>" }

    private func lockScreen(_ push: ShownPush) -> HTML {
        let texts: [HTML] = push.texts.map { key, text in "<p class=\"\(key)\" dir=\"auto\">\(text)</p>" }
        let empty: HTML = push.texts.isEmpty ? "<p class=\"note\">(no text)</p>" : ""
        let image: HTML =
            push.image.isEmpty ? "" : "<div class=\"image\" title=\"\(push.image)\"><span>image</span></div>"
        return """
            <div class="push">
            <div class="icon" aria-hidden="true">\(String(preview.app.prefix(1)).uppercased())</div>
            <div class="text"><p class="app"><span>\(preview.app)</span><span>now</span></p>\(texts)\(empty)</div>
            \(image)
            </div>
            """
    }

    private func marks(_ push: ShownPush) -> HTML {
        var chips: [HTML] = push.marks.map { "<li>\($0.name) <b>\($0.value)</b></li>" }
        if !push.image.isEmpty { chips.insert("<li>image <b>\(push.image)</b></li>", at: 0) }
        chips += push.ownKeys.map { "<li class=\"own\">\($0.name) <b>\($0.value)</b></li>" }
        return chips.isEmpty ? "" : "<ul class=\"chips\">\(chips)</ul>"
    }

    // MARK: - Tables

    private var variants: [(String, Int)] {
        preview.groups.variants.map { ($0.name, $0.recipients) } + (preview.groups.holdout.map { [("holdout", $0)] } ?? [])
    }

    private func table(_ title: String, _ rows: [(String, Int)], of total: Int) -> HTML {
        guard !rows.isEmpty else { return "" }
        let lines: [HTML] = rows.map { "<tr>\(cells($0.0, $0.1, of: total))</tr>" }
        return "<table><caption>\(title)</caption><tbody>\(lines)</tbody></table>"
    }

    private func cells(_ name: String, _ count: Int, of total: Int) -> HTML {
        let share = total == 0 ? 0 : Double(count) / Double(total)
        let width = count == 0 ? "0" : "\(max(0.5, (share * 1000).rounded() / 10))"
        return """
            <th scope="row" dir="auto">\(name)</th><td>\(TextFormat.count(count))</td><td class="share">\(TextFormat.percent(share))</td>\
            <td class="bar"><div style="width:\(width)%"></div></td>
            """
    }

    private var skipped: HTML {
        guard !preview.skipped.isEmpty else { return "<p class=\"note\">Every row is in the audience.</p>" }
        let lines: [HTML] = preview.skipped.map { name, rows in
            let notes: [HTML] = preview.notes.filter { $0.reason.rawValue == name }.map { note in
                "<tr class=\"why\(note.isTrouble ? " trouble" : "")\"><td colspan=\"4\">\(note.text)</td></tr>"
            }
            return "<tr>\(cells(name, rows, of: preview.audience.rows))</tr>\(notes)"
        }
        return "<table class=\"skipped\"><caption>Skipped rows</caption><tbody>\(lines)</tbody></table>"
    }

    private var exclusions: HTML {
        guard !preview.audience.exclusions.isEmpty else { return "" }
        let lines: [HTML] = preview.audience.exclusions.map {
            "<tr><th scope=\"row\" dir=\"auto\">\($0.name)</th><td>\(TextFormat.count($0.devices))</td><td class=\"note\">\($0.extent)</td></tr>"
        }
        return "<table><caption>Excluded devices</caption><tbody>\(lines)</tbody></table>"
    }

    private var schedule: HTML {
        guard let schedule = preview.schedule else { return "" }
        let details: [HTML] = schedule.details.map { "<li>\($0)</li>" }
        let list: HTML = details.isEmpty ? "" : "<ul>\(details)</ul>"
        return """
            <h2>When it goes out</h2>
            <p>\(schedule.headline)</p>
            \(list)
            """
    }

    private var comparison: HTML {
        guard let comparison = preview.comparison else { return "" }
        let shifts: [HTML] = comparison.shiftTexts.map { "<li>\($0)</li>" }
        let list: HTML = shifts.isEmpty ? "" : "<ul>\(shifts)</ul>"
        return """
            <h2>Since the last run</h2>
            <p>\(comparison.text), planned at \(moment(comparison.plannedAt)).</p>
            \(list)
            """
    }

    /// `2026-12-01 09:00 UTC`
    private func moment(_ moment: Timestamp) -> String {
        moment.description.prefix(16).replacing("T", with: " ") + " UTC"
    }
}
