import Base

/// Reads a text with templates: a strict subset of Liquid. Finds all mistakes of a text at once,
/// each with its place in the file.
struct TemplateParser {
    private let source: SourceText
    private let scalars: [Unicode.Scalar]
    private let isShown: Bool
    private var found: [TemplateMistake] = []
    /// The open `{% if %}`s, outermost first.
    private var open: [OpenChoice] = []
    private var nodes: [TemplateNode] = []
    private var refused: Set<String> = []
    private var unreachable: [Diagnostic] = []
    /// Whether a block was not read, so that nothing is known about which '{% if %}' an '{% else
    /// %}' or '{% endif %}' belongs to.
    private var hasUnreadBlock = false
    private var isTooDeep = false

    private struct OpenChoice {
        var start: Int
        /// The nodes before it at its level.
        var before: [TemplateNode]
        var branches: [TemplateBranch] = []
        var condition: TemplateCondition?
        var hasElse = false
    }

    /// Deeper than any text needs; recursion over nodes relies on it.
    static let maximumDepth = 20

    /// The service takes 4,096 bytes; but parts of a text may be comments, or branches that are not
    /// taken.
    static let longestText = 50_000
    /// A longer list would not be read to its end.
    static let mostMistakes = 20

    /// - Parameter isShown: whether people see the text, so that what merely looks like a tag is a
    ///   mistake.
    init(_ source: SourceText, isShown: Bool = true) {
        self.source = source
        self.isShown = isShown
        scalars = Array(source.value.unicodeScalars)
    }

    /// The text's nodes; `mistakes` tells whether they can be used.
    mutating func parse() -> [TemplateNode] {
        guard scalars.count <= Self.longestText else {
            report(
                "the text has \(scalars.count) characters, and no push holds that many", at: 0, remedy: "Shorten it.")
            return []
        }
        let (pieces, mistakes) = TemplateScanner.scan(scalars, isShown: isShown)
        found = mistakes
        hasUnreadBlock = mistakes.contains { isBlock(at: $0.index) }
        for piece in pieces where !isTooDeep && found.count < Self.mostMistakes {
            switch piece.kind {
            case .text: append(text(piece.range))
            case .output: readOutput(piece)
            case .block: readBlock(piece)
            }
        }
        if found.count >= Self.mostMistakes || isTooDeep { return [] }
        while let choice = open.last {
            if !hasUnreadBlock {
                report(
                    "'{% if %}' has no '{% endif %}'", at: choice.start,
                    remedy: "Write '{% endif %}' where its text ends.")
            }
            endChoice()
        }
        return nodes
    }

    /// Errors and warnings, in the order of their places.
    var mistakes: [Diagnostic] {
        found.sorted { $0.index < $1.index }.map {
            guard let warning = $0.warning else {
                return Diagnostic($0.message, at: place(of: $0.index), remedy: $0.remedy)
            }
            return .warning(warning, message: $0.message, at: place(of: $0.index), remedy: $0.remedy)
        } + unreachable
    }

    private mutating func append(_ text: String) {
        guard !text.isEmpty else { return }
        if case .text(let before) = nodes.last {
            nodes[nodes.count - 1] = .text(before + text)
        } else {
            nodes.append(.text(text))
        }
    }

    // MARK: - Tags

    private mutating func readOutput(_ piece: TemplatePiece) {
        var tag = OutputTag(scalars[piece.range], start: piece.start) { [source, scalars] in
            Self.place(of: $0, in: source, scalars)
        }
        let output = tag.read()
        found += tag.mistakes
        if let output { nodes.append(.output(output)) }
    }

    private mutating func readBlock(_ piece: TemplatePiece) {
        // The ends of raw and comment come empty.
        guard !piece.range.isEmpty else { return }
        let inside = scalars[piece.range]
        let start = inside.firstIndex { !TemplateTokenizer.isSpace($0) } ?? inside.endIndex
        let end = inside[start...].firstIndex { TemplateTokenizer.isSpace($0) } ?? inside.endIndex
        let word = text(start..<end)
        let rest = inside[end...]
        let next = self.word(of: rest)
        switch word {
        case "if": beginChoice(piece, rest)
        case "elsif":
            nextBranch(piece, readCondition(rest, of: "elsif", start: piece.start), isElse: false, word: "elsif")
        case "else" where next == "if":
            report("'{% else if %}' must be one word", at: start, remedy: "Write '{% elsif … %}'.")
            nextBranch(piece, nil, isElse: false, word: "elsif")
        case "else":
            refuse(rest, behind: "else", remedy: "For another condition write '{% elsif … %}'.")
            nextBranch(piece, nil, isElse: true, word: "else")
        case "end" where next == "if":
            report("'{% end if %}' must be one word", at: start, remedy: "Write '{% endif %}'.")
            if !open.isEmpty { endChoice() }
        case "endif":
            refuse(rest, behind: "endif", remedy: "Write '{% endif %}' alone.")
            if open.isEmpty { reportOrphan(word, at: piece.start) } else { endChoice() }
        default: refuseBlock(word, rest, at: start)
        }
    }

