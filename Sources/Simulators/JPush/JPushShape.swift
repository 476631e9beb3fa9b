import Base

/// What the documentation says about the form of a JSON value, so that a strict check can refuse
/// everything else. Names are as they are written: JPush accepts no other spelling of them. `true`
/// is never 1.
indirect enum JPushShape: Sendable {
    case text
    /// A text of at most this many bytes.
    case shortText(Int)
    case flag
    case number(ClosedRange<Int64>)
    /// A whole number that is not 0.
    case nonZero
    case choice([String])
    /// `N`, `+N` or `-N`, with N from 0 to 99, as a text; nothing in it, and a number, are allowed
    /// too.
    case badge
    case list(JPushShape)
    case anyObject
    /// `null`, as JPush's SDK for Java writes what is not set.
    case null
    /// One of these.
    case either(JPushShape, JPushShape)
    /// An object with these names and no others.
    case object([String: JPushShape])

    /// The first place where a value differs from its shape; nil if it does not.
    func flaw(in value: JSONValue) -> JPushFlaw? {
        switch (self, value) {
        case (.text, .string), (.flag, .bool), (.null, .null): nil
        case (.shortText(let limit), .string(let text)):
            text.utf8.count <= limit ? nil : JPushFlaw(1003, "\(text.utf8.count) bytes, \(limit) are allowed")
        case (.number(let range), .integer(let number)):
            range.contains(number)
                ? nil : JPushFlaw(1003, "\(number) is not from \(range.lowerBound) to \(range.upperBound)")
        case (.nonZero, .integer(let number)): number != 0 ? nil : JPushFlaw(1003, "0 is not allowed")
        case (.choice(let names), .string(let text)):
            names.contains(text) ? nil : JPushFlaw(1003, "none of \(names.joined(separator: ", "))")
        case (.badge, .integer(let number)):
            (0...99).contains(number) ? nil : JPushFlaw(1003, "a badge is from 0 to 99")
        case (.badge, .string(let text)):
            text.wholeMatch(of: /([+-]?[0-9]{1,2})?/) != nil
                ? nil : JPushFlaw(1003, "a badge is N, +N or -N, with N from 0 to 99")
        case (.list(let shape), .array(let values)):
            values.enumerated().lazy.compactMap { index, value in shape.flaw(in: value)?.below("\(index)") }.first
        case (.anyObject, .object): Self.repetition(in: value)
        case (.either(let first, let second), _):
            second.isOfKind(value) ? second.flaw(in: value) : first.flaw(in: value)
        case (.object(let shapes), .object(let members)): Self.flaw(in: members, shapes)
        default: JPushFlaw(1003, "it should be \(words)")
        }
    }

    /// Whether a value is of the kind that a shape describes, whatever is in it.
    private func isOfKind(_ value: JSONValue) -> Bool {
        switch (self, value) {
        case (.text, .string), (.shortText, .string), (.choice, .string), (.list, .array), (.anyObject, .object),
            (.object, .object),
            (.number, .integer), (.null, .null):
            true
        default: false
        }
    }

    private var words: String {
        switch self {
        case .text, .shortText, .choice, .badge: "a text"
        case .flag: "true or false"
        case .number, .nonZero: "a whole number"
        case .list: "a list"
        case .null: "null"
        case .anyObject, .object: "an object"
        case .either(let first, let second): "\(first.words) or \(second.words)"
        }
    }

    private static func flaw(in members: [JSONMember], _ shapes: [String: JPushShape]) -> JPushFlaw? {
        for (index, member) in members.enumerated() {
            if members[..<index].contains(where: { $0.name == member.name }) {
                return JPushFlaw(1009, "\(member.name) occurs twice")
            }
            guard let shape = shapes[member.name] else { return JPushFlaw(1009, "\(member.name) is unknown") }
            if let flaw = shape.flaw(in: member.value) { return flaw.below(member.name) }
        }
        return nil
    }

    /// A name that occurs twice in an object, at any depth.
    private static func repetition(in value: JSONValue) -> JPushFlaw? {
        switch value {
        case .array(let values): return values.lazy.compactMap { repetition(in: $0) }.first
        case .object(let members):
            var seen: Set<String> = []
            if let repeated = members.first(where: { !seen.insert($0.name).inserted }) {
                return JPushFlaw(1009, "\(repeated.name) occurs twice")
            }
            return members.lazy.compactMap { repetition(in: $0.value) }.first
        default: return nil
        }
    }
}
