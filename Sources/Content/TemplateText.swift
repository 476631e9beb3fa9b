import Base

/// A part of a text with templates.
enum TemplatePiece: Hashable, Sendable {
    /// As it stands.
    case constant(String)
    /// `{{ column }}`, or with `| default: 'text'` for blank cells.
    case column(SourceText, fallback: String?)
}

/// Reads a text with templates: finds the tags and leaves their inside to `TemplateTag`.
///
/// Templates are a strict subset of Liquid. What the language promises and this version lacks is refused by name, and what
/// people meant as a tag but typed differently (full-width braces, curly quotes) is recognised: sent as text it would reach phones.
struct TemplateParser {
    private let source: SourceText
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var pieces: [TemplatePiece] = []
    private var constant = String.UnicodeScalarView()
    private var hasReportedCondition = false
    private(set) var mistakes: [Diagnostic] = []

    init(_ source: SourceText) {
        self.source = source
        scalars = Array(source.value.unicodeScalars)
    }

    /// The text's pieces; `mistakes` tells whether they can be used.
    mutating func parse() -> [TemplatePiece] {
        while index < scalars.count {
            if starts(with: "{{") {
                readTag()
            } else if starts(with: "{%") {
                refuseBlock()
            } else if starts(with: "}}") {
                report("'}}' stands here without '{{'", at: index, remedy: "Write '{{' before the column's name, or remove '}}'.")
                index += 2
            } else if starts(with: "｛｛") || starts(with: "｝｝") {
                refuseFullWidth()
            } else {
                constant.append(scalars[index])
                index += 1
            }
        }
        endConstant()
        return pieces
    }

    private mutating func endConstant() {
        if !constant.isEmpty { pieces.append(.constant(String(constant))) }
        constant.removeAll()
    }

    private mutating func readTag() {
        let inside = index + 2
        guard let end = closing(from: inside) else {
            let fullWidth = find("｝｝", from: inside)
            if let fullWidth, find("{{", from: inside) ?? .max > fullWidth {
                report("'{{' is closed by full-width braces '｝｝'", at: fullWidth, remedy: "Write '}}' with plain braces.")
                index = fullWidth + 2
            } else {
                report("'{{' is never closed", at: index, remedy: "Write '}}' after the column's name.")
                index = inside
            }
            return
        }
        endConstant()
        var tag = TemplateTag(scalars[inside..<end])
        switch tag.read() {
        case .success(.some(let column)):
            pieces.append(.column(SourceText(column.name, at: place(of: column.start)), fallback: column.fallback))
        case .success(.none):
            report("'{{ }}' is empty", at: index, remedy: "Name a column in it, for example: {{ first_name }}.")
        case .failure(let mistake):
            report(mistake.message, at: mistake.index, remedy: mistake.remedy)
        }
        index = end + 2
    }

    /// Where the tag's `}}` stands: the first one outside quotes or, when a quote is never closed, the first one. Nil when
    /// another tag begins before.
    private func closing(from start: Int) -> Int? {
        var quote: Unicode.Scalar?
        for place in start..<scalars.count {
            if let open = quote {
                if scalars[place] == open { quote = nil }
            } else if scalars[place] == "'" || scalars[place] == "\"" {
                quote = scalars[place]
            } else if starts(with: "}}", at: place) {
                return place
            } else if starts(with: "{{", at: place) {
                return nil
            }
        }
        guard quote != nil, let end = find("}}", from: start), find("{{", from: start) ?? .max > end else { return nil }
        return end
    }

    private mutating func refuseBlock() {
        guard let end = find("%}", from: index + 2) else {
            report("'{%' is never closed", at: index, remedy: "Write '%}' at its end.")
            index += 2
            return
        }
        let word = scalars[(index + 2)..<end].drop { $0.properties.isWhitespace || $0 == "-" }.prefix {
            !$0.properties.isWhitespace && $0 != "-"
        }
        let name = String(String.UnicodeScalarView(word))
        if TemplateLanguage.conditionWords.contains(name) {
            // One complaint a condition: its elsif, else and endif go with it.
            if name == "if" || !hasReportedCondition {
                report(
                    "'{% \(name) %}' is \(TemplateLanguage.notYet)", at: index,
                    remedy: "Put the finished text into a column of the export, or use {{ column | default: 'text' }}.")
            }
            hasReportedCondition = true
        } else {
            let nearest = nearestName(to: name, among: TemplateLanguage.conditionWords)
            report(
                "templates have no '{% \(name) %}'", at: index,
                remedy: nearest.map { "Did you mean '{% \($0) %}'?" } ?? "Use {{ column }} or {{ column | default: 'text' }}.")
        }
        index = end + 2
    }

    private mutating func refuseFullWidth() {
        let braces = starts(with: "｛｛") ? "｛｛" : "｝｝"
        report(
            "full-width braces '\(braces)' make no template", at: index,
            remedy: "Write plain braces, as in {{ first_name }}.")
        let rest = index + 2
        // The pair is one mistake, unless a plain tag begins in between.
        guard braces == "｛｛", let end = [find("｝｝", from: rest), find("}}", from: rest)].compactMap(\.self).min(),
            find("{{", from: rest) ?? .max > end
        else {
            index = rest
            return
        }
        index = end + 2
    }

    private func starts(with text: String) -> Bool { starts(with: text, at: index) }

    private func starts(with text: String, at place: Int) -> Bool {
        scalars[place...].starts(with: text.unicodeScalars)
    }

    private func find(_ text: String, from start: Int) -> Int? {
        (start..<max(start, scalars.count)).first { starts(with: text, at: $0) }
    }

    private func place(of index: Int) -> SourcePosition {
        source.position(atUTF8Offset: scalars[..<index].reduce(0) { $0 + UTF8.width($1) })
    }

    private mutating func report(_ message: String, at index: Int, remedy: String) {
        mistakes.append(Diagnostic(message, at: place(of: index), remedy: remedy))
    }
}