    private func word(of rest: ArraySlice<Unicode.Scalar>) -> String {
        let word = rest.drop(while: TemplateTokenizer.isSpace).prefix { !TemplateTokenizer.isSpace($0) }
        return String(String.UnicodeScalarView(word))
    }

    private mutating func refuse(_ rest: ArraySlice<Unicode.Scalar>, behind word: String, remedy: String) {
        guard let place = rest.firstIndex(where: { !TemplateTokenizer.isSpace($0) }) else { return }
        report("'\(self.word(of: rest))' follows '\(word)', which takes nothing", at: place, remedy: remedy)
    }

    private mutating func readCondition(_ rest: ArraySlice<Unicode.Scalar>, of word: String, start: Int)
        -> TemplateCondition?
    {
        var tag = ConditionTag(rest, of: word, start: start) { [source, scalars] in
            Self.place(of: $0, in: source, scalars)
        }
        let condition = tag.read()
        found += tag.mistakes
        return condition
    }

    // MARK: - Choices

    private mutating func beginChoice(_ piece: TemplatePiece, _ rest: ArraySlice<Unicode.Scalar>) {
        let condition = readCondition(rest, of: "if", start: piece.start)
        if open.count == Self.maximumDepth {
            report(
                "conditions nest deeper than \(Self.maximumDepth) levels here", at: piece.start,
                remedy: "Join them with 'and'.")
            isTooDeep = true
        }
        open.append(OpenChoice(start: piece.start, before: nodes, condition: condition))
        nodes = []
    }

    private mutating func nextBranch(
        _ piece: TemplatePiece, _ condition: TemplateCondition?, isElse: Bool, word: String
    ) {
        guard var choice = open.last else { return reportOrphan(word, at: piece.start) }
        if choice.hasElse {
            report(
                isElse ? "'{% else %}' appears twice" : "'{% elsif %}' comes after '{% else %}'", at: piece.start,
                remedy: "'{% else %}' comes last, and only once.")
        }
        choice.branches.append(TemplateBranch(condition: choice.condition, body: nodes))
        choice.condition = condition
        choice.hasElse = choice.hasElse || isElse
        open[open.count - 1] = choice
        nodes = []
    }

    private mutating func endChoice() {
        guard var choice = open.popLast() else { return }
        choice.branches.append(TemplateBranch(condition: choice.condition, body: nodes))
        // Nothing is known about a branch that could not be read.
        if found.allSatisfy(\.isWarning), let branch = ConditionLint.unreachable(choice.branches) {
            unreachable.append(branch)
        }
        nodes = choice.before + [.choice(choice.branches)]
    }

    private mutating func reportOrphan(_ word: String, at index: Int) {
        guard !hasUnreadBlock else { return }
        report(
            "this '{% \(word) %}' has no '{% if %}'", at: index,
            remedy: "Remove it, or write the '{% if … %}' before it.")
    }

    /// Whether the signs at a place were meant to begin a block: `{%`, `{ %`, `｛％`.
    private func isBlock(at index: Int) -> Bool {
        let signs = scalars[index...].prefix(3).filter { !TemplateTokenizer.isSpace($0) }.prefix(2)
        return signs.count == 2 && "{｛".unicodeScalars.contains(signs[0]) && "%％".unicodeScalars.contains(signs[1])
    }

    // MARK: - Unknown blocks

    private mutating func refuseBlock(_ word: String, _ rest: ArraySlice<Unicode.Scalar>, at index: Int) {
        if word.isEmpty { return report("'{% %}' is empty", at: index, remedy: "For a column write {{ first_name }}.") }
        let name = word.lowercased()
        // Parts of a block that was reported are not reported again.
        if name.hasPrefix("end"), refused.contains(String(name.dropFirst(3))) { return }
        if name == "when", refused.contains("case") { return }
        if let remedy = TemplateLanguage.refusedBlocks[name] {
            refused.insert(name)
            hasUnreadBlock = true
            return report("templates have no '{% \(word) %}'", at: index, remedy: remedy)
        }
        if name == "endraw" || name == "endcomment" {
            let first = name.dropFirst(3)
            return report("this '{% \(name) %}' has no '{% \(first) %}'", at: index, remedy: "Remove it.")
        }
        let isLowercase = name != word && TemplateLanguage.blockWords.contains(name)
        let meant =
            isLowercase
            ? name : TemplateLanguage.blockSynonyms[name] ?? nearestName(to: name, among: TemplateLanguage.blockWords)
        guard let meant else {
            hasUnreadBlock = true
            let isColumn = self.word(of: rest).isEmpty || self.word(of: rest).hasPrefix("|")
            return report(
                "templates have no '{% \(word) %}'", at: index,
                remedy: isColumn
                    ? "For a column write {{ \(word) }}."
                    : "Valid between {% and %}: \(TemplateLanguage.blockWords.joined(separator: ", ")).")
        }
        report("templates have no '{% \(word) %}'", at: index, remedy: "Did you mean '{% \(meant) %}'?")
        refused.insert(meant)
        // The rest is read as if this word had been written.
        if meant == "endif" {
            if !open.isEmpty { endChoice() }
        } else if meant == "elsif" || meant == "else", let choice = open.last, !choice.hasElse {
            nextBranch(
                TemplatePiece(kind: .block, range: index..<index, start: index), nil, isElse: meant == "else",
                word: meant)
        } else if meant == "if" {
            open.append(OpenChoice(start: index, before: nodes))
            nodes = []
        }
    }

