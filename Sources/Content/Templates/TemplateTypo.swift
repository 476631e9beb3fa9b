import Base

/// Text that looks like a tag but is not one: a space between braces, full-width ones, the signs of
/// other systems. In a text that people see, what can only be a tag is a mistake, and the rest is
/// for `TextReadiness`; elsewhere it may be the app's own notation, and gets a warning.
struct TemplateTypo {
    var mistake: TemplateMistake
    /// The end of the recognised text.
    var end: Int

    /// - Parameter isShown: whether people see the text.
    static func find(in scalars: [Unicode.Scalar], at index: Int, isShown: Bool) -> TemplateTypo? {
        guard "{}｛｝$[%*<".unicodeScalars.contains(scalars[index]) else { return nil }
        let matcher = TypoMatcher(scalars: scalars, start: index, isShown: isShown)
        return matcher.brokenTag() ?? matcher.foreignTag()
    }
}

private struct TypoMatcher {
    let scalars: [Unicode.Scalar]
    let start: Int
    let isShown: Bool

    private static let raw = "; to show it as written, put {% raw %}…{% endraw %} around it."

    private func typo(_ message: String, remedy: String, end: Int, isWarning: Bool = false) -> TemplateTypo {
        TemplateTypo(
            mistake: TemplateMistake(
                message: message, index: start, remedy: remedy, warning: isWarning ? .textNotReady : nil), end: end)
    }

    /// `{ {`, `{％`, `}}`, `｛｛`: one of Volley's own tags, mistyped.
    func brokenTag() -> TemplateTypo? {
        if starts(with: "}}") {
            return typo(
                "this '}}' has no '{{'", remedy: "Write '{{' before the column's name, or remove '}}'.", end: start + 2)
        }
        if starts(with: "{％") {
            return typo(
                "the full-width sign '％' does not begin a tag", remedy: "Write '{%' with plain signs.", end: start + 2)
        }
        if starts(with: "｛｛") || starts(with: "｝｝") {
            let braces = starts(with: "｛｛") ? "｛｛" : "｝｝"
            // The pair is one mistake, unless a plain tag begins in between.
            let close = braces == "｛｛" ? firstEnd(of: ["｝｝", "}}"], from: start + 2) : start + 2
            let isPair = !(start..<close).contains { starts(with: "{{", at: $0) }
            return typo(
                "full-width braces '\(braces)' are not a template",
                remedy: "Write plain braces, as in {{ first_name }}.",
                end: isPair ? close : start + 2)
        }
        let next = start + 1 + scalars[(start + 1)...].prefix { $0 == " " || $0 == "\u{A0}" }.count
        guard scalars[start] == "{", next > start + 1, next < scalars.count,
            scalars[next] == "{" || scalars[next] == "%"
        else {
            return nil
        }
        return typo(
            "'{ \(scalars[next])' does not begin a tag: there is a space in it",
            remedy: "Write '{\(scalars[next])' without the space.",
            end: firstEnd(of: ["}}", "} }", "%}", "% }"], from: next))
    }

    /// What encloses the tags of other systems. Of two with the same beginning, the longer comes
    /// first.
    private static let signs = [
        ("${", "}", "'${ }' is not a template"), ("[[", "]]", "double brackets are not a template"),
        ("%%", "%%", "'%% %%' is not a template"), ("*|", "|*", "'*| |*' is not a template"),
        ("｛", "｝", "full-width braces are not a template"), ("{", "}", "single braces are not a template"),
        ("%", "%", "percent signs are not a template"),
    ]

