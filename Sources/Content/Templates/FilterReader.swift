import Base

/// A filter after its `|`: name and arguments, checked against what the filter takes.
struct FilterReader {
    private struct Argument {
        var label: String?
        var labelIndex: Int
        var value: TemplateToken
    }

    private let tokens: [TemplateToken]
    private let start: Int
    private let end: Int
    private let column: String
    private var name = ""
    private var arguments: [Argument] = []
    private(set) var mistakes: [TemplateMistake] = []

    /// - Parameters:
    ///   - start: where the name is, or should be.
    ///   - end: where a missing argument should be.
    ///   - column: for examples.
    init(_ tokens: [TemplateToken], at start: Int, end: Int, column: String) {
        self.tokens = tokens
        self.start = start
        self.end = end
        self.column = column
    }

    /// The filter; nil if there is a mistake.
    mutating func read() -> TemplateFilter? {
        guard case .name(let written)? = tokens.first?.kind else {
            report("there is no filter after '|'", at: start, remedy: "For example: {{ \(column) | default: 'text' }}.")
            return nil
        }
        guard TemplateLanguage.filters.contains(written) else {
            report("there is no filter '\(written)'", at: start, remedy: remedy(for: written))
            return nil
        }
        name = written
        guard readArguments() else { return nil }
        switch name {
        case "default": return fallback()
        case "upcase": return takesNothing(.upcase)
        case "downcase": return takesNothing(.downcase)
        case "capitalize": return takesNothing(.capitalize)
        case "strip": return takesNothing(.strip)
        case "truncate": return truncate()
        case "date": return date()
        case "number": return number()
        default: return pluralize()
        }
    }

    private func remedy(for written: String) -> String {
        let lowercased = written.lowercased()
        if let remedy = TemplateLanguage.leftOut[lowercased] { return remedy }
        if let meant = TemplateLanguage.filterSynonyms[lowercased]
            ?? nearestName(to: lowercased, among: TemplateLanguage.filters)
        {
            return "Did you mean '\(meant)'?"
        }
        return "The filters are \(TemplateLanguage.filters.joined(separator: ", "))."
    }

    private var example: String {
        "For example: {{ \(column) | \(TemplateLanguage.filterExamples[name] ?? name) }}."
    }

    // MARK: - Arguments

    /// Reads `: 'a', 'b'` or `: one: 'a', other: 'b'`; false if it is written differently.
    private mutating func readArguments() -> Bool {
        let rest = tokens.dropFirst()
        guard let first = rest.first else { return true }
        let place = first.range.lowerBound
        guard first.isSign(":") else {
            switch first.kind {
            case .sign("("):
                report("'\(name)' takes no parentheses", at: place, remedy: example)
            case .text, .number:
                report("':' is missing after '\(name)'", at: place, remedy: example)
            case .name(let word) where TemplateLanguage.filters.contains(word):
                report("'|' is missing before '\(word)'", at: place, remedy: "Write '| \(word)'.")
            case .sign("||"):
                report("filters are separated by '||'", at: place, remedy: "Write a single '|'.")
            default:
                report(
                    "something follows '\(name)'", at: place,
                    remedy: takesArguments ? example : "Write '|' before the next filter.")
            }
            return false
        }
        let list = rest.dropFirst()
        guard !list.isEmpty else {
            report("'\(name)' needs \(needs) after ':'", at: end, remedy: example)
            return false
        }
        let count = mistakes.count
        for part in list.split(omittingEmptySubsequences: false, whereSeparator: { $0.isSign(",") }) {
            readArgument(part)
        }
        return mistakes.count == count
    }

