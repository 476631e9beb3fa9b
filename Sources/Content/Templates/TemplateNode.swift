import Base

/// A part of a text with templates, as the parser understands it.
enum TemplateNode: Hashable, Sendable {
    /// Printed unchanged.
    case text(String)
    /// `{{ column | filter }}`
    case output(TemplateOutput)
    /// `{% if %}` with its branches in their order: the first that holds is taken. Only the last
    /// may be without a condition (`else`).
    case choice([TemplateBranch])
}

extension TemplateNode {
    /// Whether it is a text with nothing to see in it.
    var isBlankText: Bool { if case .text = self { mayBeBlank } else { false } }

    /// Whether it may print nothing although it is not a text: in a text that people see, that is a
    /// gap.
    var mayLeaveGap: Bool {
        switch self {
        case .text: false
        case .output: mayBeBlank
        case .choice(let branches): mayBeBlank || branches.contains { $0.body.contains(where: \.mayLeaveGap) }
        }
    }

    /// Whether its result may have nothing to see.
    var mayBeBlank: Bool {
        switch self {
        case .text(let text):
            var text = text
            return text.withUTF8 { Blank.isText($0) }
        case .output(let output):
            // A blank cell without a default means no push at all.
            return output.filters.contains {
                switch $0 {
                case .fallback(var text): text.withUTF8 { Blank.isText($0) }
                case .truncate, .strip, .date, .pluralize, .pluralizePair: true
                default: false
                }
            }
        case .choice(let branches):
            return branches.last?.condition != nil || branches.contains { $0.body.allSatisfy(\.mayBeBlank) }
        }
    }
}

/// `{{ column | filter: argument }}`
struct TemplateOutput: Hashable, Sendable {
    /// With the place of the name.
    var column: SourceText
    var filters: [TemplateFilter] = []
}

/// A branch of `{% if %}`.
struct TemplateBranch: Hashable, Sendable {
    /// nil for `else`.
    var condition: TemplateCondition?
    var body: [TemplateNode]
}

/// What a filter does with the text before it.
enum TemplateFilter: Hashable, Sendable {
    /// Replaces a blank text.
    case fallback(String)
    case upcase, downcase, capitalize, strip
    /// At most this many user-visible characters, including the ellipsis.
    case truncate(length: Int, ellipsis: String)
    case date(DateStyle)
    /// With this many decimals; nil keeps those of the number, at most three.
    case number(decimals: Int?)
    /// The first word for 1, otherwise the second.
    case pluralizePair(String, String)
    /// The word for the number's form in the device's language.
    case pluralize([PluralForm: String])
}

/// The form of a date.
enum DateStyle: Hashable, Sendable {
    /// In the device's language.
    case named(NamedDateStyle)
    /// By directives, as in `%d %B %Y`.
    case directives([DatePart])
}

/// CLDR's lengths of a date.
enum NamedDateStyle: Int, CaseIterable, Hashable, Sendable {
    case short, medium, long, full

    /// As written in a template.
    var name: String { "\(self)" }
}

/// CLDR's forms of a word next to a number.
enum PluralForm: Int, CaseIterable, Hashable, Sendable {
    case zero, one, two, few, many, other

    /// As written in a template.
    var name: String { "\(self)" }
}

/// Comparisons joined by `and` and `or`.
struct TemplateCondition: Hashable, Sendable {
    enum Connector: Hashable, Sendable { case and, or }

    /// At least one.
    var tests: [TemplateTest]
    /// One fewer than the tests. Read from the right, as Liquid does: `a and b or c` is
    /// `a and (b or c)`.
    var connectors: [Connector]
}

/// A comparison of a column.
struct TemplateTest: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// The column on its own: neither blank nor `false` nor `0`.
        case truthy
        /// `!= blank`
        case present
        /// `== blank`
        case blank
        /// With a text in quotes.
        case text(ComparisonOperator, String)
        /// With a number without quotes, as written.
        case number(ComparisonOperator, String)
        /// With `true` or `false`.
        case truth(ComparisonOperator, Bool)
        case contains(String)
    }

    var column: SourceText
    var kind: Kind

    /// Whether it holds for everything that it does not name, so that further spellings are joined
    /// with `and`.
    var isNegative: Bool {
        switch kind {
        case .text(.notEqual, _), .number(.notEqual, _), .truth(.notEqual, _): true
        default: false
        }
    }

    /// What cells are compared with; nil if every kind of cell gives an answer.
    var comparison: TemplateComparison? {
        let kind: TemplateComparison.Kind? =
            switch kind {
            case .present, .blank: nil
            case .truthy: .presence
            case .text(let comparison, let text):
                comparison != .equal && comparison != .notEqual
                    ? .order(comparison, trimmedSpaces(text))
                    : column.value == ExportColumns.Standard.language.rawValue
                        && LanguageTag.normalized(trimmedSpaces(text)) != nil
                        ? .language(comparison, trimmedSpaces(text)) : .text(comparison, trimmedSpaces(text))
            case .number(let comparison, let number): .order(comparison, number)
            case .truth(let comparison, let isTrue): .truth(comparison, isTrue)
            case .contains(let text): .part(text)
            }
        return kind.map { TemplateComparison(column: column, kind: $0) }
    }
}

/// Without white space at either end, as in comparisons of cells.
func trimmedSpaces(_ text: String) -> String {
    String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
}
