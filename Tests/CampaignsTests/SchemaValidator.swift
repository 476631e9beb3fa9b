import Base

/// Validates a value against a JSON Schema, slowly and plainly, with the keywords that Volley's
/// schemas use. Any other keyword is a mistake in the schema.
struct SchemaValidator {
    let document: JSONValue

    /// Keywords that only describe.
    private static let annotations: Set<String> = [
        "$schema", "$defs", "title", "description", "examples", "default", "then", "else",
    ]

    /// Which rule the value breaks, and where; empty if it is valid.
    func mistakes(_ value: JSONValue) -> [String] { mistakes(value, document, "") }

    private func mistakes(_ value: JSONValue, _ schema: JSONValue, _ path: String) -> [String] {
        if schema == .bool(true) { return [] }
        guard case .object(let rules) = schema else { return ["\(path): nothing may stand here"] }
        return rules.flatMap { rule in
            Self.annotations.contains(rule.name)
                ? [] : mistakes(value, rule, schema, path).map { "\(path) \(rule.name): \($0)" }
        }
    }

    private func isValid(_ value: JSONValue, _ schema: JSONValue) -> Bool { mistakes(value, schema, "").isEmpty }

    private func mistakes(_ value: JSONValue, _ rule: JSONMember, _ schema: JSONValue, _ path: String) -> [String] {
        func check(_ isSo: Bool) -> [String] { isSo ? [] : ["broken by \(value.text.prefix(80))"] }
        switch rule.name {
        case "$ref":
            let name = rule.value.stringValue?.split(separator: "/").last.map(String.init) ?? ""
            guard let target = document["$defs"]?[name] else { return ["no such definition: \(name)"] }
            return mistakes(value, target, path)
        case "type": return check(rule.value.alternatives.contains { value.isOfType($0.stringValue ?? "") })
        case "enum": return check(rule.value.alternatives.contains(value))
        case "const": return check(value == rule.value)
        case "anyOf": return check(rule.value.alternatives.contains { isValid(value, $0) })
        case "allOf": return rule.value.alternatives.flatMap { mistakes(value, $0, path) }
        case "not": return check(!isValid(value, rule.value))
        case "if": return mistakes(value, schema[isValid(value, rule.value) ? "then" : "else"] ?? .bool(true), path)
        case "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum":
            return check(value.keeps(rule))
        case "items", "minItems":
            guard case .array(let items) = value else { return [] }
            if rule.name == "minItems" { return check(items.count >= rule.value.integerValue ?? 0) }
            return items.enumerated().flatMap { mistakes($1, rule.value, "\(path)[\($0)]") }
        default:
            guard case .object(let members) = value else { return rule.isAboutObjects ? [] : ["an unknown keyword"] }
            return mistakes(members, rule, schema, path)
        }
    }

    private func mistakes(_ members: [JSONMember], _ rule: JSONMember, _ schema: JSONValue, _ path: String) -> [String]
    {
        switch rule.name {
        case "properties":
            return members.flatMap { member in
                rule.value[member.name].map { mistakes(member.value, $0, "\(path).\(member.name)") } ?? []
            }
        case "additionalProperties":
            let others = members.filter { schema["properties"]?[$0.name] == nil }
            return others.flatMap { mistakes($0.value, rule.value, "\(path).\($0.name)") }
        case "propertyNames": return members.flatMap { mistakes(.string($0.name), rule.value, "\(path).\($0.name)") }
        case "required":
            return rule.value.alternatives.compactMap(\.stringValue).filter { name in
                !members.contains { $0.name == name }
            }
        case "minProperties": return members.count >= rule.value.integerValue ?? 0 ? [] : ["too few keys"]
        case "maxProperties": return members.count <= rule.value.integerValue ?? 0 ? [] : ["too many keys"]
        default: return ["an unknown keyword"]
        }
    }
}

extension JSONMember {
    fileprivate var isAboutObjects: Bool {
        ["properties", "additionalProperties", "propertyNames", "required", "minProperties", "maxProperties"].contains(
            name)
    }
}

extension JSONValue {
    /// An array's values, or the one value.
    fileprivate var alternatives: [JSONValue] {
        if case .array(let values) = self { values } else { [self] }
    }

    private var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    fileprivate func isOfType(_ name: String) -> Bool {
        switch (self, name) {
        case (.null, "null"), (.bool, "boolean"), (.integer, "integer"), (.integer, "number"), (.double, "number"),
            (.string, "string"),
            (.array, "array"), (.object, "object"):
            true
        default: false
        }
    }

    /// Rules about texts apply only to texts, and those about numbers only to numbers.
    fileprivate func keeps(_ rule: JSONMember) -> Bool {
        switch rule.name {
        case "pattern":
            guard case .string(let text) = self, let pattern = rule.value.stringValue else { return true }
            guard let regex = try? Regex(pattern) else { return false }
            return text.firstMatch(of: regex) != nil
        case "minLength", "maxLength":
            guard case .string(let text) = self, let limit = rule.value.integerValue else { return true }
            return rule.name == "minLength" ? text.unicodeScalars.count >= limit : text.unicodeScalars.count <= limit
        default:
            guard let number, let limit = rule.value.number else { return true }
            return rule.name == "minimum" ? number >= limit : rule.name == "maximum" ? number <= limit : number > limit
        }
    }
}
