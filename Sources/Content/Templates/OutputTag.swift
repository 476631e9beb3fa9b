import Base

/// The inside of `{{ … }}`: a column, followed by filters.
struct OutputTag {
    private let tokenizer: TemplateTokenizer
    private let start: Int
    private let place: (Int) -> SourcePosition
    private(set) var mistakes: [TemplateMistake]

    /// - Parameters:
    ///   - start: where the tag begins.
    ///   - place: the place of a scalar in the file.
    init(_ inside: ArraySlice<Unicode.Scalar>, start: Int, place: @escaping (Int) -> SourcePosition) {
        tokenizer = TemplateTokenizer(inside, of: "{{ }}")
        mistakes = tokenizer.mistakes
        self.start = start
        self.place = place
        end = inside.endIndex
    }

    private let end: Int

    /// The column with its filters; nil if there is a mistake.
    mutating func read() -> TemplateOutput? {
        let parts = tokenizer.tokens.split(omittingEmptySubsequences: false) { $0.isSign("|") }
        guard let first = parts.first, !tokenizer.tokens.isEmpty else {
            if mistakes.isEmpty {
                report("'{{ }}' is empty", at: start, remedy: "Name a column in it, for example: {{ first_name }}.")
            }
            return nil
        }
        let name = readColumn(first)
        var filters: [TemplateFilter] = []
        for part in parts.dropFirst() {
            let place = part.first?.range.lowerBound ?? placeOfEmpty(part.startIndex)
            var reader = FilterReader(Array(part), at: place, end: endOf(part), column: name?.name ?? "first_name")
            if let filter = reader.read() { filters.append(filter) }
            mistakes += reader.mistakes
        }
        checkOrder(filters, parts)
        guard let name, mistakes.allSatisfy(\.isWarning) else { return nil }
        return TemplateOutput(column: SourceText(name.name, at: place(name.index)), filters: filters)
    }

    /// The place after the sign before an empty part.
    private func placeOfEmpty(_ token: Int) -> Int {
        token < tokenizer.tokens.count ? tokenizer.tokens[token].range.lowerBound : end
    }

    /// The place after a part where something is missing.
    private func endOf(_ part: ArraySlice<TemplateToken>) -> Int {
        part.endIndex < tokenizer.tokens.count ? tokenizer.tokens[part.endIndex].range.lowerBound : end
    }

    // MARK: - The column

    private mutating func readColumn(_ tokens: ArraySlice<TemplateToken>) -> (name: String, index: Int)? {
        guard let first = tokens.first else {
            report(
                "the column is missing before '|'", at: tokenizer.tokens[0].range.lowerBound,
                remedy: "For example: {{ first_name | default: 'there' }}.")
            return nil
        }
        let index = first.range.lowerBound
        switch first.kind {
        case .text:
            report(
                "'{{ }}' takes a column, not a text in quotes", at: index,
                remedy: "Name a column, for example: {{ first_name }}.")
            return nil
        case .name(let name):
            if tokens.count == 1 { return (name, index) }
            return readMore(tokens.dropFirst(), behind: name, index: index)
        case .junk(let text) where text.hasPrefix("#") || text.hasPrefix("/"):
            reportBlock(String(text.dropFirst()), tokens.dropFirst(), index: index)
            return nil
        case .junk(let text) where text.hasPrefix("$"):
            let name = String(written(tokens).filter { $0.isLetter || $0.isNumber || $0 == "_" })
            report("'$' belongs to other systems", at: index, remedy: "Write {{ \(name) }}.")
            return nil
        default:
            // The tokenizer already reported signs that look almost right.
            if mistakes.isEmpty { report(noName(written(tokens)), at: index, remedy: Self.nameRemedy) }
            return nil
        }
    }

