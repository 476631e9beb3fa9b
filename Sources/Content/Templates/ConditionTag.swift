import Base
import PushServices

/// The part after `if` and `elsif`: comparisons of columns, joined by `and` and `or`.
struct ConditionTag {
    private let tokens: [TemplateToken]
    private let word: String
    private let start: Int
    private let end: Int
    private let place: (Int) -> SourcePosition
    private(set) var mistakes: [TemplateMistake]

    private static let operators: [String: ComparisonOperator] = Dictionary(
        uniqueKeysWithValues: ComparisonOperator.allCases.map { ($0.rawValue, $0) })
    /// Signs that people write for an operator.
    private static let almost = [
        "=": "==", "===": "==", "!==": "!=", "<>": "!=", "=>": ">=", "=<": "<=", "≠": "!=", "≤": "<=", "≥": ">=",
    ]
    /// Words that people write for an operator.
    private static let words = [
        "is": "==", "equals": "==", "eq": "==", "ne": "!=", "gt": ">", "lt": "<", "gte": ">=", "lte": "<=", "ge": ">=",
        "le": "<=",
        "includes": "contains", "contain": "contains", "has": "contains", "like": "contains",
    ]

    /// - Parameters:
    ///   - rest: the part after the word, with the indices of the whole text.
    ///   - start: where the tag begins.
    ///   - place: the place of a scalar in the file.
    init(_ rest: ArraySlice<Unicode.Scalar>, of word: String, start: Int, place: @escaping (Int) -> SourcePosition) {
        let tokenizer = TemplateTokenizer(rest, of: "{% %}")
        tokens = tokenizer.tokens
        mistakes = tokenizer.mistakes
        self.word = word
        self.start = start
        end = rest.endIndex
        self.place = place
    }

    /// The condition; nil if there is a mistake.
    mutating func read() -> TemplateCondition? {
        guard !tokens.isEmpty else {
            if mistakes.isEmpty {
                report(
                    "'{% \(word) %}' has no condition", at: start,
                    remedy: "For example: {% \(word) first_name == 'Anna' %}.")
            }
            return nil
        }
        if let bracket = tokens.first(where: { $0.isSign("(") || $0.isSign(")") }) {
            report(
                "conditions take no parentheses", at: bracket.range.lowerBound,
                remedy: "Put one '{% if %}' inside another, or repeat a comparison.")
            return nil
        }
        if let pipe = tokens.first(where: { $0.isSign("|") }) {
            report(
                "conditions take no filters", at: pipe.range.lowerBound,
                remedy: "Compare the column as the export has it.")
            return nil
        }
        var condition = TemplateCondition(tests: [], connectors: [])
        var (first, places) = (0, [Int]())
        for index in tokens.indices {
            guard let connector = connector(tokens[index]) else { continue }
            if let test = readTest(
                tokens[first..<index], behind: first == 0 ? nil : tokens[first - 1], before: tokens[index])
            {
                condition.tests.append(test)
                places.append(tokens[first].range.lowerBound)
            }
            condition.connectors.append(connector)
            first = index + 1
        }
        if let test = readTest(tokens[first...], behind: first == 0 ? nil : tokens[first - 1], before: nil) {
            condition.tests.append(test)
            places.append(tokens[first].range.lowerBound)
        }
        mistakes += ConditionLint.mistakes(condition, places: places, start: start)
        return mistakes.allSatisfy(\.isWarning) && condition.tests.count == condition.connectors.count + 1
            ? condition : nil
    }

    private mutating func connector(_ token: TemplateToken) -> TemplateCondition.Connector? {
        switch token.kind {
        case .name("and"): return .and
        case .name("or"): return .or
        case .name(let name) where ["AND", "And", "OR", "Or"].contains(name):
            report(
                "'\(name)' must be in lower-case letters", at: token.range.lowerBound,
                remedy: "Write '\(name.lowercased())'.")
            return name.lowercased() == "and" ? .and : .or
        case .sign("&&"):
            report("'&&' does not join comparisons", at: token.range.lowerBound, remedy: "Write 'and'.")
            return .and
        case .sign("||"):
            report("'||' does not join comparisons", at: token.range.lowerBound, remedy: "Write 'or'.")
            return .or
        default: return nil
        }
    }

    // MARK: - Comparisons