    private mutating func readArgument(_ part: ArraySlice<TemplateToken>) {
        guard let first = part.first else {
            let place = part.startIndex < tokens.count ? tokens[part.startIndex].range.lowerBound : end
            return report("nothing follows the comma", at: place, remedy: example)
        }
        var value = part
        var argument = Argument(label: nil, labelIndex: first.range.lowerBound, value: first)
        if let label = first.name, part.count > 1, part[part.startIndex + 1].isSign(":") {
            argument.label = label
            value = part.dropFirst(2)
        }
        guard let token = value.first else {
            let place = part[part.startIndex + 1].range.upperBound
            return report("a text is missing after '\(argument.label ?? "")'", at: place, remedy: example)
        }
        switch token.kind {
        case .text, .number: break
        case .name(let word)
        where name == "default" && ["nil", "null", "none", "blank", "empty"].contains(word.lowercased()):
            return report(
                "'\(word)' is not a text for a blank cell", at: token.range.lowerBound,
                remedy: "Write default: 'there', or whatever people should read; default: '' prints nothing.")
        default:
            return report(
                "the text after '\(argument.label ?? name):' needs quotes", at: token.range.lowerBound, remedy: example)
        }
        argument.value = token
        arguments.append(argument)
        if let next = value.dropFirst().first { reportTrailing(next, behind: token) }
    }

    private mutating func reportTrailing(_ token: TemplateToken, behind value: TemplateToken) {
        switch token.kind {
        case .text, .number:
            report(
                "a comma is missing between the arguments of '\(name)'", at: token.range.lowerBound,
                remedy: "Write ',' between them.")
        case .name(let word) where TemplateLanguage.filters.contains(word):
            report("'|' is missing before '\(word)'", at: token.range.lowerBound, remedy: "Write '| \(word)'.")
        default:
            report(
                "something follows the text of '\(name)'", at: token.range.lowerBound,
                remedy: "Remove it, or put it inside the quotes.")
        }
    }

    private var takesArguments: Bool { TemplateLanguage.filterExamples[name] != nil }

    private var needs: String {
        switch name {
        case "default": "a text"
        case "truncate": "a number of characters"
        case "date": "a date format"
        case "number": "a number of decimals"
        default: "two words"
        }
    }

    private mutating func takesNothing(_ filter: TemplateFilter) -> TemplateFilter? {
        guard let first = arguments.first else { return filter }
        report("'\(name)' takes no arguments", at: first.labelIndex, remedy: "Write {{ \(column) | \(name) }}.")
        return nil
    }

    /// Arguments without labels, as text.
    private mutating func texts(_ count: ClosedRange<Int>) -> [String]? {
        if let labelled = arguments.first(where: { $0.label != nil }) {
            report("'\(name)' does not know '\(labelled.label ?? "")'", at: labelled.labelIndex, remedy: example)
            return nil
        }
        guard arguments.count >= count.lowerBound else {
            report("'\(name)' needs \(needs) after ':'", at: end, remedy: example)
            return nil
        }
        guard arguments.count <= count.upperBound else {
            let surplus = arguments[count.upperBound].value.range.lowerBound
            let (words, remedy) =
                count.upperBound > 1
                ? ("two arguments", "Remove the rest.")
                : (name == "number" ? "one number" : "one text", "Remove what follows the first.")
            report("'\(name)' takes \(words) only", at: surplus, remedy: remedy)
            return nil
        }
        return arguments.map(text)
    }

    private func text(_ argument: Argument) -> String {
        switch argument.value.kind {
        case .text(let text), .number(let text): text
        default: ""
        }
    }

    /// A whole number without quotes.
    private mutating func wholeNumber(_ argument: Int, in range: ClosedRange<Int>, what: String) -> Int? {
        let token = arguments[argument].value
        if case .number(let written) = token.kind, let number = Int(written), range.contains(number) { return number }
        if case .text(let written) = token.kind, Int(written) != nil {
            report(
                "the number of '\(name)' must be without quotes", at: token.range.lowerBound,
                remedy: "Write \(name): \(written).")
        } else {
            report(
                "'\(name)' takes \(what) from \(range.lowerBound) to \(range.upperBound)", at: token.range.lowerBound,
                remedy: example)
        }
        return nil
    }

    // MARK: - Filters with arguments