    /// `${name}`, `{First Name}`, `[[name]]`, `%name%`, `*|NAME|*`, `<%= name %>`, `{# note #}`
    func foreignTag() -> TemplateTypo? {
        if starts(with: "<%") {
            return typo(
                "'<%' is not a template", remedy: "Write {{ column }}" + Self.raw,
                end: firstEnd(of: ["%>"], from: start + 2),
                isWarning: !isShown)
        }
        if starts(with: "{#"), case let end = firstEnd(of: ["#}"], from: start + 2), end > start + 2 {
            return typo(
                "'{# #}' is not a comment, and would be sent",
                remedy: "Write {% comment %}…{% endcomment %}, or remove it.", end: end,
                isWarning: !isShown)
        }
        for (open, close, message) in Self.signs where starts(with: open) {
            let from = start + open.unicodeScalars.count
            let inside = scalars[from...].prefix(100).prefix { !"{}｛｝\n%".unicodeScalars.contains($0) }
            guard let place = (from...inside.endIndex).first(where: { starts(with: close, at: $0) }) else { continue }
            let end = place + close.unicodeScalars.count
            let text = String(String.UnicodeScalarView(scalars[from..<place]))
            guard isPlace(text, after: open) else { continue }
            let name = Self.trimmed(text.prefix { $0 != "|" })
            if open == "{", starts(with: "}", at: end), Self.column(for: name) != nil {
                return typo("'{{' lacks a brace before '\(name)'", remedy: "Write {{ \(name) }}.", end: end + 1)
            }
            let remedy =
                Self.column(for: name).map { "Write {{ \($0) }}" }
                ?? "For a column write its name, as in {{ first_name }}"
            return typo(
                "\(message): '\(open)\(name)\(close)'", remedy: remedy + Self.raw, end: end, isWarning: !isShown)
        }
        return nil
    }

    /// Whether what other systems' signs enclose is the place of a cell: a name as programs write
    /// it, or up to three words. In texts that people see, `{20 % off}`, `{A}` and `%SALE%` may be
    /// ornaments.
    private func isPlace(_ text: String, after open: String) -> Bool {
        if open == "%" {
            guard start == 0 || !TemplateTokenizer.isNameScalar(scalars[start - 1]) && scalars[start - 1] != "%" else {
                return false
            }
            return text.wholeMatch(of: /(?:[a-z_]|[A-Z][A-Za-z0-9]*_)[A-Za-z0-9_.\-]+/) != nil
                // `%C3%` is half a letter of an address.
                || !isShown && text.wholeMatch(of: /(?![0-9A-Fa-f]{2}$)[\p{L}_][\p{L}\p{N}_.\-]+/) != nil
        }
        guard isShown else { return text.wholeMatch(of: /\s*[\p{L}_][\p{L}\p{N}_.\-]*\s*(?:\|.*)?/) != nil }
        let isName = text.wholeMatch(of: /\s*[A-Za-z_][A-Za-z0-9_.\-]*\s*/) != nil
        guard open.hasSuffix("{") else {
            return isName
                || open != "｛"
                    && text.wholeMatch(of: /\s*[A-Za-zÀ-ɏ_][A-Za-zÀ-ɏ0-9_']*(?:\s+[A-Za-zÀ-ɏ0-9_']+){0,2}\s*/) != nil
        }
        if text.wholeMatch(of: /\s*[A-Z]\s*(?:\|.*)?/) != nil { return false }
        if isName || text.wholeMatch(of: /\s*[A-Za-z_][A-Za-z0-9_.\-]*\s*\|.*/) != nil { return true }
        let isShort = text.split(whereSeparator: \.isWhitespace).count <= 3 || text.contains("_")
        let isLatin = text.unicodeScalars.allSatisfy { $0.value < 0x250 || TemplateTokenizer.isSpace($0) }
        return isShort && isLatin
            && text.wholeMatch(of: /[0-9](?:[:,]\S*)?|\s*[#=!\-?$@.:\/&*^~+]?[A-Za-zÀ-ɏ_].*/) != nil
    }

    /// The column that a name may be, as programs write it; nil for words.
    private static func column(for name: String) -> String? {
        guard name.wholeMatch(of: /[a-z][A-Za-z0-9_.\-]*|[A-Za-z0-9]*_[A-Za-z0-9_]*/) != nil else { return nil }
        return name == name.uppercased() ? name.lowercased() : name
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    private func starts(with text: String, at place: Int? = nil) -> Bool {
        scalars[(place ?? start)...].starts(with: text.unicodeScalars)
    }

    /// After the first of these; `from` without any.
    private func firstEnd(of ends: [String], from place: Int) -> Int {
        for index in place..<max(place, scalars.count) {
            if let end = ends.first(where: { starts(with: $0, at: index) }) { return index + end.unicodeScalars.count }
        }
        return place
    }
}