    // MARK: - Places

    private func text(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }

    private func place(of index: Int) -> SourcePosition { Self.place(of: index, in: source, scalars) }

    private static func place(of index: Int, in source: SourceText, _ scalars: [Unicode.Scalar]) -> SourcePosition {
        source.position(atUTF8Offset: scalars[..<index].reduce(0) { $0 + UTF8.width($1) })
    }

    private mutating func report(_ message: String, at index: Int, remedy: String) {
        found.append(TemplateMistake(message: message, index: index, remedy: remedy))
    }
}

/// The words of the template language, and what people write instead of them.
enum TemplateLanguage {
    /// In the order in which they are listed to people.
    static let filters = [
        "default", "upcase", "downcase", "capitalize", "strip", "truncate", "date", "number", "pluralize",
    ]

    /// How each filter is written; for remedies.
    static let filterExamples = [
        "default": "default: 'there'", "truncate": "truncate: 20", "date": "date: 'long'", "number": "number: 2",
        "pluralize": "pluralize: 'item', 'items'",
    ]

    /// Other languages' names of filters.
    static let filterSynonyms = [
        "upper": "upcase", "uppercase": "upcase", "toupper": "upcase", "lower": "downcase", "lowercase": "downcase",
        "tolower": "downcase",
        "title": "capitalize", "titlecase": "capitalize", "titleize": "capitalize", "capitalise": "capitalize",
        "ucfirst": "capitalize",
        "trim": "strip", "lstrip": "strip", "rstrip": "strip", "squish": "strip", "truncatewords": "truncate",
        "substr": "truncate",
        "slice": "truncate", "limit": "truncate", "fallback": "default", "else": "default", "or": "default",
        "ifempty": "default",
        "if_blank": "default", "plural": "pluralize", "time": "date", "strftime": "date", "date_format": "date",
        "format_date": "date",
        "number_format": "number", "round": "number", "floor": "number", "ceil": "number", "delimited": "number",
        "number_with_delimiter": "number",
    ]

    /// Filters of Liquid that are left out, with what to do instead.
    static let leftOut = [
        "append": "Write the text after the tag.", "prepend": "Write the text before the tag.",
        "money": "Use number: 2, and write the currency next to it.",
        "escape": "It is not needed: a push shows texts as they are.",
        "escape_once": "It is not needed: a push shows texts as they are.",
        "strip_html": "It is not needed: a push shows texts as they are.",
        "json": "It is not needed: values are escaped everywhere.",
        "url_encode": "Prepare the encoded value in a column of the export.",
    ]

    /// The words of blocks, in the order in which they are listed to people.
    static let blockWords = ["if", "elsif", "else", "endif", "comment", "endcomment", "raw", "endraw"]

    /// What people write for a block's word.
    static let blockSynonyms = [
        "elseif": "elsif", "elif": "elsif", "else-if": "elsif", "elsf": "elsif", "end": "endif", "fi": "endif",
        "end-if": "endif",
        "end_if": "endif", "endcond": "endif", "otherwise": "else", "noescape": "raw", "verbatim": "raw",
        "endverbatim": "endraw",
    ]

    /// Blocks of Liquid that are left out, with what to do instead.
    static let refusedBlocks = [
        "for": loops, "tablerow": loops, "cycle": loops, "break": loops, "continue": loops, "forelse": loops,
        "assign": variables, "capture": variables, "increment": variables, "decrement": variables, "set": variables,
        "let": variables,
        "include": includes, "render": includes, "section": includes, "layout": includes, "extends": includes,
        "block": includes,
        "import": includes,
        "case": "Write {% if column == 'x' %} … {% elsif column == 'y' %} … {% endif %}.",
        "when": "Write {% if column == 'x' %} … {% elsif column == 'y' %} … {% endif %}.",
        "switch": "Write {% if column == 'x' %} … {% elsif column == 'y' %} … {% endif %}.",
        "unless": "Write {% if column != 'x' %}, or put the text after {% else %}.",
        "echo": "Write {{ column }}.", "print": "Write {{ column }}.", "liquid": "Write each tag between {% and %}.",
    ]

    private static let loops = "A device is one row: put the finished text into a column of the export."
    private static let variables = "Put the value into a column of the export, or repeat the tag where it is needed."
    private static let includes = "Write the text in its place; YAML's anchors (&name and *name) repeat whole texts."

    /// Names that are values in a condition.
    static let blankWords = ["blank", "empty", "nil", "null"]

    /// The place of the number in `%d items` and `{n} items`, which other systems fill in; nil for
    /// a word on its own.
    static func placeOfNumber(in word: String) -> Substring? {
        word.firstMatch(of: /%[0-9$]*[dsi@]|\{[A-Za-z0-9_]*\}/)?.output
    }
}
