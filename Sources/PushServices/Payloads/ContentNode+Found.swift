import Base

extension ContentNode {
    /// What is found where something else must be, for messages: "a list", "the text 'x'".
    var found: String {
        switch self {
        case .null: "nothing"
        case .bool(let value, _): "\(value)"
        case .integer(let number, _): "\(number)"
        case .double(let number, _): "\(number)"
        case .text(let text): text.isTemplate ? "a template, which always gives a text" : "the text '\(text.value)'"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension SourceText {
    /// Whether cells or conditions decide about a part of it.
    var isTemplate: Bool { value.contains("{{") || value.contains("{%") }
}
