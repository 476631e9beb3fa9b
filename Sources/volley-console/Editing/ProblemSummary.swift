import Base
import Campaigns

/// What keeps a campaign from being planned, above the form's fields, each with a link to where it
/// is mended: the field, the section, or the source. A form that was just opened tells what is left
/// to do; one that was refused, what is wrong with it.
enum ProblemSummary {
    /// The section that shows what is below a key of the file.
    private static let sections = [
        "audience": "who", "content": "what", "variants": "what", "activity": "what", "schedule": "when",
        "delivery": "how",
    ]

    /// - Parameter source: the link to the file.
    static func html(_ context: ComposerContext, source: HTML) -> HTML {
        let wrong = refusals(context) + atFields(context) + elsewhere(context, .error, source)
        let isRefused = !context.trial.mistakes.isEmpty || context.trial.edit != nil
        let problems: HTML =
            wrong.isEmpty
            ? ""
            : """
            <section class="warnings problems" aria-labelledby="problems"\(isRefused ? " role=\"alert\"" : "" as HTML)>
            <h2 id="problems">\(isRefused ? "There is a problem" : "Before it can be planned")</h2><ul>\(wrong)</ul></section>
            """
        let doubts = elsewhere(context, .warning, source)
        return
            "\(problems)\(doubts.isEmpty ? "" : "<section class=\"warnings\" aria-label=\"Doubts\"><ul>\(doubts)</ul></section>")"
    }

    /// Values that were not written, in the order of the form.
    private static func refusals(_ context: ComposerContext) -> [HTML] {
        let fields = CampaignForm.fields(in: context.edit)
        let places = Dictionary(fields.enumerated().map { ($1.name, $0) }) { first, _ in first }
        let names = context.trial.mistakes.keys.sorted { (places[$0] ?? .max, $0) < (places[$1] ?? .max, $1) }
        return names.compactMap { name in
            context.trial.mistakes[name].map { mistake in
                let field = places[name].map { fields[$0] }
                return line(anchor: field.map(anchor) ?? "\(name)-mistake", field?.label ?? "", Diagnostic(mistake))
            }
        }
    }

    private static func atFields(_ context: ComposerContext) -> [HTML] {
        CampaignForm.fields(in: context.edit).flatMap { field in
            context.findings(of: field).filter { $0.severity == .error }.map {
                line(anchor: anchor(of: field), field.label, $0)
            }
        }
    }

    /// What belongs to no field: the section of its key has the heading, and what no section shows
    /// is in the source.
    private static func elsewhere(_ context: ComposerContext, _ severity: Diagnostic.Severity, _ source: HTML) -> [HTML]
    {
        context.otherFindings.filter { $0.severity == severity }.map { finding in
            guard let place = finding.position, place.file == context.item.path else {
                return "<li dir=\"auto\">\(FieldWords.text(finding, in: context.item.path))</li>"
            }
            let key =
                context.tried.keys(at: []).first { context.tried.lines(at: [$0])?.contains(place.line) ?? false } ?? ""
            guard let section = sections[key] else {
                return "<li dir=\"auto\">\(FieldWords.text(finding)) \(source)</li>"
            }
            return line(anchor: section, TextFormat.capitalized(section), finding)
        }
    }

    private static func line(anchor: String, _ label: String, _ finding: Diagnostic) -> HTML {
        let text = FieldWords.text(finding)
        return label.isEmpty
            ? "<li dir=\"auto\"><a href=\"#\(anchor)\">\(text)</a></li>"
            : "<li dir=\"auto\"><a href=\"#\(anchor)\">\(label)</a>: \(text)</li>"
    }

    /// A group has no control of its own, but its section a heading.
    private static func anchor(of field: CampaignForm.Field) -> String {
        if case .group = field.kind { sections[field.path.first ?? ""] ?? field.name } else { field.name }
    }
}
