import Base
import PushServices
import Reports

/// Every text, as its first recipients get it: a row for each language, a column for each variant.
extension PreviewPage {
    var texts: HTML {
        let groups = preview.groups.messages
        guard groups.contains(where: { $0.recipients > 0 }) else {
            return "<section class=\"panel\"><h2>What people read</h2><p class=\"note\">No device gets this campaign.</p></section>"
        }
        let cells = groups.indices.map { number in
            TextMatrix.Cell(
                variant: [groups[number].service, groups[number].variant].filter { !$0.isEmpty }.joined(separator: ", "),
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
        let texts: [HTML] = preview.groups.messages[number].texts.map { key, text in "<p class=\"\(key)\" dir=\"auto\">\(text)</p>" }
        return texts.isEmpty ? [] : ["<div class=\"unread\">\(texts)</div>"]
    }

    private func card(_ sample: PreviewSample) -> HTML {
        let payload = sample.shownPayload
        let card = PushCard(app: preview.app, sample.service.shown(payload))
        let names = sample.selectedBy.joined(separator: ", ")
        let detail: HTML = """
            \(card.marks)<p class="note">\(sample.shownToken)\(names.isEmpty ? "" : " · \(names)")</p><pre dir="ltr">\(payload.indentedText)</pre>
            """
        return "<article>\(card.html)\(Fold("Payload, \(sample.payload.count) bytes", detail).html)</article>"
    }
}
