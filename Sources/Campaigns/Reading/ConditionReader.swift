import Base
import PushServices

/// Reads `where`: conditions on columns.
struct ConditionReader {
    let section: Section

    /// The conditions, in the order of the file; what is wrong in them was reported.
    func conditions(_ node: YAMLNode) -> [ColumnCondition] {
        let example = "where: {language: [en, de], last_active: within 30 days}"
        guard let entries = Section.entries(of: node, name: "where", example: example, findings: section.findings)
        else { return [] }
        if entries.isEmpty {
            section.findings.error(
                "'where' is empty", at: node.position, remedy: "For example: \(example). Or remove the key.")
        }
        return entries.compactMap { entry in test(entry).map { ColumnCondition(column: entry.key, test: $0) } }
    }

    private func test(_ entry: YAMLEntry) -> ColumnTest? {
        let column = entry.key.value
        if column == "tags" {
            section.findings.error(
                "'where' compares whole cells, but a cell of tags holds several", at: entry.key.position,
                remedy: "Select with tags: {all: [...]}, or leave devices out with exclude: {tags: [...]}.")
            return nil
        }
        switch entry.value.content {
        case .sequence(let items): return values(items, column: column, at: entry.value.position)
        case .scalar where entry.value.isNull:
            section.findings.error(
                "the condition on \(quoted(column)) has no value", at: entry.value.position,
                remedy: "For blank cells write 'missing', for all others 'present'.")
            return nil
        case .scalar
        where entry.value.text.map { Blank.isCell($0.value) } ?? false && !(entry.value.text?.value.isEmpty ?? true):
            section.findings.error(
                "a cell that reads \(quoted(entry.value.text?.value ?? "")) counts as blank", at: entry.value.position,
                remedy: "For blank cells write \(column): missing; for all others \(column): present.")
            return nil
        case .scalar:
            guard
                let text = section.text(
                    entry.value, subject: "the condition on \(quoted(column))", example: "\(column): [one, two]")
            else {
                return nil
            }
            guard isSingleValue(text, column: column) else { return nil }
            warnOfRounding(text)
            return section.checked(text) { value throws(Mistake) in
                if let meant = Self.conditionInWords(value, column: column) {
                    throw Mistake(
                        "\(quoted(value)) is not a condition",
                        remedy:
                            "Write \(column): \(meant); for a cell with exactly this text, write a list: [\"\(value)\"]."
                    )
                }
                try Self.check(value, of: column)
                return try Self.test(value, column: column)
            }
        case .mapping where ["exclude", "where", "aliases", "registration_ids"].contains(column):
            section.findings.error(
                "\(quoted(column)) is under 'where', which holds columns of the export", at: entry.key.position,
                remedy: "Move it to the left, directly under 'audience'.")
            return nil
        case .mapping:
            section.findings.error(
                "the condition on \(quoted(column)) must be a value, a list or a comparison, not \(entry.value.noun)",
                at: entry.value.position, remedy: "For example: \(column): \">= 3.2.0\".")
            return nil
        case .unreadable: return nil
        }
    }

    /// `language: en, de` is a single text for YAML, which no cell holds.
    private func isSingleValue(_ text: SourceText, column: String) -> Bool {
        guard text.style == .plain, text.value.contains(where: { ",，、".contains($0) }) else { return true }
        let parts = text.value.split { ",，、".contains($0) }.map { $0.trimmingSpaces() }.filter { !$0.isEmpty }.joined(
            separator: ", ")
        section.findings.error(
            "\(quoted(text.value)) is read as a single value", at: text.position,
            remedy: "For several values write \(column): [\(parts)]; put a value with a comma in quotes.")
        return false
    }