    private mutating func fallback() -> TemplateFilter? {
        guard let text = texts(1...1)?[0] else { return nil }
        let mistake = TextReadiness.mistake(inFallback: text, of: column, at: arguments[0].value.range.lowerBound)
        if let mistake { mistakes.append(mistake) }
        return mistake?.isWarning ?? true ? .fallback(text) : nil
    }

    private mutating func truncate() -> TemplateFilter? {
        guard let texts = texts(1...2), let length = wholeNumber(0, in: 1...1000, what: "a number of characters") else {
            return nil
        }
        let ellipsis = texts.count > 1 ? texts[1] : "..."
        guard ellipsis.count <= length else {
            report(
                "the ellipsis '\(ellipsis)' has more than \(length) characters",
                at: arguments[0].value.range.lowerBound,
                remedy: "It counts too: write a larger number, or another ellipsis, as in truncate: \(length), '…'.")
            return nil
        }
        return .truncate(length: length, ellipsis: ellipsis)
    }

    private mutating func number() -> TemplateFilter? {
        if arguments.isEmpty { return .number(decimals: nil) }
        guard texts(1...1) != nil, let decimals = wholeNumber(0, in: 0...9, what: "a number of decimals") else {
            return nil
        }
        return .number(decimals: decimals)
    }

    private mutating func date() -> TemplateFilter? {
        guard let texts = texts(1...1) else { return nil }
        let (text, token) = (texts[0], arguments[0].value)
        if let style = NamedDateStyle.allCases.first(where: { $0.name == text }) { return .date(.named(style)) }
        guard case .text = token.kind else {
            report("'date' needs a date format in quotes", at: token.range.lowerBound, remedy: example)
            return nil
        }
        do throws(Mistake) {
            return .date(.directives(try DateDirectives.parse(text)))
        } catch {
            let scalars = String(text.utf8.prefix(error.utf8Offset))?.unicodeScalars.count ?? 0
            report(error.message, at: token.range.lowerBound + 1 + scalars, remedy: error.remedy ?? "")
            return nil
        }
    }

    private mutating func pluralize() -> TemplateFilter? {
        for argument in arguments {
            guard let sign = TemplateLanguage.placeOfNumber(in: text(argument)) else { continue }
            report(
                "'pluralize' prints only the word, and '\(sign)' as written", at: argument.value.range.lowerBound,
                remedy:
                    "Write the number in a tag of its own: {{ \(column) }} {{ \(column) | pluralize: 'item', 'items' }}."
            )
            return nil
        }
        if arguments.contains(where: { $0.label != nil }) { return pluralForms() }
        if arguments.count == 1 {
            report("'pluralize' needs two words", at: end, remedy: example)
            return nil
        }
        return texts(2...2).map { .pluralizePair($0[0], $0[1]) }
    }

    private mutating func pluralForms() -> TemplateFilter? {
        var forms: [PluralForm: String] = [:]
        let names = PluralForm.allCases.map(\.name)
        for argument in arguments {
            guard let label = argument.label else {
                report(
                    "a word of 'pluralize' has no form before it, but others do", at: argument.labelIndex,
                    remedy: "For example: pluralize: one: 'item', other: 'items'.")
                return nil
            }
            guard let form = PluralForm.allCases.first(where: { $0.name == label }) else {
                report(
                    "'\(label)' is not a plural form", at: argument.labelIndex,
                    remedy: nearestName(to: label, among: names).map { "Did you mean '\($0)'?" }
                        ?? "The forms are \(names.joined(separator: ", ")).")
                return nil
            }
            guard forms[form] == nil else {
                report("the form '\(label)' appears twice", at: argument.labelIndex, remedy: "Keep one of them.")
                return nil
            }
            forms[form] = text(argument)
        }
        guard forms[.other] != nil else {
            report(
                "the form 'other' is missing", at: end,
                remedy: "It is for all numbers that no other form covers: pluralize: one: 'item', other: 'items'.")
            return nil
        }
        return .pluralize(forms)
    }

    private mutating func report(_ message: String, at index: Int, remedy: String) {
        mistakes.append(TemplateMistake(message: message, index: index, remedy: remedy))
    }
}
