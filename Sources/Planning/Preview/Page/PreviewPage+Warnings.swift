import Base
import Reports

/// What needs attention before the campaign is sent.
extension PreviewPage {
    /// How many warnings of one name are shown one by one.
    private static let shownOfAKind = 3

    var warnings: HTML {
        var parts: [HTML] = []
        let count = preview.lint.shown.count
        if count > 0 {
            parts.append(
                "<section class=\"warnings\"><h2>\(count) \(TextFormat.plural(count, one: "warning"))</h2><ul>\(shown)</ul></section>")
        }
        if !preview.lint.silenced.isEmpty {
            let silenced: [HTML] = preview.lint.silenced.map { warning, reason in
                "<li>\(warning.message) <span class=\"chip\">\(warning.name?.rawValue ?? "")</span><br><span class=\"note\">Allowed: \(reason)</span></li>"
            }
            let title: HTML = "\(silenced.count) allowed \(TextFormat.plural(silenced.count, one: "warning"))"
            parts.append(Fold(title, "<ul>\(silenced)</ul>").html)
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