    /// `{{#if first_name}}`, `{{/if}}`
    private mutating func reportBlock(_ word: String, _ rest: ArraySlice<TemplateToken>, index: Int) {
        let isEnd =
            tokenizer.tokens.first.map { if case .junk(let text) = $0.kind { text.hasPrefix("/") } else { false } }
            ?? false
        let remedy =
            isEnd
            ? "Write {% endif %}."
            : word == "if"
                ? "Write {% if \(rest.isEmpty ? "first_name" : written(rest)) %}."
                : "For a condition write {% if first_name %} … {% endif %}."
        report("'{{\(isEnd ? "/" : "#")\(word)}}' belongs to other systems", at: index, remedy: remedy)
    }

    /// What to do about a name of several words, without a full stop.
    static func remedy(forSpaces words: [String]) -> String {
        let name = words.joined(separator: "_").lowercased()
        return "Write it as the export has it, perhaps '\(name)'; if it has spaces there, rename it"
    }

    private static let nameRemedy =
        "Names hold letters, digits, '_', '.' and '-', and begin with a letter or '_'; rename the column in the export."

    private func noName(_ written: String) -> String { "'\(written)' cannot be a column's name" }

    private mutating func readMore(_ rest: ArraySlice<TemplateToken>, behind name: String, index: Int) -> (
        name: String, index: Int
    )? {
        guard let second = rest.first else { return nil }
        let place = second.range.lowerBound
        if ["if", "elsif", "unless", "for", "case", "assign"].contains(name), second.name != nil {
            report(
                "'\(name)' does not belong between '{{' and '}}'", at: index,
                remedy: "Write {% \(name == "elsif" ? "elsif" : "if") … %}.")
            return nil
        }
        switch second.kind {
        case .name("or"), .sign("||"), .sign("??"), .name("else"):
            report(
                "'\(written([second]))' does not belong in '{{ }}'", at: place,
                remedy: "Write {{ \(name) | default: 'text' }}.")
        case .name(let word) where TemplateLanguage.filters.contains(word):
            let example = TemplateLanguage.filterExamples[word] ?? word
            report("'|' is missing before '\(word)'", at: place, remedy: "For example: {{ \(name) | \(example) }}.")
        case .name where tokenizer.holdsInvisible: break
        case .junk(let sign) where ["*", "+", "/"].contains(sign):
            report(
                "'{{ }}' does not calculate", at: place,
                remedy: "Prepare the result in a column of the export, for example {{ \(name)_total }}.")
        case .name:
            let words = ([name] + rest.prefix { $0.name != nil }.compactMap(\.name))
            report(
                "a column's name cannot hold spaces: '\(words.joined(separator: " "))'", at: index,
                remedy: "\(Self.remedy(forSpaces: words)).")
        case .sign(":"):
            report(
                "':' follows a column", at: place,
                remedy: "Filters come after '|', for example: {{ \(name) | default: 'text' }}.")
        case .sign("=="), .sign("="), .sign("!="), .sign("<"), .sign(">"), .sign("<="), .sign(">="):
            report("'{{ }}' does not compare", at: place, remedy: "Write {% if \(name) == 'x' %} … {% endif %}.")
        default:
            if mistakes.isEmpty {
                report(
                    noName(name + written(rest, from: tokenizer.tokens.first { $0.range.lowerBound == index })),
                    at: index,
                    remedy: Self.nameRemedy)
            }
        }
        return nil
    }

    private func written(_ tokens: ArraySlice<TemplateToken>, from before: TemplateToken? = nil) -> String {
        var (text, end) = ("", before?.range.upperBound ?? tokens.first?.range.lowerBound ?? 0)
        for token in tokens {
            if token.range.lowerBound > end { text += " " }
            end = token.range.upperBound
            switch token.kind {
            case .name(let word), .number(let word), .sign(let word), .junk(let word): text += word
            case .text(let inside): text += "'\(inside)'"
            }
        }
        return text
    }

    // MARK: - The filters

    /// A default is printed as it is, unless filters follow; those must be able to take it.
    private mutating func checkOrder(_ filters: [TemplateFilter], _ parts: [ArraySlice<TemplateToken>]) {
        guard filters.count == parts.count - 1 else { return }
        var fallback: (text: String, part: Int)?
        var last: (name: String, part: Int)?
        for (index, filter) in filters.enumerated() {
            let (name, place) = (parts[index + 1].first?.name ?? "", parts[index + 1].first?.range.lowerBound ?? start)
            switch filter {
            case .fallback(let text):
                if fallback != nil { report("'default' appears twice", at: place, remedy: "Keep one of them.") }
                fallback = (text, index)
            case .date, .number, .pluralize, .pluralizePair:
                if let last {
                    report(
                        "'\(name)' cannot follow '\(last.name)'", at: place,
                        remedy: "Write {{ column | \(name): … }} in a tag of its own.")
                } else if let fallback, !fallback.text.isEmpty, !Self.takes(filter, text: fallback.text) {
                    report(
                        "'\(name)' cannot take the default '\(fallback.text)'", at: place,
                        remedy: "Write 'default' after '\(name)'.")
                }
                last = (name, index)
            default: break
            }
        }
    }

    private static func takes(_ filter: TemplateFilter, text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            if case .date = filter { return CivilMoment(bytes) != nil }
            return DecimalText(bytes) != nil
        }
    }

    private mutating func report(_ message: String, at index: Int, remedy: String) {
        mistakes.append(TemplateMistake(message: message, index: index, remedy: remedy))
    }
}
