public import Base

/// An explanation for readers without a terminal: who named the device, which condition it meets,
/// and what left it out. The terminal's lines are folded.
extension Explanation {
    /// The most devices that are told about one by one.
    private static let mostOnPage = 20
    /// Of the terminal's lines, in characters.
    private static let width = 90

    /// What a page shows.
    public var html: HTML { content.withoutTokens }

    private var content: HTML {
        let shown: [HTML] = devices.prefix(Self.mostOnPage).map { $0.html(campaign) }
        let more: HTML =
            devices.count > shown.count
            ? "<p class=\"note\">\(TextFormat.count(devices.count - shown.count)) more are not shown.</p>" : ""
        let answer: HTML =
            devices.isEmpty
            ? "<p><b>\(TextFormat.printable(who))</b> gets nothing: the exports hold no such device, alias or registration id.</p>"
            : "\(shown)\(more)"
        return """
            \(answer)<details><summary>For the people who prepare the exports</summary>\
            <pre class="plan" dir="auto" tabindex="0">\(TextFormat.printable(text(width: Self.width, colour: false)))</pre></details>
            """
    }
}

extension Explanation.Device {
    fileprivate func html(_ campaign: String) -> HTML {
        let known = names.isEmpty ? "" : TextFormat.printable(" (\(names.joined(separator: ", ")))")
        let name = token.map { "The device \($0.redacted)" } ?? "A row without \(aNoun)"
        // Rows that another one replaces say only that.
        let telling = rows.first(where: \.decides) ?? rows.first { $0.verdict == reason } ?? rows.first
        let steps: [HTML] = (telling?.steps ?? []).map {
            "<li>\($0.holds ? "✓" : "✗" as HTML) <span dir=\"auto\">\(TextFormat.printable($0.words))</span></li>"
        }
        let others: HTML =
            rows.count > 1
            ? "<p class=\"note\">The exports have \(TextFormat.count(rows.count)) rows of it; this one counts.</p>" : ""
        return """
            <p class="lead"><b dir="auto">\(name)</b>\(known) \(isRecipient ? "gets" : "does not get") \(campaign).</p>
            <ul class="plain">\(steps)</ul>\(others)
            """
    }
}

extension Explanation.Step {
    /// The same without keys, files and sizes.
    fileprivate var words: String {
        switch kind {
        case .selected where holds: "The campaign goes to it: \(Self.withoutKeys(text))."
        case .selected: "The campaign does not go to it: \(Self.withoutKeys(text))."
        case .conditions where holds: "It meets every condition."
        case .conditions: "It does not meet a condition: \(Self.withoutKeys(text))."
        case .excluded where holds: "Nothing under “Not to” names it."
        case .excluded:
            "It is left out under “Not to”: \(Self.withoutKeys(text.replacing("'exclude' names it by ", with: "")))."
        case .newest where holds: "The newest row of the device counts."
        case .newest: "A newer row of the same device, or another device of the same person, counts instead."
        case .payload where holds: "Its push can be made."
        case .payload:
            "Its text cannot be made, as the export lacks something that the text needs, or the text is too long."
        case .text:
            TextFormat.capitalized(
                text.replacing("the text above 'languages'", with: "the text for all other languages")) + "."
        case .variant: TextFormat.capitalized(text.replacing(#/ \(.*\)$/#, with: "")) + "."
        case .token, .suppressed, .aliasLimit, .frequency: TextFormat.capitalized(Self.withoutKeys(text)) + "."
        }
    }

    /// Tags and aliases in words, names of columns without underscores, and no place in a file.
    private static func withoutKeys(_ text: String) -> String {
        text.replacing(#/ \([^()]*:[0-9]+:[0-9]+\)/#, with: "")
            .replacing(#/\btag:/#, with: "the tag ").replacing(#/\balias:/#, with: "the alias ")
            .replacing(#/\bregistration_id:/#, with: "the registration id ")
            .replacing(#/\b[a-z]+(?:_[a-z]+)+(?= must be)/#) { $0.0.replacing("_", with: " ") }
            .replacing(#/(^|[\s(])'([^']*)'/#) { "\($0.1)“\($0.2)”" }
    }
}
