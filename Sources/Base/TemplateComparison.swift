/// A comparison after `{% if %}`, as far as an export can show whether it makes sense: what the
/// cells of a column are compared with.
public struct TemplateComparison: Hashable, Sendable {
    /// The kind of comparison.
    public enum Kind: Hashable, Sendable {
        /// A number, version or date: compared as `ComparisonValue` does.
        case order(ComparisonOperator, String)
        /// `==` or `!=` with a text, compared exactly.
        case text(ComparisonOperator, String)
        /// `==` or `!=` with a language's tag.
        case language(ComparisonOperator, String)
        /// `==` or `!=` with `true` or `false`.
        case truth(ComparisonOperator, Bool)
        /// `contains`, compared exactly.
        case part(String)
        /// The column on its own: any text but `false` and `0` satisfies it.
        case presence
        /// Not a comparison, but a cell that is formatted as a number: `{{ points | number }}`.
        case number
    }

    /// The column, with the place of its name.
    public var column: SourceText
    /// How its cells are compared.
    public var kind: Kind
    /// Whether it is joined to others in such a way that no other spelling can be added to it:
    /// mixing `and` and `or` would reverse the condition.
    public var isEntangled: Bool

    /// A comparison of a column.
    public init(column: SourceText, kind: Kind, isEntangled: Bool = false) {
        self.column = column
        self.kind = kind
        self.isEntangled = isEntangled
    }
}

extension TemplateComparison: CustomStringConvertible {
    /// As written: `points >= 1000`, `level == 'gold'`.
    public var description: String {
        switch kind {
        case .order(let comparison, let value):
            let isNumber = ComparisonValue(value, column: column.value).kind == .number
            return "\(column.value) \(comparison.rawValue) \(isNumber ? value : "'\(value)'")"
        case .text(let comparison, let text), .language(let comparison, let text):
            return "\(column.value) \(comparison.rawValue) '\(text)'"
        case .truth(let comparison, let isTrue): return "\(column.value) \(comparison.rawValue) \(isTrue)"
        case .part(let text): return "\(column.value) contains '\(text)'"
        case .presence: return column.value
        case .number: return "\(column.value) | number"
        }
    }
}
