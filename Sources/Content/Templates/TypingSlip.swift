import Base

/// Text that looks like a tag but is not: braces with a space between them, single or full-width ones, the signs of other systems.
struct TypingSlip {
    var mistake: TemplateMistake
    /// The end of the recognised text.
    var end: Int

    /// - Parameter isShown: whether people see the text. Elsewhere single braces may be the app's own notation, and get a warning.
    static func find(in scalars: [Unicode.Scalar], at index: Int, isShown: Bool) -> TypingSlip? {
        let matcher = SlipMatcher(scalars: scalars, start: index, isShown: isShown)
        switch scalars[index] {
        case "{": return matcher.comment() ?? matcher.brace()
        case "$": return matcher.dollar()
        case "#": return matcher.hashes()
        case "}": return matcher.closingBrace()
        case "｛", "｝": return matcher.fullWidthBrace()
        case "[": return matcher.named("[[", close: "]]", message: "double brackets are not a template") ?? matcher.brackets()
        case "%": return matcher.percent()
        case "*": return matcher.named("*|", close: "|*", message: "'*| |*' is not a template")
        case "<": return matcher.angle()
        case "(": return matcher.parentheses()
        default: return matcher.bareName()
        }
    }
}

struct SlipMatcher {
    let scalars: [Unicode.Scalar]
    let start: Int
    let isShown: Bool

    static let raw = "; to show it as written, put {% raw %}…{% endraw %} around it."

    func accident(_ message: String, remedy: String, end: Int, isWarning: Bool = false) -> TypingSlip {
        TypingSlip(
            mistake: TemplateMistake(message: message, index: start, remedy: remedy, warning: isWarning ? .placeholderInText : nil),
            end: end)
    }

    /// `{# note #}`, a comment of other template languages.
    func comment() -> TypingSlip? {
        guard starts(with: "{#") else { return nil }
        let end = firstEnd(of: ["#}"], from: start)
        guard end > start else { return nil }
        return accident(
            "'{# #}' is not a comment, and would be sent", remedy: "Write {% comment %}…{% endcomment %}, or remove it.", end: end,
            isWarning: !isShown)
    }

    /// `${name}`
    func dollar() -> TypingSlip? {
        guard starts(with: "${") else { return nil }
        var next = skipSpaces(start + 2)
        guard let name = name(from: &next), starts(with: "}", at: next) else {
            return named("${", close: "}", words: "'${ }' is not a template")
        }
        return accident(
            "'${ }' is not a template: '${\(name)}'", remedy: PlaceName.remedy(for: name) + Self.raw, end: next + 1, isWarning: !isShown)
    }

    /// `#name#`: a placeholder, or a topic between two signs.
    func hashes() -> TypingSlip? {
        var next = start + 1
        guard isShown, let name = name(from: &next, takesSpaces: false), starts(with: "#", at: next) else { return nil }
        return place("#\(name)#", name: name, end: next + 1)
    }

    /// `[name]`, but not `[Update]`: names of columns are in lower case, or have an underscore between their words.
    func brackets() -> TypingSlip? {
        var next = start + 1
        guard isShown, let name = name(from: &next), starts(with: "]", at: next), !starts(with: "](", at: next),
            name == name.lowercased() || name.contains("_") || PlaceName.isName(name)
        else { return place(of: "[", close: "]") }
        return place("[\(name)]", name: name, end: next + 1)
    }

    func place(_ written: String, name: String, more: String = "", end: Int) -> TypingSlip {
        accident(
            "'\(written)' is shown as written", remedy: "\(PlaceName.suggestion(for: name))\(more).", end: end, isWarning: true)
    }

    /// `{ {`, `{name}`, `{name}}`, `{％`
    func brace() -> TypingSlip? {
        var next = skipSpaces(start + 1)
        if next > start + 1, next < scalars.count, scalars[next] == "{" || scalars[next] == "%" {
            let sign = scalars[next]
            let end = firstEnd(of: ["}}", "} }", "%}", "% }"], from: next)
            return accident(
                "'{ \(sign)' does not begin a tag: there is a space in it", remedy: "Write '{\(sign)' without the space.", end: end)
        }
        if starts(with: "{％") {
            return accident("the full-width sign '％' does not begin a tag", remedy: "Write '{%' with plain signs.", end: start + 2)
        }
        guard let name = name(from: &next) else { return foreignBrace() }
        // `{name | default: 'x'}` counts, too.
        if next < scalars.count, scalars[next] == "|" {
            while next < scalars.count, scalars[next] != "}", scalars[next] != "{" { next += 1 }
        }
        guard next < scalars.count, scalars[next] == "}" else { return foreignBrace() }
        let isClosedTwice = next + 1 < scalars.count && scalars[next + 1] == "}"
        if isClosedTwice {
            return accident("'{{' lacks a brace before '\(name)'", remedy: "Write {{ \(name) }}.", end: next + 2)
        }
        // `Gate {A}`: no column has such a name.
        let isLetter = name.utf8.count == 1 && name == name.uppercased() && name != "_"
        return accident(
            "single braces are not a template: '{\(name)}'", remedy: PlaceName.remedy(for: name) + Self.raw, end: next + 1,
            isWarning: !isShown || isLetter)
    }