    private func values(_ items: [YAMLNode], column: String, at place: SourcePosition) -> ColumnTest? {
        if items.isEmpty {
            section.findings.error(
                "the list is empty, so no cell can match", at: place, remedy: "List values, or remove the condition.")
            return nil
        }
        let texts = items.compactMap {
            section.text($0, subject: "an entry of \(quoted(column))", example: "\(column): [one, two]")
        }
        for text in texts { _ = section.checked(text) { value throws(Mistake) in try Self.check(value, of: column) } }
        texts.forEach(warnOfRounding)
        for text in texts where items.count > 1 {
            if case .oneOf? = try? Self.test(text.value, column: column) { continue }
            // A column takes one condition: several can only be written as a list.
            let isOneOfSeveral =
                texts.count { text in (try? Self.test(text.value, column: column)).map { !$0.isList } ?? false } > 1
            section.findings.warning(
                .conditionInList, message: "in a list, \(quoted(text.value)) is a plain value, not a condition",
                at: text.position,
                remedy: isOneOfSeveral || Self.negated(text.value) != nil && items.count > 2
                    ? "A column takes one condition. List the values that you mean: \(column): [one, two]."
                    : "Write a condition without brackets: \(column): \(Self.negated(text.value).map { "\"!= \($0)\"" } ?? quoted(text.value))."
            )
        }
        return texts.isEmpty ? nil : .oneOf(texts.map(\.value))
    }

    private func warnOfRounding(_ text: SourceText) {
        guard let doubt = RoundedNumber.doubt(about: text.value.trimmingSpaces()) else { return }
        section.findings.warning(.roundedNumber, message: doubt.message, at: text.position, remedy: doubt.remedy)
    }

    /// `Lyon` of `!Lyon`.
    private static func negated(_ text: String) -> String? {
        let rest = text.trimmingSpaces()
        guard rest.hasPrefix("!"), !rest.hasPrefix("!=") else { return nil }
        return rest.drop { $0 == "!" }.trimmingSpaces()
    }

    /// The test of a cell that a single text describes.
    static func test(_ text: String, column: String) throws(Mistake) -> ColumnTest {
        let text = text.trimmingSpaces()
        switch text {
        case "present": return .present
        case "missing": return .missing
        default: break
        }
        if let age = try age(text, column: column) { return age }
        let symbols = text.prefix { "<>=!~≥≤≠".contains($0) }
        guard !symbols.isEmpty else { return .oneOf([text]) }
        guard let comparison = ComparisonOperator(rawValue: String(symbols)) else {
            if let meant = almost[String(symbols)], let rest = plainRest(text, symbols) {
                throw Mistake(
                    "\(quoted(String(symbols))) is not a comparison",
                    remedy:
                        "Write \(column): \(meant.isEmpty ? rest : "\"\(meant) \(rest)\""); for a text that begins like this, write a list: [\"…\"]."
                )
            }
            throw Mistake(
                "\(quoted(String(symbols))) is not a comparison",
                remedy: "Use one of >=, <=, >, <, == and !=; for a text that begins like this, write a list: [\"…\"].")
        }
        let operand = text.dropFirst(symbols.count).trimmingSpaces()
        guard !operand.isEmpty else {
            throw Mistake(
                "the comparison \(quoted(text)) has nothing to compare with", remedy: "For example: \">= 3.2.0\".")
        }
        if comparison == .equal || comparison == .notEqual {
            if let value = unquoted(operand) {
                if Blank.isCell(value) {
                    try OperandRule(column: column, comparison: comparison, operand: value).check()
                }
                return .comparison(comparison, value)
            }
            try checkSingle(operand, comparison, column: column)
        }
        try OperandRule(
            column: column, comparison: comparison, operand: operand, redact: TargetRedaction.withoutTargets
        ).check()
        return .comparison(comparison, operand)
    }

    /// Signs that people write for a comparison; the empty one for a plain value.
    private static let almost = [
        "!": "!=", "<>": "!=", "≠": "!=", "=>": ">=", "=<": "<=", "≥": ">=", "≤": "<=", "=": "", "===": "", "!==": "!=",
    ]

    /// What follows the signs; nil for nothing.
    private static func plainRest(_ text: String, _ symbols: some StringProtocol) -> String? {
        let rest = text.dropFirst(symbols.count).trimmingSpaces()
        return rest.isEmpty ? nil : rest
    }

    /// An operand in its own quotes is a single value, whatever it holds: `!= 'Lyon, Nord'`.
    private static func unquoted(_ operand: String) -> String? {
        guard operand.utf8.count > 2, let first = operand.first, "'\"".contains(first), operand.last == first else {
            return nil
        }
        let value = operand.dropFirst().dropLast().trimmingSpaces()
        return value.isEmpty || value.contains(first) ? nil : value
    }

    /// `!= gold, silver` would be true of both.
    private static func checkSingle(_ operand: String, _ comparison: ComparisonOperator, column: String) throws(Mistake)
    {
        let isBracketed = operand.first == "[" && operand.last == "]"
        let parts = operand.split { "[],|，、".contains($0) }.map { $0.trimmingSpaces() }.filter { !$0.isEmpty }
        guard isBracketed || parts.count > 1 else { return }
        let remedy =
            comparison == .equal
            ? "For any of several values write a list: \(column): [\(parts.joined(separator: ", "))]."
            : "To leave out several, list the values that you want: \(column): [one, two]."
        throw Mistake(
            "'\(comparison.rawValue)' compares with a single value, and \(quoted(operand)) is read as one",
            remedy: remedy)
    }

    /// A value that no cell can have.
    private static func check(_ value: String, of column: String) throws(Mistake) {
        let text = value.trimmingSpaces()
        if text.isEmpty {
            throw Mistake("no cell matches a blank value", remedy: "For blank cells write \(column): missing.")
        }
        if let mistake = RoundedNumber.mistake(about: text) { throw mistake }
        let isPlain = !["present", "missing"].contains(text) && !text.contains { "<>=!~≥≤≠ ".contains($0) }
        guard column == ExportColumns.Standard.language.rawValue, isPlain, LanguageTag.normalized(text) == nil else {
            return
        }
        let parts = text.split { ",;|/".contains($0) }.map(String.init)
        if parts.count > 1, parts.allSatisfy({ LanguageTag.normalized($0) != nil }) {
            throw Mistake(
                "\(quoted(text)) is not a language", remedy: "Write \(column): [\(parts.joined(separator: ", "))].")
        }
        let meant = LanguageTag.named(text).map { "; \(quoted(text)) is '\($0)'" } ?? ""
        throw Mistake(
            "\(quoted(text)) is not a language", remedy: "Write a language tag such as de, pt-BR or zh-Hans\(meant).")
    }

    /// What a condition in other words, such as `last 30 days` or `at least 3.2`, most likely
    /// means; nil when the text is not a condition.
    private static func conditionInWords(_ text: String, column: String) -> String? {
        let words = text.split(separator: " ").map { $0.lowercased() }
        let openings: [(words: [String], age: String, comparison: String)] = [
            (["last"], "within", ""), (["in", "the", "last"], "within", ""), (["the", "last"], "within", ""),
            (["past"], "within", ""),
            (["newer", "than"], "within", ">"), (["younger", "than"], "within", "<"),
            (["less", "than"], "within", "<"),
            (["more", "than"], "older than", ">"), (["older"], "older than", "<"),
            (["at", "least"], "older than", ">="),
            (["at", "most"], "within", "<="), (["greater", "than"], "older than", ">"), (["since"], "", ">="),
            (["after"], "", ">"),
            (["before"], "", "<"), (["until"], "", "<="),
        ]
        guard let opening = openings.first(where: { words.starts(with: $0.words) }) else { return nil }
        let rest = words.dropFirst(opening.words.count)
        guard let first = rest.first, first.first?.isNumber == true else { return nil }
        let length = rest.prefix(2).joined(separator: " ")
        if !opening.age.isEmpty, (try? DurationNotation.seconds(length)) != nil { return "\(opening.age) \(length)" }
        guard let comparison = ComparisonOperator(rawValue: opening.comparison) else { return nil }
        let operand = date(meantBy: first) ?? first
        // A day alone means its midnight: what comes after that day begins with the next one.
        if let next = nextDay(operand), let sign = [">": ">=", "<=": "<"][opening.comparison] {
            return "\"\(sign) \(next)\""
        }
        if OperandRule.accepts(comparison, operand, column: column) { return quotedComparison((comparison, operand)) }
        if let period = WrittenPeriod(first) { return quotedComparison(period.compared(comparison)) }
        let isDate = opening.age.isEmpty || ComparisonValue.isDate(column: column)
        return quotedComparison(
            (comparison, ComparisonValue.isVersion(column: column) ? "3.2.0" : isDate ? "2026-11-30" : "100"))
    }

    private static func quotedComparison(_ comparison: (ComparisonOperator, String)) -> String {
        "\"\(comparison.0.rawValue) \(comparison.1)\""
    }

    /// The date that a text is or means; of several, nil.
    private static func date(meantBy text: String) -> String? {
        if text.contains("-"), Array(text.utf8).withUnsafeBufferPointer(dateMilliseconds) != nil { return text }
        let dates = OperandRule.dates(meantBy: text)
        return dates.count == 1 ? dates[0] : nil
    }

    private static func nextDay(_ text: String) -> String? {
        guard text.utf8.count == 10, let moment = Timestamp(text) else { return nil }
        return String(moment.adding(seconds: 86_400).description.prefix(10))
    }

    private static func age(_ text: String, column: String) throws(Mistake) -> ColumnTest? {
        let words = text.split(separator: " ").map { $0.lowercased() }
        if words.first == "within" {
            return .within(seconds: try seconds(in: words.dropFirst(), of: text, column, .greaterOrEqual))
        }
        guard words.starts(with: ["older", "than"]) else { return nil }
        return .olderThan(seconds: try seconds(in: words.dropFirst(2), of: text, column, .less))
    }

    /// - Parameter comparison: what the words mean before a date.
    private static func seconds(
        in words: ArraySlice<String>, of text: String, _ column: String, _ comparison: ComparisonOperator
    ) throws(Mistake) -> Int {
        let length = words.joined(separator: " ")
        do throws(Mistake) {
            return try DurationNotation.seconds(length)
        } catch {
            let day = date(meantBy: length.uppercased()) ?? WrittenPeriod(length)?.first
            if let day, OperandRule.accepts(comparison, day, column: column) {
                throw Mistake(
                    "in \(quoted(text)), \(error.message)",
                    remedy: "To compare with a date, write \(column): \(quotedComparison((comparison, day))).")
            }
            throw Mistake(
                "in \(quoted(text)), \(error.message)",
                remedy:
                    "Write for example 'within 30 days' or 'older than 12 hours'; for a plain value, write a list: [\"…\"]."
            )
        }
    }
}

extension ColumnTest {
    fileprivate var isList: Bool { if case .oneOf = self { true } else { false } }
}