    private mutating func readTest(
        _ part: ArraySlice<TemplateToken>, behind before: TemplateToken?, before after: TemplateToken?
    ) -> TemplateTest? {
        guard let first = part.first else {
            let name = (before ?? after).flatMap(\.name) ?? "and"
            let index = after?.range.lowerBound ?? end
            report(
                "a comparison is missing \(after == nil ? "after" : "before") '\(name)'", at: index,
                remedy: example("first_name"))
            return nil
        }
        let index = first.range.lowerBound
        guard case .name(let column) = first.kind else {
            reportFirst(first, behind: before?.name)
            return nil
        }
        if column == "not", part.count > 1 {
            report(
                "conditions have no 'not'", at: index,
                remedy: "Write !=, or == blank, or put the text after {% else %}.")
            return nil
        }
        if TemplateLanguage.blankWords.contains(column) || column == "true" || column == "false" {
            report(
                "the column must come before the value it is compared with", at: index,
                remedy: "For example: {% if first_name == \(column) %}.")
            return nil
        }
        let source = SourceText(column, at: place(index))
        guard part.count > 1 else { return TemplateTest(column: source, kind: .truthy) }
        let operation = part[part.startIndex + 1]
        guard let (comparison, contains) = readOperator(operation, column: column, part) else { return nil }
        guard part.count > 2 else {
            report(
                "nothing follows '\(contains ? "contains" : comparison.rawValue)'", at: after?.range.lowerBound ?? end,
                remedy: example(column))
            return nil
        }
        if part.count > 3 {
            let surplus = part[part.startIndex + 3]
            if let number = groupedNumber(part.dropFirst(2)) {
                report(
                    "a number has no commas", at: part[part.startIndex + 2].range.lowerBound,
                    remedy: "Write \(column) \(comparison.rawValue) \(number).")
                return nil
            }
            report(
                "something follows the comparison", at: surplus.range.lowerBound,
                remedy: "Join comparisons with 'and' or 'or'.")
            return nil
        }
        return readValue(part[part.startIndex + 2], comparison, contains: contains, column: column).map {
            TemplateTest(column: source, kind: $0)
        }
    }

    /// The number that `1,000` and `1,000,000` mean; nil for other tokens.
    private func groupedNumber(_ tokens: ArraySlice<TemplateToken>) -> String? {
        var digits = ""
        for (index, token) in tokens.enumerated() {
            switch token.kind {
            case .number(let part) where index % 2 == 0 && (index == 0 || part.count == 3): digits += part
            case .sign(",") where index % 2 == 1: continue
            default: return nil
            }
        }
        return tokens.count > 1 && tokens.count % 2 == 1 && !digits.contains(".") ? digits : nil
    }

    private func example(_ column: String) -> String { "For example: {% \(word) \(column) == 'x' %}." }

    private mutating func reportFirst(_ first: TemplateToken, behind connector: String?) {
        let index = first.range.lowerBound
        switch first.kind {
        case .sign("!"):
            report(
                "conditions have no '!'", at: index, remedy: "Write !=, or == blank, or put the text after {% else %}.")
        // The `and` that belongs to `between` was reported with it.
        case .number where connector == "and" && tokens.contains { $0.name == "between" }: break
        case .text where connector != nil, .number where connector != nil:
            report(
                "a column is missing after '\(connector ?? "")'", at: index,
                remedy:
                    "Repeat the column, for example: {% \(word) first_name == 'x' \(connector ?? "or") first_name == 'y' %}."
            )
        case .text, .number:
            report(
                "the column must come before the value it is compared with", at: index, remedy: example("first_name"))
        default:
            if mistakes.isEmpty { report("a column is missing here", at: index, remedy: example("first_name")) }
        }
    }

    private mutating func readOperator(
        _ token: TemplateToken, column: String, _ part: ArraySlice<TemplateToken>
    ) -> (comparison: ComparisonOperator, contains: Bool)? {
        let index = token.range.lowerBound
        switch token.kind {
        case .sign(let sign):
            if let comparison = Self.operators[sign] { return (comparison, false) }
            guard let meant = Self.almost[sign] else { break }
            report("'\(sign)' is not an operator", at: index, remedy: "Write '\(meant)'.")
            return (Self.operators[meant] ?? .equal, false)
        case .name("contains"): return (.equal, true)
        case .name(let name):
            if name == "in" {
                report("conditions have no 'in'", at: index, remedy: "Write \(column) == 'x' or \(column) == 'y'.")
                return nil
            }
            if ["within", "older", "since", "before", "after"].contains(name) {
                report(
                    "templates do not know what day it is: '\(name)'", at: index,
                    remedy:
                        "Compare with a day, as in {% \(word) \(column) >= '2026-11-01' %}, or choose the devices with 'where' in 'audience'."
                )
                return nil
            }
            if name == "between" {
                let numbers = tokens[part.startIndex...].compactMap {
                    if case .number(let number) = $0.kind { number } else { nil }
                }
                let (least, most) = numbers.count > 1 ? (numbers[0], numbers[1]) : ("50", "100")
                report(
                    "conditions have no 'between'", at: index,
                    remedy: "Write \(column) >= \(least) and \(column) <= \(most).")
                return nil
            }
            if name == "is", part.count > 2, part[part.startIndex + 2].name == "not" {
                report("conditions have no 'is not'", at: index, remedy: "Write '!='.")
                return nil
            }
            if let meant = Self.words[name.lowercased()] {
                report("'\(name)' is not an operator", at: index, remedy: "Write '\(meant)'.")
                return (Self.operators[meant] ?? .equal, meant == "contains")
            }
            // An invisible character in the name was already reported.
            guard mistakes.isEmpty else { return nil }
            let words = part.prefix { $0.name != nil }.compactMap(\.name)
            report(
                "a column's name cannot hold spaces: '\(words.joined(separator: " "))'",
                at: part[part.startIndex].range.lowerBound,
                remedy: "\(OutputTag.remedy(forSpaces: words)).")
            return nil
        default: break
        }
        if mistakes.isEmpty {
            report(
                "an operator is missing after '\(column)'", at: index,
                remedy: "The operators are ==, !=, <, <=, >, >= and contains.")
        }
        return nil
    }