    func closingBrace() -> TypingSlip? {
        guard starts(with: "}}") else { return loneBrace() }
        return accident("this '}}' has no '{{'", remedy: "Write '{{' before the column's name, or remove '}}'.", end: start + 2)
    }

    func fullWidthBrace() -> TypingSlip? {
        guard starts(with: "｛｛") || starts(with: "｝｝") else {
            guard starts(with: "｛") else { return nil }
            if let other = otherScript("｛", close: "｝") { return other }
            var next = skipSpaces(start + 1)
            guard let name = name(from: &next), next < scalars.count, scalars[next] == "｝" else { return nil }
            return accident(
                "full-width braces are not a template: '｛\(name)｝'", remedy: PlaceName.remedy(for: name) + Self.raw, end: next + 1,
                isWarning: !isShown)
        }
        let braces = starts(with: "｛｛") ? "｛｛" : "｝｝"
        var end = start + 2
        // The pair is one mistake, unless a plain tag begins in between.
        if braces == "｛｛" {
            let close = firstEnd(of: ["｝｝", "}}"], from: end)
            if close <= scalars.count, !contains("{{", before: close) { end = close > end ? close : end }
        }
        return accident("full-width braces '\(braces)' are not a template", remedy: "Write plain braces, as in {{ first_name }}.", end: end)
    }

    /// `%name%`, but not `50%off%`.
    func percent() -> TypingSlip? {
        if let doubled = named("%%", close: "%%", message: "'%% %%' is not a template") { return doubled }
        if start > 0, TemplateTokenizer.isNameScalar(scalars[start - 1]) || scalars[start - 1] == "%" { return nil }
        var next = start + 1
        guard let name = name(from: &next, takesSpaces: false), next < scalars.count, scalars[next] == "%", name.utf8.count > 1 else {
            return otherScript("%", close: "%") ?? place(of: "%", close: "%")
        }
        return accident(
            "percent signs are not a template: '%\(name)%'", remedy: PlaceName.remedy(for: name) + Self.raw, end: next + 1,
            isWarning: !isShown || Self.isOrnament(name))
    }

    /// `%SALE%`: words that shops decorate with percent signs, and that are not columns.
    private static func isOrnament(_ name: String) -> Bool {
        ["sale", "super", "deal", "deals", "rabatt", "rabatte", "angebot", "angebote", "off", "sparen"].contains(name.lowercased())
    }

    /// `<first_name>`: often a placeholder, sometimes HTML.
    func angle() -> TypingSlip? {
        if starts(with: "<%") {
            let end = firstEnd(of: ["%>"], from: start)
            return accident(
                "'<%' is not a template", remedy: "Write {{ column }}" + Self.raw, end: max(end, start + 2), isWarning: !isShown)
        }
        var next = start + 1
        guard isShown, let name = name(from: &next, takesSpaces: false), next < scalars.count, scalars[next] == ">",
            !TextAnomaly.elements.contains(name.lowercased()), name != name.uppercased() || name.contains("_")
        else { return place(of: "<", close: ">", more: "; a push shows no HTML") }
        return place("<\(name)>", name: name, more: "; a push shows no HTML", end: next + 1)
    }

    func named(_ open: String, close: String, message: String) -> TypingSlip? {
        guard starts(with: open) else { return nil }
        var next = skipSpaces(start + 2)
        guard let name = name(from: &next), starts(with: close, at: next) else { return named(open, close: close, words: message) }
        return accident(
            "\(message): '\(open)\(name)\(close)'", remedy: PlaceName.remedy(for: name) + Self.raw, end: next + 2, isWarning: !isShown)
    }

    // MARK: - Characters

    /// A name as programs write it, in ASCII: text between signs in other scripts is more likely an ornament.
    func name(from index: inout Int, takesSpaces: Bool = true) -> String? {
        let first = index
        while index < scalars.count, scalars[index].isASCII, TemplateTokenizer.isNameScalar(scalars[index]) { index += 1 }
        guard index > first, scalars[first].properties.isAlphabetic || scalars[first] == "_" else { return nil }
        let name = String(String.UnicodeScalarView(scalars[first..<index]))
        if takesSpaces { index = skipSpaces(index) }
        return name
    }

    func skipSpaces(_ index: Int) -> Int {
        var index = index
        while index < scalars.count, scalars[index] == " " || scalars[index] == "\u{A0}" { index += 1 }
        return index
    }

    func starts(with text: String, at place: Int? = nil) -> Bool { scalars[(place ?? start)...].starts(with: text.unicodeScalars) }

    private func contains(_ text: String, before end: Int) -> Bool {
        (start..<end).contains { starts(with: text, at: $0) }
    }

    /// After the first of these; `from` if there is none.
    private func firstEnd(of ends: [String], from place: Int) -> Int {
        for index in place..<max(place, scalars.count) {
            if let end = ends.first(where: { starts(with: $0, at: index) }) { return index + end.unicodeScalars.count }
        }
        return place
    }
}
