public import Base
public import Runs

/// The texts of a plan as phones show them, to stand in a page of others that has `PageStyle.sheet`.
public enum PlannedTextCards {
    /// More are told, not shown.
    private static let most = 30

    /// A card for each text, with who gets it; blank for a plan that keeps none.
    public static func html(of plan: RunPlan) -> HTML {
        let texts = PlannedText.all(in: plan)
        let cards: [HTML] = texts.prefix(most).map { text in
            let place = text.place(among: texts)
            let who: HTML = "\(place.isEmpty ? "" : "\(TextFormat.capitalized(place)): ")\(TextFormat.devices(text.recipients))"
            return "<div class=\"text\"><p class=\"note\" dir=\"auto\">\(who)</p>\(PushCard(app: plan.app, text.push).html)</div>"
        }
        guard !cards.isEmpty else { return "" }
        let more: HTML = texts.count > most ? "<p class=\"note\">And \(TextFormat.count(texts.count - most)) more texts.</p>" : ""
        return "<div class=\"texts\">\(cards)</div>\(more)"
    }
}
