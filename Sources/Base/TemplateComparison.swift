/// A comparison behind `{% if %}`, as far as an export can show whether it is meant so: what a column's cells are held against.
public struct TemplateComparison: Hashable, Sendable {
    /// What is asked of a cell.
    public enum Kind: Hashable, Sendable {
        /// A number, version or date: as `ComparisonValue` compares.
        case order(ComparisonOperator, String)
        /// `==` or `!=` with a text, to the letter.
        case text(ComparisonOperator, String)
        /// `==` or `!=` with a language's tag.
        case language(ComparisonOperator, String)
        /// `==` or `!=` with `true` or `false`.
        case truth(ComparisonOperator, Bool)
        /// `contains`, to the letter.
        case part(String)
        /// The column alone, which any text but `false` and `0` satisfies.
        case presence
        /// No question, but a cell that is written as a number: `{{ points | number }}`.
        case number
    }

    /// With the place of its name.
    public var column: SourceText
    /// What is asked of its cells.
    public var kind: Kind
    /// Whether it is joined to others so that another spelling cannot be named beside it: `and` beside `or` would turn the condition around.
    public var isEntangled: Bool

    /// A comparison of a column.
    public init(column: SourceText, kind: Kind, isEntangled: Bool = false) {
        self.column = column
        self.kind = kind
        self.isEntangled = isEntangled
    }
}

extension TemplateComparison: CustomStringConvertible {
    /// As it is written: `points >= 1000`, `level == 'gold'`.
    public var description: String {
        switch kind {
        case .order(let comparison, let value):
            let isNumber = ComparisonValue(value, column: column.value).kind == .number
            return "\(column.value) \(comparison.rawValue) \(isNumber ? value : "'\(value)'")"
        case .text(let comparison, let text), .language(let comparison, let text): return "\(column.value) \(comparison.rawValue) '\(text)'"
        case .truth(let comparison, let isTrue): return "\(column.value) \(comparison.rawValue) \(isTrue)"
        case .part(let text): return "\(column.value) contains '\(text)'"
        case .presence: return column.value
        case .number: return "\(column.value) | number"
        }
    }
}