    private mutating func readValue(
        _ token: TemplateToken, _ comparison: ComparisonOperator, contains: Bool, column: String
    ) -> TemplateTest.Kind? {
        let index = token.range.lowerBound
        switch token.kind {
        case .text(let text) where contains:
            guard text.isEmpty else { return .contains(text) }
            report(
                "'contains' needs a text that is not empty", at: index,
                remedy: "Write \(column) != blank to ask for any text.")
        case .number(let number) where contains: return .contains(number)
        case .text(let text):
            if !text.isEmpty { return compared(text, comparison, column: column, at: index) }
            if comparison == .equal { return .blank }
            if comparison == .notEqual { return .present }
            report(
                "only == and != compare with an empty text", at: index,
                remedy: "Write \(column) == blank or \(column) != blank.")
        case .number(let number):
            return isComparable(number, comparison, column: column, at: index) ? .number(comparison, number) : nil
        case .name(let name) where TemplateLanguage.blankWords.contains(name):
            if comparison == .equal, !contains { return .blank }
            if comparison == .notEqual { return .present }
            report(
                "only == and != compare with '\(name)'", at: index,
                remedy: "Write \(column) == \(name) or \(column) != \(name).")
        case .name(let name) where name == "true" || name == "false":
            if comparison == .equal && !contains || comparison == .notEqual {
                return .truth(comparison, name == "true")
            }
            report(
                "only == and != compare with '\(name)'", at: index,
                remedy: "Write \(column) == \(name) or \(column) != \(name).")
        case .name(let name) where ["today", "now", "yesterday", "tomorrow"].contains(name):
            report(
                "templates do not know what day it is: '\(name)'", at: index,
                remedy: "Let a column of the export say so, for example {% \(word) \(column)_is_\(name) == true %}.")
        case .name(let name):
            report(
                "'\(name)' needs quotes: a column is compared with a text or a number", at: index,
                remedy: "Write {% \(word) \(column) \(contains ? "contains" : comparison.rawValue) '\(name)' %}.")
        default:
            if mistakes.isEmpty {
                report("a text in quotes or a number is missing here", at: index, remedy: example(column))
            }
        }
        return nil
    }

    /// The comparison with a text in quotes. `==` and `!=` compare texts exactly, except for
    /// `true`, `false` and languages; less and more need a value that has an order, as in `where`.
    private mutating func compared(
        _ text: String, _ comparison: ComparisonOperator, column: String, at index: Int
    ) -> TemplateTest.Kind? {
        let value = trimmedSpaces(text)
        guard comparison == .equal || comparison == .notEqual else {
            return isComparable(value, comparison, column: column, at: index) ? .text(comparison, text) : nil
        }
        if ["true", "false"].contains(value.lowercased()) { return .truth(comparison, value.lowercased() == "true") }
        if column == ExportColumns.Standard.language.rawValue, !value.contains(" "),
            LanguageTag.normalized(value) == nil
        {
            let meant = LanguageTag.named(value).map { "; '\(value)' is '\($0)'" } ?? ""
            report(
                "'\(value)' is not a language", at: index,
                remedy: "Write a language tag such as de, pt-BR or zh-Hans\(meant).")
            return nil
        }
        if Blank.isCell(value) {
            report(
                "a cell that reads '\(value)' counts as blank", at: index,
                remedy: "Write \(column) \(comparison.rawValue) blank.")
            return nil
        }
        return .text(comparison, text)
    }

    /// Whether cells can be compared with this, by the rule of `where`.
    private mutating func isComparable(
        _ operand: String, _ comparison: ComparisonOperator, column: String, at index: Int
    ) -> Bool {
        do throws(Mistake) {
            try OperandRule(
                column: column, comparison: comparison, operand: operand, notation: .template,
                redact: TargetRedaction.withoutTargets
            )
            .check()
            return true
        } catch {
            report(error.message, at: index, remedy: error.remedy ?? "")
            return false
        }
    }

    private mutating func report(_ message: String, at index: Int, remedy: String) {
        mistakes.append(TemplateMistake(message: message, index: index, remedy: remedy))
    }
}
